"""Words that have bytes of two kernel rows."""

from amaranth import Const, Module, Mux, Signal
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from kiwicha.contract.engine import CARRIED_LANES, INPUT_LANES, JobFlag
from kiwicha.gateware.engine.addressing.interfaces import POSITION
from kiwicha.gateware.engine.descriptors import JOB

__all__ = ["Gathering"]

_PLACE_BITS = (INPUT_LANES - 1).bit_length()


class Gathering(wiring.Component):
    """How the segments of a window follow each other in words, for a `ConvAddressGenerator`.

    In GATHERED jobs a segment begins in the lane in which the one before it ends. Its reads begin
    as many bytes ahead of it, and the lanes up to there are carried from the read before, which has
    them behind its word. A segment has a word more than its whole ones if it fills one with these;
    the last one of a window always has, for what is left. In other jobs all segments begin in lane
    0.

    Parameters
    ----------
    has_gathered : bool
        There are GATHERED jobs.

    Members
    -------
    job : ``In(JOB)``
        Stable from two cycles before the first ``restart`` on.
    restart : ``In(1)``
        The next word is the first one of a window.
    issues : ``In(1)``
        A word is issued.
    is_last_word : ``In(1)``
        It is the last whole one of a segment, or the one behind that.
    is_last_row : ``In(1)``
        It is of the last kernel row.
    ends_segment : ``Out(1)``
        It ends a segment. Combinational.
    is_gathered : ``Out(1)``
        The job is GATHERED.
    segment_step : ``Out(POSITION)``
        From the first read of a segment to that of the next one.
    carried : ``Out(range(CARRIED_LANES + 1))``
        Lanes of the word that are carried from the word before.
    """

    def __init__(self, *, has_gathered: bool) -> None:
        self.has_gathered = has_gathered
        super().__init__({
            "job": In(JOB),
            "restart": In(1),
            "issues": In(1),
            "is_last_word": In(1),
            "is_last_row": In(1),
            "ends_segment": Out(1),
            "is_gathered": Out(1),
            "segment_step": Out(POSITION),
            "carried": Out(range(CARRIED_LANES + 1)),
        })

    def elaborate(self, platform: object) -> Module:
        """Build the lane in which a segment begins, and what follows from it."""
        m = Module()
        step = self.job.segment_step
        if not self.has_gathered:
            m.d.comb += [self.ends_segment.eq(self.is_last_word), self.segment_step.eq(step)]
            return m
        is_gathered = Signal()
        place = Signal(_PLACE_BITS, reset_less=True)
        carried = Signal(_PLACE_BITS, reset_less=True)
        is_behind = Signal(reset_less=True)
        fills_word = Signal()
        following = Signal(_PLACE_BITS)
        m.d.sync += is_gathered.eq((self.job.flags & JobFlag.GATHERED).any())
        m.d.comb += [
            # What a segment's last word lacks, the lanes before the segment can give.
            fills_word.eq(place >= step[:_PLACE_BITS]),
            following.eq(place - step[:_PLACE_BITS]),
            self.is_gathered.eq(is_gathered),
            self.carried.eq(carried),
            self.ends_segment.eq(
                self.is_last_word & (is_behind | ~(is_gathered & (fills_word | self.is_last_row)))
            ),
            # A word less what it lacks, backwards; or only that, if it was filled.
            self.segment_step.eq(
                step | Mux(is_gathered & ~fills_word, Const(-INPUT_LANES, POSITION), 0)
            ),
        ]
        with m.If(self.issues):
            m.d.sync += [is_behind.eq(self.is_last_word & ~self.ends_segment), carried.eq(0)]
            with m.If(self.ends_segment & is_gathered):
                m.d.sync += [place.eq(following), carried.eq(following)]
                with m.If(self.is_last_row):
                    m.d.sync += [place.eq(0), carried.eq(0)]
        with m.If(self.restart):
            m.d.sync += [is_behind.eq(0), place.eq(0), carried.eq(0)]
        return m
