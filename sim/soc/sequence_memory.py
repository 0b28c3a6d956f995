"""The memory of a sequence: inputs of several inferences in a row, and the outputs of all of them.

Each inference begins with what the one before has left in the states of the model.
"""

import struct
from collections.abc import Sequence
from dataclasses import dataclass

from kiwicha.errors import UsageError
from kiwicha.program.image import Program
from kiwicha.sim.soc.run_memory import (
    RunMemory,
    cycle_words,
    sets_memory,
    stored_outputs,
)

__all__ = ["SequenceResult", "sequence_memory", "sequence_result"]

_WORD_BYTES = 4


@dataclass(frozen=True)
class SequenceResult:
    """What a sequence left in DRAM.

    Parameters
    ----------
    outputs : tuple of tuple of bytes
        For every inference, its outputs in the Program's order.
    cycles : tuple of int
        For every inference, the cycles of all its steps.
    """

    outputs: tuple[tuple[bytes, ...], ...]
    cycles: tuple[int, ...]


def sequence_memory(
    program: Program, sets: Sequence[Sequence[bytes]], *, inferences: int
) -> RunMemory:
    """Lay a sequence out in DRAM.

    Parameters
    ----------
    program : Program
        What runs; it must have one place for inputs and outputs.
    sets : sequence of sequence of bytes
        One or more times one input per input of the Program; inferences take them in turn.
    inferences : int
        How many in a row.

    Raises
    ------
    UsageError
        If the Program has a double buffer, or inputs or inferences do not fit it.
    CapacityError
        If the sequence does not fit into DRAM.
    """
    if program.shift_bytes:
        raise UsageError("a sequence must be of a Program without a double buffer")
    return sets_memory(program, sets, inferences, sum(cycle_words(program)) * _WORD_BYTES)


def sequence_result(program: Program, dumps: Sequence[bytes]) -> SequenceResult:
    """Return what a sequence left in the ranges `RunMemory.dumps`."""
    _, table, raw = dumps
    words = struct.unpack(f"<{len(table) // _WORD_BYTES}I", table)
    firsts, at = [], 0
    for count in cycle_words(program):
        firsts.append(at)
        at += count
    return SequenceResult(
        stored_outputs(program, raw),
        tuple(sum(words[start + k] for k in firsts) for start in range(0, len(words), at)),
    )
