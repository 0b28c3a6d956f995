"""The memory of a stream: sets of inputs in DRAM, and outputs and ends of all its inferences.

While the engine computes an inference, the CPU copies the outputs of the one before out of the
arena, and the inputs of the next into it.
"""

import struct
from collections.abc import Sequence
from dataclasses import dataclass

from kiwicha.errors import UsageError
from kiwicha.program.image import Program
from kiwicha.sim.soc.run_memory import RunMemory, sets_memory, stored_outputs

__all__ = ["StreamResult", "stream_memory", "stream_result"]

_WORD_BYTES = 4
_LEAST_INFERENCES = 3


@dataclass(frozen=True)
class StreamResult:
    """What a stream left in DRAM.

    Parameters
    ----------
    outputs : tuple of tuple of bytes
        For every inference, its outputs in the Program's order.
    ends : tuple of int
        The cycle in which each inference had ended, and the CPU could start the next one.
    """

    outputs: tuple[tuple[bytes, ...], ...]
    ends: tuple[int, ...]

    @property
    def period(self) -> int:
        """Cycles from one inference to the next: the mean of the last two, one in each place.

        Raises
        ------
        UsageError
            If the stream had less than three inferences: the first one only warms the caches.
        """
        if len(self.ends) < _LEAST_INFERENCES:
            raise UsageError(
                f"a stream must have {_LEAST_INFERENCES} or more inferences to have a period, "
                f"not {len(self.ends)}"
            )
        return -(-(self.ends[-1] - self.ends[-3]) // 2)


def stream_memory(
    program: Program, sets: Sequence[Sequence[bytes]], *, inferences: int
) -> RunMemory:
    """Lay a stream out in DRAM.

    Parameters
    ----------
    program : Program
        What runs; it must have a double buffer and an engine.
    sets : sequence of sequence of bytes
        One or more times one input per input of the Program; inferences take them in turn.
    inferences : int
        How many in a row.

    Raises
    ------
    UsageError
        If the Program has no double buffer or engine, or inputs or inferences do not fit it.
    CapacityError
        If the stream does not fit into DRAM.
    """
    if not program.shift_bytes or not program.config.engine_macs:
        raise UsageError(
            "a stream must be of a Program with a double buffer for an engine; compile the model "
            "with --double-buffer"
        )
    return sets_memory(program, sets, inferences, _WORD_BYTES)


def stream_result(program: Program, dumps: Sequence[bytes]) -> StreamResult:
    """Return what a stream left in the ranges `RunMemory.dumps`."""
    _, ends, raw = dumps
    return StreamResult(
        stored_outputs(program, raw), struct.unpack(f"<{len(ends) // _WORD_BYTES}I", ends)
    )
