"""The order in which the lanes of a decoder get chunks."""

from amaranth import Module, Mux, Signal
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

__all__ = ["ChunkTurns"]


class ChunkTurns(wiring.Component):
    """Lanes that ask in one step are served in their order, before those that ask in later steps.

    A second step may ask while the first is being served.

    Parameters
    ----------
    lanes : int
        Their number.

    Members
    -------
    ask : ``In(1)``
        All lanes ask. Only while none is waiting.
    asking : ``In(lanes)``
        Those that ask in this cycle's step.
    is_valid : ``In(1)``
        There is a chunk.
    is_ready : ``Out(1)``
        A lane waits for it.
    load : ``Out(lanes)``
        The lane that takes it.
    waiting : ``Out(lanes)``
        Lanes that wait for a chunk.
    is_over : ``In(1)``
        No chunk comes any more: steps may ask, and wait for nothing that they do not need.
    drop : ``In(1)``
        Nothing waits any more. Only with ``is_over``, without ``asking``.
    may_step : ``Out(1)``
        A step may ask.
    """

    def __init__(self, *, lanes: int) -> None:
        self.lanes = lanes
        super().__init__({
            "ask": In(1),
            "asking": In(lanes),
            "is_valid": In(1),
            "is_ready": Out(1),
            "load": Out(lanes),
            "waiting": Out(lanes),
            "is_over": In(1),
            "drop": In(1),
            "may_step": Out(1),
        })

    def elaborate(self, platform: object) -> Module:
        """Build two sets of those that wait: of an earlier and of a later step."""
        m = Module()
        earlier, later, left = (Signal(self.lanes, name=n) for n in ("earlier", "later", "left"))
        loads = Signal()
        m.d.comb += [
            self.is_ready.eq(earlier.any()),
            self.waiting.eq(earlier | later),
            loads.eq(self.is_valid & self.is_ready),
            left.eq(Mux(loads, earlier & (earlier - 1), earlier)),
            self.may_step.eq(~(left.any() & later.any()) | self.is_over),
        ]
        for number in range(self.lanes):
            m.d.comb += self.load[number].eq(loads & earlier[number] & ~earlier[:number].any())
        with m.If(left.any()):
            m.d.sync += [earlier.eq(left), later.eq(later | self.asking)]
        with m.Elif(later.any()):
            m.d.sync += [earlier.eq(later), later.eq(self.asking)]
        with m.Else():
            m.d.sync += earlier.eq(self.asking | self.ask.replicate(self.lanes))
        with m.If(self.drop):
            m.d.sync += [earlier.eq(0), later.eq(0)]
        return m
