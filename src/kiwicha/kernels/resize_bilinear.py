"""RESIZE_BILINEAR: each output lies between two rows and two columns.

Notes
-----
Ref: tensorflow/lite/kernels/internal/reference/resize_bilinear.h: ResizeBilinearInteger for int8;
for uint8 ResizeBilinear, in float32, here with numpy's and in the C kernel with integers.
"""

import dataclasses
import enum
import itertools
from collections import Counter
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kiwicha.contract.layout import Ref, Struct, i32, ref, u32
from kiwicha.contract.program import Kernel
from kiwicha.errors import ProgramError
from kiwicha.kernels.kernel import Call, Cost, Declaration, Memory, Work

__all__ = ["KERNELS", "Blend", "ResizeBilinear", "scratch_bytes"]


class Blend(enum.IntEnum):
    """How values are weighted."""

    FIXED = 0
    """Weights are in 1/1024, -1024 to 2048."""
    FLOAT = 1
    """Weights are float32 numbers, and so are all products and sums."""
    PACKED = 2
    """The products of a row's and a column's weights are in 1/256, and none of them is negative."""


@dataclass(frozen=True)
class ResizeBilinear(Struct):
    """RESIZE_BILINEAR: each output lies between two rows and two columns.

    A row or column of the tables: first and second pixel of the input, and their weights, in which
    `Blend` says. Half goes up above 0, down elsewhere; in float32 always up. A weight in float32 is
    ``m << 6 | e`` for ``m * 2**(-23 - e)``; ``m`` has 24 bits or is 0, and no product has bits
    behind the 52nd binary place. Packed weights are whole: a row's add up to 2, 4, ... 128, a
    column's to 256 over that.
    """

    input: Ref = ref("int8 [batches, input_height, input_width, channels]")
    output: Ref = ref("int8 [batches, output_height, output_width, channels]")
    rows: Ref = ref("int32 [output_height, 4], constant")
    columns: Ref = ref("int32 [output_width, 4], constant")
    batches: int = u32("N")
    input_height: int = u32("rows")
    input_width: int = u32("columns")
    channels: int = u32("channels")
    output_height: int = u32("rows")
    output_width: int = u32("columns")
    offset: int = i32("0 to 128, added to all values before they are weighted")
    blend: int = u32("Blend")
    scratch: Ref = ref("working memory for two columns")


_ONE_BITS = 10
_PACKED_BITS = 8
_CYCLES = {
    (Blend.PACKED, False): (0, 7.6, 52.0, 14.3, 75.0),
    (Blend.PACKED, True): (400, 10.8, 70.0, 13.9, 120.0),
    (Blend.FIXED, False): (1300, 16.2, 63.5, 11.3, 20.0),
    (Blend.FIXED, True): (1300, 16.2, 63.5, 11.3, 20.0),
    (Blend.FLOAT, False): (250, 26.1, 168.0, 42.6, 0.0),
    (Blend.FLOAT, True): (250, 26.1, 168.0, 42.6, 0.0),
}
"""By blend and whether its offset is 0: what a step takes more than others, an output, its pixel,
an element blended of two rows, and a pixel of either kind whose channels are not in fours."""
_HALF_CYCLES = 333.0
"""What an output takes more that may lie halfway between two bytes, so that float32 decides."""
_EXPONENT_BITS = 6
_SIGNIFICAND_BITS = 23
"""Behind the point."""


@dataclass(frozen=True, eq=False)
class _Places:
    """Pixels and weights along one dimension, each [outputs]."""

    pixels: tuple[NDArray[np.int64], NDArray[np.int64]]
    weights: tuple[NDArray[np.int64], NDArray[np.int64]]


def _reference(memory: Memory, p: ResizeBilinear) -> NDArray[np.int8]:
    shape = (p.batches, p.input_height, p.input_width, p.channels)
    x = memory.load(p.input, np.int8, shape).astype(np.int64) + p.offset
    rows = _places(memory, p.rows, p.output_height, p.input_height)
    columns = _places(memory, p.columns, p.output_width, p.input_width)
    if p.blend == Blend.FLOAT:
        single = np.float32
        sums = _sum(x.astype(single), rows, columns, _floats) + single(0.5)
        result = np.floor(sums).astype(np.int64)
    else:
        bits = _PACKED_BITS if p.blend == Blend.PACKED else 2 * _ONE_BITS
        sums = _sum(x, rows, columns, lambda weights: weights)
        # Half goes up above 0 and down elsewhere; the division is C's.
        half = np.where(sums > 0, 1, -1) << (bits - 1)
        result = np.sign(sums + half) * (np.abs(sums + half) >> bits)
    output: NDArray[np.int8] = (result - p.offset).astype(np.int8)
    return output


def _sum(x: NDArray[Any], rows: _Places, columns: _Places, decode: Any) -> NDArray[Any]:
    """Return the sum of products in the order in which float32 numbers are added."""
    total = np.zeros((), x.dtype)
    for column, across in zip(columns.pixels, columns.weights, strict=True):
        for row, down in zip(rows.pixels, rows.weights, strict=True):
            pixels = x[:, row][:, :, column]
            total = total + pixels * decode(down)[:, None, None] * decode(across)[:, None]
    return total


def _floats(weights: NDArray[np.int64]) -> NDArray[np.float32]:
    exponents = weights & ((1 << _EXPONENT_BITS) - 1)
    numbers = np.ldexp(
        (weights >> _EXPONENT_BITS).astype(np.float64), -_SIGNIFICAND_BITS - exponents
    )
    result: NDArray[np.float32] = numbers.astype(np.float32)
    return result


def _places(memory: Memory, table: Ref, outputs: int, inputs: int) -> _Places:
    first, second, *weights = memory.load(table, np.int32, (outputs, 4)).astype(np.int64).T
    pixels = np.stack([first, second])
    if not ((0 <= pixels) & (pixels < inputs)).all():
        raise ProgramError(f"pixels must be 0 to {inputs - 1}, not {pixels.T.tolist()}")
    return _Places((first, second), (weights[0], weights[1]))


def _work(p: ResizeBilinear) -> Work:
    step, output, pixel, blended, odd_pixel = _CYCLES[Blend(p.blend), p.offset == 0]
    rows = p.batches * p.output_height
    pixels = rows * p.output_width
    # Each column once, and of those that no output lies beside none.
    columns = rows * min(p.input_width, 2 * p.output_width)
    cycles = step + output * pixels * p.channels + pixel * pixels + blended * columns * p.channels
    if p.channels % 4:
        cycles += odd_pixel * (pixels + columns)
    if p.blend == Blend.FLOAT:
        cycles += _HALF_CYCLES * _halves(p) * p.batches * p.channels
    return Work(round(cycles))


def _halves(p: ResizeBilinear) -> float:
    """Return of how many outputs of a channel float32 decides, for random bytes.

    A sum of products of weights in 1/m and 1/n is any multiple of 1/(m n), equally likely. Which
    weights there are is in tables that are not known here: those of half_pixel_centers count.
    """
    rows, columns = (
        _denominators(*sizes)
        for sizes in ((p.input_height, p.output_height), (p.input_width, p.output_width))
    )
    if all(n & (n - 1) == 0 for n in (*rows, *columns)):
        # Nothing is rounded between powers of two.
        return 0.0
    return sum(
        a * b / (m * n)
        for (m, a), (n, b) in itertools.product(rows.items(), columns.items())
        if m * n % 2 == 0
    )


def _denominators(inputs: int, outputs: int) -> Counter[int]:
    """Return the denominators of the places of outputs, and how many have each."""
    return Counter(
        Fraction((2 * place + 1) * inputs - outputs, 2 * outputs).denominator
        for place in range(outputs)
    )


def scratch_bytes(channels: int) -> int:
    """Return the working memory for images of so many channels: two columns of words."""
    return 2 * 4 * (channels // 4 * 4 + 4)


def _with_scratch(call: Call) -> Call:
    return dataclasses.replace(call, scratch_bytes=scratch_bytes(call.params.channels))


KERNELS = (
    Declaration(
        kernel=Kernel.RESIZE_BILINEAR,
        params=ResizeBilinear,
        reference=_reference,
        # Work is cycles: each blend has its own.
        cost=Cost(step=2350.0, output=1.0),
        work=_work,
        prepare=_with_scratch,
    ),
)
