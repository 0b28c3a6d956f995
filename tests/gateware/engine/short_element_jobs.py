"""SHORT_ELEMENTS jobs for the benches, and their definition."""

import dataclasses
from dataclasses import dataclass
from typing import Any

import numpy as np

from kiwicha.contract.engine import JobFlag, JobKind
from kiwicha.contract.short_elements import (
    ELEMENT_LANES,
    PAIRS,
    EngineShortElements,
    ShortForm,
    ShortOperator,
)
from kiwicha.numerics.short_elements import ElementScales, short_elements
from tests.gateware.engine.works import Bytes, Ints, Work, places

__all__ = ["Elements", "elements_job", "random_elements", "short_element_work"]

_MOST_BEATS = 60


@dataclass(frozen=True)
class Image:
    """How numbers lie: blocks of rows of columns of beats."""

    column_bytes: int
    row_bytes: int
    plane_bytes: int
    size: int


@dataclass(frozen=True)
class Elements:
    """A job on images of int16.

    Parameters
    ----------
    operator : ShortOperator
        What is computed.
    form : ShortForm
        Of all images.
    rows, columns, blocks : int
        Of the output; a block has the numbers of a beat of each pixel.
    kernel, stride : (int, int)
        Of windows.
    pitches : (int, int)
        Bytes from one pixel to the next, of inputs and of the output.
    is_one_pixel : bool
        The second tensor has one.
    scales : ElementScales
        Of numbers and results.
    """

    operator: ShortOperator
    form: ShortForm
    rows: int
    columns: int
    blocks: int
    kernel: tuple[int, int]
    stride: tuple[int, int]
    pitches: tuple[int, int]
    is_one_pixel: bool
    scales: ElementScales

    @property
    def plane_bytes(self) -> int:
        """Bytes of a plane of a pixel."""
        return ELEMENT_LANES * self.blocks

    @property
    def input_shape(self) -> tuple[int, int]:
        """Rows and columns of the first input."""
        counts = (self.rows, self.columns)
        rows, columns = (
            (count - 1) * step + size
            for count, step, size in zip(counts, self.stride, self.kernel, strict=True)
        )
        return rows, columns

    def octets(self, pixels: Ints, block: int, first: int) -> Ints:
        """Return addresses of lower and of upper bytes, [2, pixels, numbers]."""
        if self.form is ShortForm.WHOLE:
            numbers = 2 * (ELEMENT_LANES * block + np.arange(ELEMENT_LANES))
            return first + pixels[:, None] + np.stack([numbers, numbers + 1])[:, None]
        numbers = ELEMENT_LANES * block + np.arange(ELEMENT_LANES)
        return first + pixels[:, None] + np.stack([numbers, numbers + self.plane_bytes])[:, None]

    def apply(self, memory: Bytes, at: tuple[int, int, int]) -> None:
        """Change a memory, whose addresses wrap, as the job does."""
        size = len(memory)

        def numbers(octets: Ints) -> Ints:
            low, high = memory[octets % size].astype(np.int64)
            found: Ints = low + 256 * (high ^ 128) - 32768
            return found

        _, width = self.input_shape
        rows, columns = (axis.reshape(-1) for axis in np.indices((self.rows, self.columns)))
        for block in range(self.blocks):
            window = []
            for row in range(self.kernel[0]):
                for column in range(self.kernel[1]):
                    y, x = rows * self.stride[0] + row, columns * self.stride[1] + column
                    pixels = (y * width + x) * self.pitches[0]
                    window.append(numbers(self.octets(pixels, block, at[0])))
            first = np.stack(window, axis=-1) if self.operator is ShortOperator.MAX else window[0]
            step = 0 if self.is_one_pixel else self.pitches[0]
            pixels = (rows * self.columns + columns) * step
            second = numbers(self.octets(pixels, block, at[1]))
            results = short_elements(self.operator, self.scales, first, second)
            pixels = (rows * self.columns + columns) * self.pitches[1]
            low, high = self.octets(pixels, block, at[2])
            memory[low % size], memory[high % size] = results & 0xFF, results >> 8 & 0xFF


def elements_job(item: Elements, at: tuple[int, int, int]) -> EngineShortElements:
    """Return the job, given where both inputs and the output begin."""
    fields: dict[str, Any] = {name: 0 for name, _, _ in EngineShortElements.layout()}
    is_whole = item.form is ShortForm.WHOLE
    _, width = item.input_shape
    pitch, output_pitch = item.pitches
    column = item.stride[1] * pitch
    second = 0 if item.is_one_pixel else pitch
    fields |= {
        "kind": JobKind.SHORT_ELEMENTS,
        "interval": 1,
        "flags": JobFlag.WIDE | JobFlag.SHORT,
        "groups": 1,
        "operator": item.operator,
        "form": item.form,
        "first_address": at[0],
        "second_address": at[1],
        "output_address": at[2] + (0 if is_whole else item.plane_bytes),
        "row_step": item.stride[0] * width * pitch - (item.columns - 1) * column,
        "second_row_step": second,
        "output_row_step": output_pitch,
        "column_step": column,
        "second_column_step": second,
        "output_column_step": output_pitch,
        "rows": item.rows,
        "columns": item.columns,
        "blocks": item.blocks,
        "upper_step": item.plane_bytes,
        "output_lower_step": -item.plane_bytes % 2**32,
        "kernel_rows": item.kernel[0],
        "kernel_columns": item.kernel[1],
        "kernel_column_step": pitch,
        "kernel_row_step": (width - item.kernel[1] + 1) * pitch,
        "multiplier_1": item.scales.first[0],
        "shift_1": item.scales.first[1],
        "multiplier_2": item.scales.second[0],
        "shift_2": item.scales.second[1],
        "output_multiplier": item.scales.output[0],
        "output_shift": item.scales.output[1],
        "activation_min": item.scales.clamp[0],
        "activation_max": item.scales.clamp[1],
    }
    for name in ("row_step", "second_row_step", "kernel_row_step"):
        fields[name] %= 2**32
    return EngineShortElements(**fields)


def random_elements(rng: np.random.Generator) -> Elements:
    """Return a job of up to some beats, with any scales that it can have."""
    operator = ShortOperator(int(rng.integers(len(ShortOperator))))
    form = ShortForm(int(rng.integers(2)))
    is_window = operator is ShortOperator.MAX
    while True:
        rows, columns, blocks = (int(rng.integers(1, 6)) for _ in range(3))
        if rows * columns * blocks <= _MOST_BEATS:
            break
    kernel, stride = (1, 1), (1, 1)
    if is_window:
        kernel, stride = ((int(rng.integers(1, 4)), int(rng.integers(1, 4))) for _ in range(2))
    whole = 2 * ELEMENT_LANES * blocks
    gaps = [16 * int(rng.integers(2)) for _ in range(2)]
    least, most = sorted(int(rng.integers(-128, 128)) for _ in range(2))
    return Elements(
        operator=operator,
        form=form,
        rows=rows,
        columns=columns,
        blocks=blocks,
        kernel=kernel,
        stride=stride,
        pitches=(whole + gaps[0], whole + gaps[1]),
        is_one_pixel=operator in PAIRS and bool(rng.integers(4) == 0),
        scales=dataclasses.replace(
            random_scales(rng, operator),
            clamp=(-128, 127) if rng.integers(2) else (least, most),
        ),
    )


def random_scales(rng: np.random.Generator, operator: ShortOperator) -> ElementScales:
    """Return scales of an operator: mostly such that results have all sizes."""

    def scale(shifts: list[int]) -> tuple[int, int]:
        if rng.integers(8) == 0:
            return int(rng.choice([0, 1 << 30, 2**31 - 1])), int(rng.choice(shifts))
        return int(rng.integers(1 << 30, 1 << 31)), int(rng.choice(shifts))

    if operator in {ShortOperator.ADD, ShortOperator.SUB}:
        operands = [0, 0, -1, -1, -2, -5, -14, -31]
        output = scale([-13, -14, -15, -12, 1, -31])
        return ElementScales(scale(operands), scale(operands), output)
    if operator is ShortOperator.MUL:
        return ElementScales(output=scale([-14, -15, -16, -13, -1, 2, -31]))
    if operator is ShortOperator.LEAKY_RELU:
        shifts = [0, 1, -1, -3, 5, 15, -31]
        return ElementScales(second=scale(shifts), output=scale(shifts))
    if operator is ShortOperator.MAX:
        return ElementScales()
    # Arguments up to the last point, and behind it.
    return ElementScales(first=(int(2.0 ** rng.uniform(8, 31)), 0))


def short_element_work(rng: np.random.Generator, memory_bytes: int) -> Work:
    """Return a SHORT_ELEMENTS job on images anywhere; some results replace their numbers."""
    while True:
        item = random_elements(rng)
        rows, columns = item.input_shape
        sizes = [
            rows * columns * item.pitches[0],
            (1 if item.is_one_pixel else item.rows * item.columns) * item.pitches[0],
            item.rows * item.columns * item.pitches[1],
        ]
        if sum(sizes) + 64 <= memory_bytes:
            break
    first, second, target = places(rng, sizes, memory_bytes - 16)
    unit = 16 if item.form is ShortForm.WHOLE else 8
    start = target.start // unit * unit
    reads = [first, second] if item.operator in PAIRS else [first]
    if item.pitches[0] == item.pitches[1] and item.kernel == item.stride == (1, 1):
        if rng.integers(2):
            start = first.start // unit * unit
            first = range(start, start + sizes[0])
            reads[0] = first
            if item.operator in PAIRS and (second.start < first.stop and first.start < second.stop):
                second = first
                reads[1] = first
    at = (first.start, second.start, start)
    return Work(
        elements_job(item, at),
        [],
        reads,
        range(start, start + sizes[2]),
        lambda memory: item.apply(memory, at),
    )
