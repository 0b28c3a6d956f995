"""LOG_SOFTMAX over the last dimension.

Notes
-----
Ref: tensorflow/lite/kernels/internal/reference/log_softmax.h in tflite-micro.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from kiwicha.contract.layout import Ref, Struct, i32, ref, u32
from kiwicha.contract.program import Kernel
from kiwicha.kernels.kernel import Cost, Declaration, Memory, Work
from kiwicha.numerics.logarithm import natural_logarithm
from kiwicha.numerics.requantization import rounding_divide_by_pot

__all__ = ["KERNELS", "LogSoftmax", "log_softmax_rows"]

_ACCUMULATOR_BITS = 12
"""Integer bits of a sum of exponentials."""
_STEP_BITS = 22
"""Of numbers in Q5.26 behind a step of the output, 1/16."""
_LEAST = -255
_WORDS_FROM = 64
"""From so many entries on, the largest one of a row is found in words."""
_TABLE_FROM = 704
"""From so many entries on, a row has a table of outputs."""
_TABLE_OUTPUTS = 230
"""As many outputs of such a row take as long as its table."""
_CACHE_LINES = 60
"""Lines that both tables fill: so many outputs may find theirs outside the cache."""


@dataclass(frozen=True)
class LogSoftmax(Struct):
    """LOG_SOFTMAX over the last dimension: int8 in, out bytes with scale 1/16."""

    input: Ref = ref("int8 [rows, depth]")
    output: Ref = ref("[rows, depth]: int8 with zero point 127, or uint8 with zero point 255")
    exponentials: Ref = ref("int32 [256], Q0.31: exp(-scale * d), 0 where TFLite drops it")
    distances: Ref = ref("int32 [256], Q5.26: scale * d, at most 16, or 16 where TFLite drops it")
    rows: int = u32("product of the other dimensions")
    depth: int = u32("size of the last dimension")
    output_offset: int = i32("zero point of the output, 127 or 255")


def _reference(memory: Memory, p: LogSoftmax) -> NDArray[np.int8]:
    x = memory.load(p.input, np.int8, (p.rows, p.depth))
    exponentials, distances = (
        memory.load(ref, np.int32, (256,)) for ref in (p.exponentials, p.distances)
    )
    return log_softmax_rows(x, exponentials, distances, p.output_offset)


def log_softmax_rows(
    x: NDArray[np.int8],
    exponentials: NDArray[np.int32] | NDArray[np.int64],
    distances: NDArray[np.int32] | NDArray[np.int64],
    output_offset: int,
) -> NDArray[np.int8]:
    """Return the bytes of the logarithms of each row's probabilities.

    Parameters
    ----------
    x : int8 [rows, depth]
        Rows.
    exponentials, distances : int [256]
        As in `LogSoftmax`.
    output_offset : int
        Zero point of the output, 127 or 255.
    """
    numbers = x.astype(np.int64)
    differences = numbers.max(axis=1, keepdims=True) - numbers
    terms = rounding_divide_by_pot(exponentials, _ACCUMULATOR_BITS)[differences]
    logarithms = np.array([[natural_logarithm(int(total))] for total in terms.sum(axis=1)])
    below = distances.astype(np.int64)[differences] + logarithms
    steps = rounding_divide_by_pot(-below, _STEP_BITS)
    return (steps.clip(_LEAST, 0) + output_offset).astype(np.uint8).view(np.int8)


def _work(p: LogSoftmax) -> Work:
    if p.depth >= _TABLE_FROM:
        return Work(0, 0, p.rows * (p.depth + _TABLE_OUTPUTS))
    outputs = p.rows * (p.depth - max(p.depth - _WORDS_FROM, 0) // 9)
    return Work(outputs, p.rows, min(p.rows * p.depth, _CACHE_LINES))


KERNELS = (
    Declaration(
        kernel=Kernel.LOG_SOFTMAX,
        params=LogSoftmax,
        reference=_reference,
        tables=("exponentials", "distances"),
        # Measured for rows of 2 to 4,095 entries.
        cost=Cost(step=750.0, output=31.1, unit=332.0, extra=21.1),
        work=_work,
    ),
)
