"""What the depthwise unit has to know of the array."""

from amaranth import Module, Value
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from kiwicha.contract.engine import JobFlag, JobKind
from kiwicha.contract.latencies import SCRATCHPAD_READ_CYCLES
from kiwicha.gateware.delay import delayed
from kiwicha.gateware.engine.addressing.interfaces import OPERATION
from kiwicha.gateware.engine.descriptors import JOB

__all__ = ["ArrayWatch"]


class ArrayWatch(wiring.Component):
    """What a job of the array needs of what it shares, and when rows of it are written.

    Parameters
    ----------
    drain_cycles : int
        From an operation until its result is in the scratchpad.
    has_softmax : bool
        There are SOFTMAX jobs.

    Members
    -------
    job : ``In(JOB)``
    is_busy, done : ``In(1)``
        As of the `DatapathSignature`.
    operation, valid : ``In``
        What the array does in this cycle, if anything.
    reads : ``Out(1)``
        The scratchpad is read in this cycle.
    keeps_upper : ``Out(1)``
        What the scratchpad gives is that of an operation, whose upper bytes are for the next one.
    takes_lines : ``Out(1)``
        A job that writes without the requantizer is under way.
    needs_lines : ``Out(1)``
        The job is one of those; before it begins, too.
    is_wide : ``Out(1)``
        A job in the wide mode is under way.
    ends_row : ``Out(1)``
        A row is written, or what counts as one.
    """

    def __init__(self, *, drain_cycles: int, has_softmax: bool) -> None:
        self.drain_cycles = drain_cycles
        self.has_softmax = has_softmax
        super().__init__({
            "job": In(JOB),
            "is_busy": In(1),
            "done": In(1),
            "operation": In(OPERATION),
            "valid": In(1),
            "reads": Out(1),
            "keeps_upper": Out(1),
            "takes_lines": Out(1),
            "needs_lines": Out(1),
            "is_wide": Out(1),
            "ends_row": Out(1),
        })

    def elaborate(self, platform: object) -> Module:
        """Build the facts from job and operation."""
        m = Module()
        operation = self.operation
        reads_own = self.valid & ~operation.is_upper
        has_no_rows = self.needs_lines | self._is(JobKind.ADD, JobKind.TABLE, JobKind.MUL)
        ends_row = self.valid & operation.last & operation.ends_row
        is_written = delayed(m, ends_row, self.drain_cycles, "ends_row", is_reset=True)
        others = (JobKind.MOVE, JobKind.SOFTMAX) if self.has_softmax else (JobKind.MOVE,)
        m.d.comb += [
            self.needs_lines.eq(self._is(*others)),
            self.takes_lines.eq(self.needs_lines & self.is_busy),
            self.reads.eq(reads_own | self.takes_lines),
            self.keeps_upper.eq(delayed(m, reads_own, SCRATCHPAD_READ_CYCLES, "keeps_upper")),
            self.is_wide.eq((self.job.flags & JobFlag.WIDE).any() & self.is_busy),
            self.ends_row.eq(is_written | (self.done & has_no_rows)),
        ]
        return m

    def _is(self, *kinds: JobKind) -> Value:
        """Return whether the job is of one of these kinds."""
        chosen = self.job.kind == kinds[0]
        for kind in kinds[1:]:
            chosen |= self.job.kind == kind
        return chosen
