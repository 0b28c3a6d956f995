"""SOFTMAX jobs for the benches, and their definition row by row."""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from kiwicha.contract.engine import (
    INPUT_LANES,
    TABLE_ENTRIES,
    TABLE_ENTRY_BYTES,
    EngineJob,
    JobFlag,
    JobKind,
    outputs_of,
)
from kiwicha.kernels.log_softmax import log_softmax_rows
from kiwicha.kernels.softmax import softmax_rows
from kiwicha.numerics.logarithm import MAX_DISTANCE

__all__ = ["Softmax", "distances", "exponentials", "random_softmax", "softmax_job"]

Bytes = NDArray[np.uint8]
_LARGEST = 2**31 - 1


def exponentials(factor: float) -> NDArray[np.int32]:
    """Return the exponential of each difference times a negative factor, int32 [256] in Q0.31."""
    numbers = [round(math.exp(-factor * k) * 2**31) for k in range(TABLE_ENTRIES)]
    return np.minimum(numbers, _LARGEST).astype(np.int32)


def distances(factor: float) -> NDArray[np.int32]:
    """Return each difference times a factor, 16 at most, int32 [256] in Q5.26."""
    numbers = [min(round(factor * k * 2**26), MAX_DISTANCE) for k in range(TABLE_ENTRIES)]
    return np.array(numbers, np.int32)


@dataclass(frozen=True)
class Softmax:
    """Rows and where they are.

    Parameters
    ----------
    rows, depth : int
        Rows, and elements of each.
    pitches : (int, int)
        From row to row, of the input and of the output.
    table : int32 [256]
        Exponentials.
    zero_point : int
        Of the output.
    distances : int32 [256], optional
        Distances from the maximum, for logarithms.
    """

    rows: int
    depth: int
    pitches: tuple[int, int]
    table: NDArray[np.int32]
    zero_point: int = -128
    distances: NDArray[np.int32] | None = None

    @property
    def sizes(self) -> list[int]:
        """Bytes from the first to the last one of the input and of the output."""
        return [(self.rows - 1) * pitch + self.depth for pitch in self.pitches]

    def apply(self, memory: Bytes, source: int, target: int) -> None:
        """Change memory as the job does, row by row."""
        for row in range(self.rows):
            first, last = (
                start + row * pitch
                for start, pitch in zip((source, target), self.pitches, strict=True)
            )
            x = memory[first : first + self.depth].view(np.int8)[None]
            if self.distances is None:
                values = softmax_rows(x, self.table, self.zero_point)
            else:
                values = log_softmax_rows(x, self.table, self.distances, self.zero_point)
            memory[last : last + self.depth] = values[0].view(np.uint8)


def softmax_job(softmax: Softmax, source: int, target: int, macs: int) -> EngineJob:
    """Return the descriptor; its stream is left to the caller."""
    fields = {name: 0 for name, _, _ in EngineJob.layout()} | {
        "kind": JobKind.SOFTMAX,
        "flags": JobFlag(0) if softmax.distances is None else JobFlag.LOGARITHMS,
        "interval": 1,
        "groups": 1,
        "group_words": TABLE_ENTRIES * TABLE_ENTRY_BYTES // (INPUT_LANES * outputs_of(macs)),
        "first_address": source,
        "output_address": target,
        "output_rows": softmax.rows,
        "segment_words": softmax.depth,
        "row_step": softmax.pitches[0],
        "output_row_step": softmax.pitches[1],
        "output_zero_point": softmax.zero_point,
    }
    return EngineJob(**fields)


def random_softmax(rng: np.random.Generator, most_bytes: int) -> Softmax:
    """Return some rows, with up to so many bytes of input and of output."""
    depth = int(rng.choice((2, 3, 4, 7, 15, 16, 17, 33, 91, int(rng.integers(2, most_bytes)))))
    gaps = [int(rng.choice((0, 0, 1, 5, 16))) for _ in range(2)]
    pitch = depth + max(gaps)
    rows = int(rng.integers(1, min(max(most_bytes // pitch, 1), 40) + 1))
    factor = float(rng.choice((0.0, 0.001, 0.02, 0.1, 0.5)))
    has_logarithms = bool(rng.integers(2))
    return Softmax(
        rows,
        depth,
        (depth + gaps[0], depth + gaps[1]),
        exponentials(factor),
        int(rng.choice((127, -1) if has_logarithms else (-128, 0))),
        distances(factor) if has_logarithms else None,
    )
