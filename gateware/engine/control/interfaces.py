"""What passes between the parts of the controller."""

from amaranth.lib import data, wiring
from amaranth.lib.wiring import In, Out

from kiwicha.contract.engine import MAX_JOBS, EngineError
from kiwicha.gateware.engine.memory.interfaces import OFFSET_BITS

__all__ = [
    "ERRORS",
    "ERROR_BITS",
    "LIST",
    "PROGRESS",
    "STATUS",
    "CountersSignature",
    "SequencerSignature",
]

ERROR_BITS = max(EngineError).bit_length()
LIST = data.StructLayout({"offset": OFFSET_BITS, "jobs": 16, "transfers": 16})
"""A list in the Program; its offset in words."""
STATUS = data.StructLayout({"number": 16, "error": ERROR_BITS})
"""Why a list ended, and in which job; or with `TRANSFER_ERROR` in which transfer."""
PROGRESS = data.StructLayout({"jobs": 16, "transfers": 16})
"""How many are complete."""
ERRORS = data.StructLayout({
    "outside_list": 1,
    "outside_weights": 1,
    "outside_transfer": 1,
    "bad_stream": 1,
    "job": ERROR_BITS,
    "transfer": ERROR_BITS,
})
"""What the others found wrong; they keep saying so."""


class SequencerSignature(wiring.Signature):
    """Start and end of lists, as the unit for instructions sees them.

    Parameters
    ----------
    is_preemptible : bool
        Lists can stop between jobs and go on later.

    Members
    -------
    start : ``Out(1)``
        Begin with ``list``; only while not ``is_running``.
    list : ``Out(LIST)``
        Stable while ``is_running``.
    watchdog_cycles : ``Out(32)``
        Cycles that a list may take; after a reset 2**32 - 1.
    is_running : ``In(1)``
        From the cycle after ``start`` on.
    status : ``In(STATUS)``
        How the last list ended.
    pause : ``Out(1)``
        Only if ``is_preemptible``: stop before the next job. Of no account between lists.
    behind : ``Out(PROGRESS)``
        Likewise: where the list of ``start`` begins.
    progress : ``In(PROGRESS)``
        Likewise: how far it has come.
    is_paused : ``In(1)``
        Likewise: the last list has stopped between jobs, and ``status`` has the number of the next.
    """

    MOST_CYCLES = (1 << 32) - 1

    def __init__(self, *, is_preemptible: bool = False) -> None:
        pauses = {
            "pause": Out(1),
            "behind": Out(PROGRESS),
            "progress": In(PROGRESS),
            "is_paused": In(1),
        }
        super().__init__({
            **(pauses if is_preemptible else {}),
            "start": Out(1),
            "list": Out(LIST),
            "watchdog_cycles": Out(32, init=self.MOST_CYCLES),
            "is_running": In(1),
            "status": In(STATUS),
        })


class CountersSignature(wiring.Signature):
    """Reads of the `Counters`, as the unit for instructions sees them.

    Members
    -------
    index : ``Out(4)``
        Counter to read; 0 answers if there is none.
    job : ``Out(range(MAX_JOBS))``
        Job whose end is read.
    reads_job : ``Out(1)``
        The end of a job, not a counter.
    count : ``In(32)``
        What was read.
    """

    def __init__(self) -> None:
        super().__init__({
            "index": Out(4),
            "job": Out(range(MAX_JOBS)),
            "reads_job": Out(1),
            "count": In(32),
        })
