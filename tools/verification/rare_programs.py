"""Programs of what random steps seldom are: rare shapes, odd bytes, known bytes behind outputs."""

import dataclasses
import math
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kiwicha.contract.integers import IntegerOperation
from kiwicha.contract.layout import Ref
from kiwicha.contract.program import DType, Kernel
from kiwicha.kernels.arg_max import ArgMax
from kiwicha.kernels.elementwise import Elementwise
from kiwicha.kernels.integers import Integers
from kiwicha.kernels.l2_normalization import L2Normalization
from kiwicha.kernels.log_softmax import LogSoftmax
from kiwicha.kernels.lookup import Lookup
from kiwicha.kernels.pool import Pool
from kiwicha.kernels.registry import KERNEL_PARAMS
from kiwicha.kernels.requantize import Requantize
from kiwicha.kernels.resize_bilinear import Blend
from kiwicha.kernels.short_functions import ShortFunction
from kiwicha.kernels.short_line import ShortLine
from kiwicha.kernels.short_softmax import ShortSoftmax
from kiwicha.kernels.softmax import Softmax
from kiwicha.numerics.logarithm import log_softmax_distances
from kiwicha.numerics.requantization import softmax_exponentials
from kiwicha.numerics.short_activations import points
from kiwicha.program.image import Program
from tests.support.programs.cases import CASES, add_step, arg_max, log_softmax, resize_bilinear
from tests.support.programs.every_kernel import FIRMWARE_KERNELS, conv_case
from tests.support.programs.steps import ProgramBuilder, int8s, whole_copy

__all__ = ["rare_programs"]

Given = tuple[Program, Sequence[bytes]]
"""A Program and its inputs."""
_ODD_KERNELS = (
    *(Kernel.CONV, Kernel.DEPTHWISE_CONV, Kernel.FULLY_CONNECTED, Kernel.TRANSPOSE_CONV),
    *(Kernel.AVERAGE_POOL, Kernel.MAX_POOL, Kernel.MEAN, Kernel.REDUCE_MIN, Kernel.REDUCE_MAX),
    *(Kernel.ADD, Kernel.SUB, Kernel.MUL, Kernel.SQUARED_DIFFERENCE, Kernel.PRELU),
    *(Kernel.MINIMUM, Kernel.MAXIMUM, Kernel.SOFTMAX, Kernel.LOG_SOFTMAX, Kernel.L2_NORMALIZATION),
    *(Kernel.RESIZE_BILINEAR, Kernel.MATRIX_PRODUCT),
)
"""Kernels of which every tensor may begin at any byte."""
_GUARD_BYTES = 8
_CASTS = 13


def rare_programs(config: str, with_engine: str) -> Iterator[Given]:
    """Give Programs and their inputs.

    Parameters
    ----------
    config, with_engine : str
        Names of a configuration without an engine, and of one with it.
    """
    rng = np.random.default_rng(0)
    yield from _guarded_steps(config)
    yield from _guarded_shapes(config, rng)
    yield from (_positions(name, rng) for name in (config, with_engine))
    yield _rows(config)
    yield _rare_shapes(config, rng)


def _built(builder: ProgramBuilder) -> Given:
    return builder.program(), builder.input_bytes


class _GuardedBuilder(ProgramBuilder):
    """Collects steps with known bytes behind each output, which must stay what they are.

    Parameters
    ----------
    config : str
        Name of the configuration.
    is_odd : bool
        Inputs and outputs begin at odd bytes, from and to which they are copied.
    """

    def __init__(self, config: str, *, is_odd: bool = False) -> None:
        super().__init__(config)
        self._is_odd = is_odd
        self._copies: list[tuple[Ref, Ref]] = []
        self._guard = super().input(np.arange(1, _GUARD_BYTES + 1, dtype=np.int8))

    def _place(self, size: int) -> Ref:
        """Reserve bytes, or one or three behind a multiple of 16."""
        ref = self.arena(size + 3)
        more = 1 + ref.offset // 16 % 2 * 2 if self._is_odd else 0
        return Ref(ref.offset + more, size)

    def input(self, values: NDArray[np.int8]) -> Ref:
        """Add an input of the model; return where it is copied to."""
        source, place = super().input(values), self._place(values.size)
        self.step(Kernel.COPY, whole_copy(source, place))
        return place

    def output(self, shape: Sequence[int]) -> Ref:
        """Add an output of the model and one for the bytes behind it."""
        target = super().output(shape)
        place = self._place(target.bytes + _GUARD_BYTES)
        behind = Ref(place.offset + target.bytes, _GUARD_BYTES)
        self.step(Kernel.COPY, whole_copy(self._guard, behind))
        place = dataclasses.replace(place, bytes=target.bytes)
        self._copies += [(place, target), (behind, super().output((_GUARD_BYTES,)))]
        return place

    def guarded(self) -> Given:
        """Give the Program."""
        for source, target in self._copies:
            self.step(Kernel.COPY, whole_copy(source, target))
        return _built(self)


def _guarded_steps(config: str) -> Iterator[Given]:
    """Give Programs of random steps of each kernel, with guards, and at odd bytes."""
    kernels = [(kernel, False) for kernel in FIRMWARE_KERNELS if KERNEL_PARAMS[kernel] in CASES]
    for kernel, is_odd in (*kernels, *((kernel, True) for kernel in _ODD_KERNELS)):
        guarded = _GuardedBuilder(config, is_odd=is_odd)
        rng = np.random.default_rng(kernel)
        for number in range(6):
            add_step(guarded, kernel, rng, number)
        yield guarded.guarded()


def _guarded_shapes(config: str, rng: np.random.Generator) -> Iterator[Given]:
    """Give Programs of look-ups and functions at odd bytes."""
    for is_odd in (False, True):
        guarded = _GuardedBuilder(config, is_odd=is_odd)
        for size in (1, 3, 70):
            source, target = guarded.input(int8s(rng, (size,))), guarded.output((size,))
            table = guarded.constant(rng.permutation(256) - 128, np.int8)
            guarded.step(Kernel.LOOKUP, Lookup(source, target, table))
        yield guarded.guarded()
    odd = _GuardedBuilder(config, is_odd=True)
    for shape in ((1, 4095), (3, 5)):
        source, target = odd.input(int8s(rng, shape)), ProgramBuilder.output(odd, (*shape, 2))
        table = odd.constant(softmax_exponentials(0.05, 1.0))
        odd.step(Kernel.SHORT_SOFTMAX, ShortSoftmax(source, target, table, *shape))
    for depth in (5, 6, 7):
        log_softmax.add_shape(odd, Kernel.LOG_SOFTMAX, rng, 2, depth)
    source = ProgramBuilder.input(odd, int8s(rng, (300, 2)))
    for kernel in (Kernel.SHORT_TANH, Kernel.SHORT_LOGISTIC):
        refs = source, ProgramBuilder.output(odd, (300, 2)), odd.constant(points(), np.int16)
        odd.step(kernel, ShortFunction(*refs, 300, 2**15 - 1, 15))
    yield odd.guarded()


def _positions(config: str, rng: np.random.Generator) -> Given:
    """Give a Program of ARG_MAX along columns, whose number is any."""
    positions = ProgramBuilder(config)
    for outer, depth, inner in ((2, 9, 2), (1, 7, 24), (2, 5, 28), (1, 30, 29)):
        arg_max.add_shape(positions, Kernel.ARG_MAX, rng, outer, depth, inner)
    return _built(positions)


def _rare_shapes(config: str, rng: np.random.Generator) -> Given:
    """Give a Program of steps of rare types and shapes."""
    builder = ProgramBuilder(config)
    for number in range(2 * _CASTS):
        add_step(builder, Kernel.CAST, rng, number)
    long = (2, 30_000)
    source, target = builder.input(rng.integers(-128, 128, long, np.int8)), builder.output(long)
    params = L2Normalization(source, target, *long, input_offset=-127, early_bits=0)
    builder.step(Kernel.L2_NORMALIZATION, params)
    for number in range(6, 9):
        add_step(builder, Kernel.REQUANTIZE, rng, number)
    for shift in (-1, -2, -3):
        values = rng.integers(-400, 400, 2001).astype(np.int16)
        refs = builder.input(values.view(np.int8)), builder.output((2001,))
        multiplier = int(rng.integers(2**30, 2**31))
        builder.step(Kernel.REQUANTIZE, Requantize(*refs, 2001, 2, 1, 7, multiplier, shift, -5))
    shorts = builder.input(int8s(rng, (500, 2)))
    line = ShortLine(shorts, builder.output((500,)), 500, -(2**15), 2**15 - 1, 1, 0, 8)
    builder.step(Kernel.SHORT_LINE, line)
    add_step(builder, Kernel.SIGNAL_SUBTRACTION, rng, 0)
    subtraction: Any = builder.steps.pop().params
    builder.step(Kernel.SIGNAL_SUBTRACTION, dataclasses.replace(subtraction, noise_bits=31))
    # Where there is one element a stride means nothing.
    images = [builder.input(int8s(rng, (3, 3, 4))) for _ in range(2)]
    sizes = ((1, 1, 1, 3, 3, 4), (0, 5, 7, 12, 4, 1), (9, 9, 9, 12, 4, 1))
    scales = (1, 2, 3, 20, *(2**30, 0) * 2, 2**30, -10, -128, 127)
    for kernel in (Kernel.ADD, Kernel.SIMD_ADD):
        operands: Any = (*images, builder.output((3, 3, 4)), *sizes, *scales)
        builder.step(kernel, Elementwise(*operands))
    lowest = builder.input(np.full((3, 40), -128, np.int8))
    builder.step(Kernel.ARG_MAX, ArgMax(lowest, builder.output((12,)), 3, 40, 1, 0, 1))
    pooled = builder.input(int8s(rng, (3, 4, 5, 8)))
    for kernel in (Kernel.MAX_POOL, Kernel.AVERAGE_POOL, Kernel.SIMD_MAX_POOL):
        refs = pooled, builder.output((3, 2, 2, 8))
        builder.step(kernel, Pool(*refs, 3, 4, 5, 8, 2, 2, 2, 3, 2, 2, 0, 0, 0, -128, 127))
    for kernel in (Kernel.DEPTHWISE_CONV, Kernel.SIMD_DEPTHWISE_CONV):
        case = conv_case(rng, is_depthwise=True, batches=3)
        case.add_to(builder, kernel, builder.input(case.input))
    deep = (2, 3, 1, 2, 2, 3)
    steps = tuple(math.prod(deep[k + 1 :]) for k in range(len(deep)))
    words = [builder.input(int8s(rng, (4 * math.prod(deep),))) for _ in range(2)]
    numbers = (deep, steps, steps, IntegerOperation.ADD, DType.INT32)
    output = builder.output((4 * math.prod(deep),))
    fields: Any = (*words, Ref(), Ref(), output, *numbers)
    builder.step(Kernel.INTEGERS, Integers(*fields))
    for channels in (1, 3, 5, 7):
        # The second image begins anywhere.
        for blend in (Blend.FIXED, Blend.PACKED):
            out = (6, 10) if blend is Blend.PACKED else (5, 9)
            shape = (3, 3, 5, channels)
            resize_bilinear.add_shape(
                builder, Kernel.RESIZE_BILINEAR, rng, blend, shape, out, 128 * (channels % 4 == 1)
            )
    return _built(builder)


def _rows(config: str) -> Given:
    """Give a Program of rows whose maxima are any, short and long."""
    builder, rng = ProgramBuilder(config), np.random.default_rng(1)
    exponentials = builder.constant(softmax_exponentials(0.02, 1.0))
    distances = builder.constant(log_softmax_distances(0.02))
    # What a row leaves on the stack is not what the next one needs.
    for most in (0, 124, -1, 120, 127, 126, 125, -127, -128):
        for depth in (5, 720):
            source = builder.input(np.minimum(int8s(rng, (3, depth)), np.int8(most)))
            refs = source, builder.output((3, depth)), exponentials
            builder.step(Kernel.LOG_SOFTMAX, LogSoftmax(*refs, distances, 3, depth, 127))
            target = builder.output((3, depth))
            builder.step(
                Kernel.SOFTMAX, Softmax(source, target, exponentials, 3, depth, -128, Ref())
            )
    return _built(builder)
