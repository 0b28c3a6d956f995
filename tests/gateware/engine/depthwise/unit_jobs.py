"""Random jobs of the depthwise unit, and what they compute."""

import dataclasses
import math
import random
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from amaranth.sim import SimulatorContext
from numpy.typing import NDArray

from kiwicha.contract.depthwise import (
    LINE_COLUMNS,
    MAX_UNIT_KERNEL,
    UNIT_CHANNELS,
    UNIT_TAPS,
    pass_columns,
    passes_of,
)
from kiwicha.contract.engine import EngineJob, JobKind
from kiwicha.gateware.engine.weights.interfaces import FIELDS, PARAMETER_BLOCK

__all__ = ["UnitJob", "give_fills", "random_job"]


@dataclass(frozen=True)
class UnitJob:
    """A job, its image int8 [rows, columns, channels] and weights [rows, columns, channels].

    Its first input row waits for the first of ``waits``, and so many more as the others say: for
    each group, or with ``in_pairs`` for each pair of groups, and for each row. A pair waits for
    what its last group needs.
    """

    image: NDArray[np.int8]
    weights: NDArray[np.int64]
    zero_point: int
    stride: tuple[int, int]
    padding: tuple[int, int]
    output: tuple[int, int]
    address: int
    pitch: int
    waits: tuple[int, int, int]
    in_pairs: bool = False

    @property
    def groups(self) -> int:
        """Groups of 8 channels."""
        return int(self.image.shape[2]) // UNIT_CHANNELS

    @property
    def waited_rows(self) -> int:
        """What all of its rows wait for."""
        return self._rows_for(int(self.image.shape[0]) - 1, self.groups - 1)

    def rows_for(self, address: int) -> int:
        """Return for what a read at an address waits."""
        pixel, channel = divmod(address - self.address, self.pitch)
        return self._rows_for(pixel // int(self.image.shape[1]), channel // UNIT_CHANNELS)

    def _rows_for(self, row: int, group: int) -> int:
        first, by_group, by_row = self.waits
        last = group if group % 2 or group == self.groups - 1 else group + 1
        return first + last // (1 + self.in_pairs) * by_group + row * by_row

    def descriptor(self, output_address: int, first_row: int = 0) -> EngineJob:
        """Return the job as the engine reads it; ``first_row``: rows before those it waits for."""
        rows, columns, channels = self.image.shape
        kernel_rows, kernel_columns, _ = self.weights.shape
        row_pitch = columns * self.pitch
        blank = EngineJob.unpack(bytes(EngineJob.size_bytes()))
        return dataclasses.replace(
            blank,
            kind=JobKind.DEPTHWISE_UNIT,
            interval=1,
            groups=self.groups,
            first_address=self.address - self.padding[0] * row_pitch,
            output_address=output_address,
            first_row=-self.padding[0],
            input_rows=rows,
            output_rows=self.output[0],
            output_columns=self.output[1],
            kernel_row_step=row_pitch,
            column_step=self.pitch,
            segment_words=pass_columns(self.output[1], self.stride[1]),
            row_words=columns,
            output_pixel_bytes=channels,
            group_words=math.prod(passes_of(kernel_rows, kernel_columns)),
            stride_rows=self.stride[0],
            dilation_rows=1,
            stride_columns=self.stride[1],
            kernel_rows=kernel_rows,
            segments=kernel_columns,
            skip_results=self.padding[1],
            input_zero_point=self.zero_point,
            group_input_step=UNIT_CHANNELS,
            group_output_step=UNIT_CHANNELS,
            first_index=(self.output[0] - 1) * self.stride[0] + kernel_rows,
            output_row_step=channels,
            wait_rows=(first_row + self.waits[0]) % 65_536,
            wait_group_step=self.waits[1],
            wait_row_step=self.waits[2],
            waits_in_pairs=int(self.in_pairs),
        )

    def memory(self, size: int) -> NDArray[np.uint8]:
        """Return the scratchpad: noise, and the image in its place."""
        memory = np.random.default_rng(1).integers(0, 256, size).astype(np.uint8)
        channels = self.image.shape[2]
        for pixel, octets in enumerate(self.image.reshape(-1, channels)):
            start = self.address + pixel * self.pitch
            memory[start : start + channels] = octets.view(np.uint8)
        return memory

    def words(self, group: int) -> list[list[list[int]]]:
        """Return for each pass of a group, for each cell, the weights of 8 channels."""
        kernel_rows, kernel_columns, _ = self.weights.shape
        row_passes, column_passes = passes_of(kernel_rows, kernel_columns)
        padded = np.zeros((row_passes * UNIT_TAPS, column_passes * UNIT_TAPS, UNIT_CHANNELS), int)
        channels = slice(group * UNIT_CHANNELS, (group + 1) * UNIT_CHANNELS)
        padded[:kernel_rows, :kernel_columns] = self.weights[:, :, channels]
        return [
            [
                padded[UNIT_TAPS * down + row, UNIT_TAPS * right + column].tolist()
                for row in range(UNIT_TAPS)
                for column in range(UNIT_TAPS)
            ]
            for down in range(row_passes)
            for right in range(column_passes)
        ]

    def fills(self) -> list[list[list[int]]]:
        """Return for each group the weights of its beats, 16 each; those of parameters are 0."""
        empty = [0] * UNIT_CHANNELS
        return [
            [2 * empty for _ in range(UNIT_CHANNELS // PARAMETER_BLOCK * FIELDS)]
            + [
                [*first, *second]
                for cells in self.words(group)
                for first, second in zip(cells[::2], [*cells[1::2], empty], strict=True)
            ]
            for group in range(self.groups)
        ]

    def sums(self) -> NDArray[np.int64]:
        """Return the sums, [groups, output rows, output columns, 8]."""
        rows, columns, channels = self.image.shape
        kernel_rows, kernel_columns, _ = self.weights.shape
        (stride_rows, stride_columns), (top, left) = self.stride, self.padding
        total = np.zeros((*self.output, channels), np.int64)
        for row, column in np.ndindex(self.output):
            for down, right in np.ndindex(kernel_rows, kernel_columns):
                y, x = row * stride_rows + down - top, column * stride_columns + right - left
                if 0 <= y < rows and 0 <= x < columns:
                    pixel = self.image[y, x].astype(np.int64) - self.zero_point
                    total[row, column] += pixel * self.weights[down, right]
        groups = total.reshape(*self.output, channels // UNIT_CHANNELS, UNIT_CHANNELS)
        return groups.transpose(2, 0, 1, 3)


def random_job(
    rng: np.random.Generator, *, largest: int = 12, groups: int | None = None
) -> UnitJob:
    """Return a job with a kernel, strides and padding of any size."""
    kernel = tuple(int(n) for n in rng.integers(1, MAX_UNIT_KERNEL + 1, 2))
    if groups is not None or rng.random() < 0.5:
        kernel = 3, 3
    stride = int(rng.integers(1, 4)), int(rng.integers(1, 4))
    rows, columns = (int(n) for n in rng.integers(1, largest + 1, 2))
    padding = int(rng.integers(0, kernel[0])), int(rng.integers(0, kernel[1]))
    output_rows, output_columns = (
        int(rng.integers(1, max((size + 2 * pad - tap) // step, 0) + 2))
        for size, pad, tap, step in zip((rows, columns), padding, kernel, stride, strict=True)
    )
    channels = UNIT_CHANNELS * (groups or int(rng.integers(1, 4)))
    limit = 255 if rng.random() < 0.3 else 20
    assert columns <= LINE_COLUMNS
    return UnitJob(
        image=rng.integers(-128, 128, (rows, columns, channels)).astype(np.int8),
        weights=rng.integers(-limit, limit + 1, (*kernel, channels)),
        zero_point=int(rng.integers(-128, 128)),
        stride=stride,
        padding=padding,
        output=(output_rows, output_columns),
        address=int(rng.integers(0, 500)),
        pitch=channels + int(rng.choice((0, 0, 5, 8))),
        waits=(int(rng.integers(0, 5)), int(rng.integers(0, 9)), int(rng.integers(2))),
        in_pairs=bool(rng.integers(2)),
    )


def _packed(numbers: list[int]) -> int:
    """Return numbers of 9 bits as one word."""
    return sum((number & 0x1FF) << 9 * place for place, number in enumerate(numbers))


async def give_fills(
    ctx: SimulatorContext,
    fill: Any,
    jobs: list[UnitJob],
    rng: random.Random,
    share: float,
    is_over: Callable[[], bool],
) -> None:
    """Give the fills of all groups, in some of the cycles, until all is over.

    The words of each beat come two cycles behind it.
    """
    beats = [
        (number, beat)
        for number, group in enumerate(group for job in jobs for group in job.fills())
        for beat in group
    ]
    passes = [len(job.words(0)) for job in jobs for _ in range(job.groups)]
    words = [0, 0]
    number = -1
    while beats and not is_over():
        moves = rng.random() < share
        is_next = beats[0][0] != number
        ctx.set(fill.command, is_next and moves)
        ctx.set(fill.passes, passes[beats[0][0]])
        ctx.set(fill.beat, not is_next and moves)
        ctx.set(fill.words.as_value(), words.pop(0))
        await ctx.delay(1e-9)
        words.append(rng.getrandbits(144))
        if moves and is_next and ctx.get(fill.ready):
            number += 1
        elif moves and not is_next and ctx.get(fill.takes):
            words[-1] = _packed(beats.pop(0)[1])
        await ctx.tick()
    ctx.set(fill.command, 0)
    ctx.set(fill.beat, 0)
    for last in words:
        ctx.set(fill.words.as_value(), last)
        await ctx.tick()
