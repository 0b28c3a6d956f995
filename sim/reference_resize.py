"""RESIZE_BILINEAR in numpy, bit for bit what the C kernel computes.

Notes
-----
Ref: tensorflow/lite/kernels/internal/reference/resize_bilinear.h, ResizeBilinearInteger.
"""

import numpy as np
from numpy.typing import NDArray

from kiwicha import isa
from kiwicha.errors import ProgramError
from kiwicha.layout import Ref
from kiwicha.sim.reference_memory import Memory

__all__ = ["resize_bilinear"]

_ONE = 1 << 10
_FRACTIONS = 20


def resize_bilinear(memory: Memory, p: isa.ResizeBilinear) -> NDArray[np.int8]:
    """Return an image of another size."""
    shape = (p.batches, p.input_height, p.input_width, p.channels)
    x = memory.load(p.input, np.int8, shape).astype(np.int64)
    top, bottom, down = _places(memory, p.rows, p.output_height, p.input_height)
    left, right, across = _places(memory, p.columns, p.output_width, p.input_width)
    down = down[:, None, None]
    across = across[:, None]
    rows = x[:, top] * (_ONE - down) + x[:, bottom] * down
    sums = rows[:, :, left] * (_ONE - across) + rows[:, :, right] * across
    # Half goes up above 0 and down elsewhere; the division is C's.
    half = np.where(sums > 0, 1, -1) << (_FRACTIONS - 1)
    rounded = np.sign(sums + half) * (np.abs(sums + half) >> _FRACTIONS)
    output: NDArray[np.int8] = rounded.astype(np.int8)
    return output


def _places(
    memory: Memory, table: Ref, outputs: int, inputs: int
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """Return first pixels, second pixels and distances along one dimension."""
    places = memory.load(table, np.int32, (outputs, 3)).astype(np.int64)
    first, second, distances = places.T
    if not ((0 <= places[:, :2]) & (places[:, :2] < inputs)).all():
        raise ProgramError(f"pixels must be 0 to {inputs - 1}, not {places[:, :2].tolist()}")
    return first, second, distances
