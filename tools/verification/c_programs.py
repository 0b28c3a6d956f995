"""Programs that execute the firmware's C: random steps of kernels, and models.

All that tests of the firmware draw is drawn here, too: steps of every kernel, of many shapes,
copies of every kind, models of one operator, and models that keep something between inferences.
"""

import dataclasses
import math
import random
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kiwicha import custom
from kiwicha.compiler import compile_model
from kiwicha.contract.configs import Config, find_config
from kiwicha.contract.integers import IntegerOperation
from kiwicha.contract.layout import Ref
from kiwicha.contract.program import DType, Kernel, Where
from kiwicha.firmware.sources import FOLDER, runtime_sources
from kiwicha.kernels.arg_max import ArgMax
from kiwicha.kernels.integers import Integers
from kiwicha.kernels.l2_normalization import L2Normalization
from kiwicha.kernels.log_softmax import LogSoftmax
from kiwicha.kernels.lookup import Lookup
from kiwicha.kernels.pool import Pool
from kiwicha.kernels.registry import KERNEL_PARAMS
from kiwicha.kernels.requantize import Requantize
from kiwicha.kernels.resize_bilinear import Blend
from kiwicha.kernels.softmax import Softmax
from kiwicha.numerics.logarithm import log_softmax_distances
from kiwicha.numerics.requantization import softmax_exponentials
from kiwicha.program.image import Program
from kiwicha.zoo import models as zoo
from tests.support.models import random_glue, random_models, random_moves, random_shorts
from tests.support.models.recurrent import RECURRENT
from tests.support.models.signal_streams import STREAMS
from tests.support.models.signals import SIGNALS
from tests.support.models.streaming import STREAMING, sets
from tests.support.models.weighted_sums import FIRST_INPUT, WEIGHTED_SUM, weighted_sums
from tests.support.programs.cases import (
    CASES,
    add_step,
    arg_max,
    resize_bilinear,
)
from tests.support.programs.copies import copy_case
from tests.support.programs.every_kernel import FIRMWARE_KERNELS, conv_case, every_kernel
from tests.support.programs.spread import SPREAD, spread
from tests.support.programs.steps import ProgramBuilder, int8s, whole_copy

__all__ = ["CONFIG", "CONFIGS", "HOST", "MODELS", "CProgram", "c_programs", "host_sources"]

for _operator in (FIRST_INPUT, WEIGHTED_SUM):
    custom.register(_operator)

CONFIG = find_config("simd")
"""What most Programs are for."""
_WITH_ENGINE, _WITH_SIGNAL = find_config("64"), find_config("simd-signal")
CONFIGS = (CONFIG, _WITH_SIGNAL, _WITH_ENGINE)
"""What Programs are for: some lines are compiled for some of them only."""
HOST = FOLDER / "host"
"""C files that make a program of this machine."""
MODELS = (zoo.DEMO, "kws", "resnet8", "ad")
_UNIT_KERNELS = (Kernel.UNIT_CHANNELS, Kernel.SIGNAL_PCAN, Kernel.SIGNAL_LOG)
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
_COPIES = 60
_INFERENCES = 4


@dataclasses.dataclass(frozen=True)
class CProgram:
    """A Program and what it gets.

    Parameters
    ----------
    program : Program
        For one of `CONFIGS`.
    inputs : sequence of bytes
        Input tensors in order, set by set: an inference for each, with what the one before it kept.
    """

    program: Program
    inputs: Sequence[bytes]

    @property
    def sets(self) -> list[Sequence[bytes]]:
        """The inputs of each inference."""
        count = len(self.program.inputs)
        if not count:
            return [()]
        return [self.inputs[k : k + count] for k in range(0, len(self.inputs), count)]


def host_sources(config: Config) -> list[Path]:
    """Return the C files of the firmware of a configuration as a program of this machine."""
    engine = [Path(__file__).with_name("host_engine.c")] if config.engine_macs else []
    return [*runtime_sources(config, HOST), *engine]


def c_programs(*, seeds: int, steps: int, models: int = 1) -> Iterator[CProgram]:
    """Give Programs and their inputs.

    Parameters
    ----------
    seeds : int
        Programs of each kernel.
    steps : int
        Of each of these Programs.
    models : int
        Of each operator.
    """
    yield from _steps(seeds, steps)
    yield _built(every_kernel())
    for model in MODELS:
        program = compile_model(zoo.resolve(model)[1], CONFIG.name)
        yield CProgram(program, _random_inputs(program))
    yield _copies()
    for kernel in SPREAD:
        builder = spread(kernel)
        yield _built(builder)
        builder.config = CONFIG
        yield _built(builder)
    yield from _corners()
    yield from _operators(models)
    yield from _kept(models)
    yield _custom()


def _built(builder: ProgramBuilder) -> CProgram:
    return CProgram(builder.program(), builder.input_bytes)


def _random_inputs(program: Program) -> list[bytes]:
    rng = np.random.default_rng(0)
    return [rng.bytes(tensor.ref.bytes) for tensor in program.inputs]


def _steps(seeds: int, steps: int) -> Iterator[CProgram]:
    """Give Programs of random steps of each kernel."""
    kernels = [(CONFIG, kernel) for kernel in FIRMWARE_KERNELS]
    kernels += [(_WITH_SIGNAL, kernel) for kernel in _UNIT_KERNELS]
    kernels += [(_WITH_ENGINE, kernel) for kernel in FIRMWARE_KERNELS if kernel.where is Where.SIMD]
    for config, kernel in kernels:
        if KERNEL_PARAMS[kernel] not in CASES:
            continue
        for seed in range(seeds):
            builder, rng = ProgramBuilder(config.name), np.random.default_rng(seed)
            for number in range(steps):
                add_step(builder, kernel, rng, number)
            yield _built(builder)


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

    def guarded(self) -> CProgram:
        """Give the Program."""
        for source, target in self._copies:
            self.step(Kernel.COPY, whole_copy(source, target))
        return _built(self)


def _corners() -> Iterator[CProgram]:
    """Give Programs of what random steps seldom are."""
    kernels = [(kernel, False) for kernel in FIRMWARE_KERNELS if KERNEL_PARAMS[kernel] in CASES]
    for kernel, is_odd in (*kernels, *((kernel, True) for kernel in _ODD_KERNELS)):
        guarded = _GuardedBuilder(CONFIG.name, is_odd=is_odd)
        rng = np.random.default_rng(kernel)
        for number in range(6):
            add_step(guarded, kernel, rng, number)
        yield guarded.guarded()
    rng = np.random.default_rng(0)
    for is_odd in (False, True):
        guarded = _GuardedBuilder(CONFIG.name, is_odd=is_odd)
        for size in (1, 3, 70):
            source, target = guarded.input(int8s(rng, (size,))), guarded.output((size,))
            table = guarded.constant(rng.permutation(256) - 128, np.int8)
            guarded.step(Kernel.LOOKUP, Lookup(source, target, table))
        yield guarded.guarded()
    for config in (CONFIG, _WITH_ENGINE):
        positions = ProgramBuilder(config.name)
        for outer, depth, inner in ((2, 9, 2), (1, 7, 24), (2, 5, 28), (1, 30, 29)):
            arg_max.add_shape(positions, Kernel.ARG_MAX, rng, outer, depth, inner)
        yield _built(positions)
    yield _rows()
    builder = ProgramBuilder(CONFIG.name)
    for number in range(2 * _CASTS):
        add_step(builder, Kernel.CAST, rng, number)
    long = (2, 12_000)
    source, target = builder.input(np.full(long, -128, np.int8)), builder.output(long)
    params = L2Normalization(source, target, *long, input_offset=-127, early_bits=0)
    builder.step(Kernel.L2_NORMALIZATION, params)
    for shift in (-1, -2, -3):
        values = rng.integers(-400, 400, 2001).astype(np.int16)
        refs = builder.input(values.view(np.int8)), builder.output((2001,))
        multiplier = int(rng.integers(2**30, 2**31))
        builder.step(Kernel.REQUANTIZE, Requantize(*refs, 2001, 2, 1, 7, multiplier, shift, -5))
    lowest = builder.input(np.full((3, 40), -128, np.int8))
    builder.step(Kernel.ARG_MAX, ArgMax(lowest, builder.output((12,)), 3, 40, 1, 0, 1))
    pooled = builder.input(int8s(rng, (3, 4, 5, 8)))
    for kernel in (Kernel.MAX_POOL, Kernel.AVERAGE_POOL, Kernel.SIMD_MAX_POOL):
        refs = pooled, builder.output((3, 2, 2, 8))
        builder.step(kernel, Pool(*refs, 3, 4, 5, 8, 2, 2, 2, 3, 2, 2, 0, 0, 0, -128, 127))
    for kernel in (Kernel.DEPTHWISE_CONV, Kernel.SIMD_DEPTHWISE_CONV):
        case = conv_case(rng, is_depthwise=True, batches=3)
        case.add_to(builder, kernel, builder.input(case.input))
    shape = (2, 3, 1, 2, 2, 3)
    steps = tuple(math.prod(shape[k + 1 :]) for k in range(len(shape)))
    words = [builder.input(int8s(rng, (4 * math.prod(shape),))) for _ in range(2)]
    numbers = (shape, steps, steps, IntegerOperation.ADD, DType.INT32)
    output = builder.output((4 * math.prod(shape),))
    builder.step(Kernel.INTEGERS, Integers(*words, Ref(), Ref(), output, *numbers))
    for channels in (1, 3, 5, 7):
        # The second image begins anywhere.
        for blend in (Blend.FIXED, Blend.PACKED):
            out = (6, 10) if blend is Blend.PACKED else (5, 9)
            shape = (3, 3, 5, channels)
            resize_bilinear.add_shape(
                builder, Kernel.RESIZE_BILINEAR, rng, blend, shape, out, 128 * (channels % 4 == 1)
            )
    yield _built(builder)


def _rows() -> CProgram:
    """Give a Program of rows whose maxima are any, short and long."""
    builder, rng = ProgramBuilder(CONFIG.name), np.random.default_rng(1)
    exponentials = builder.constant(softmax_exponentials(0.02, 1.0))
    distances = builder.constant(log_softmax_distances(0.02))
    # What a row leaves on the stack is not what the next one needs.
    for most in (0, 124, -1, 120, 127, 126, 125, -127, -128):
        for depth in (5, 400):
            source = builder.input(np.minimum(int8s(rng, (3, depth)), np.int8(most)))
            refs = source, builder.output((3, depth)), exponentials
            builder.step(Kernel.LOG_SOFTMAX, LogSoftmax(*refs, distances, 3, depth, 127))
            target = builder.output((3, depth))
            builder.step(
                Kernel.SOFTMAX, Softmax(source, target, exponentials, 3, depth, -128, Ref())
            )
    return _built(builder)


def _copies() -> CProgram:
    """Give a Program of copies of all kinds, each into known bytes, and of one that slides."""
    builder = ProgramBuilder(CONFIG.name)
    for seed in range(_COPIES):
        case = copy_case(seed)
        source, background = builder.input(case.input), builder.input(case.background)
        target = builder.output(case.expected.shape)
        builder.step(Kernel.COPY, whole_copy(background, target))
        builder.step(Kernel.COPY, dataclasses.replace(case.params, input=source, output=target))
    source, slid = builder.input(np.arange(100, dtype=np.int8)), builder.output((100,))
    builder.step(Kernel.COPY, whole_copy(source, slid))
    for distance, size in ((1, 9), (16, 40), (30, 64)):
        here = dataclasses.replace(slid, bytes=size)
        there = dataclasses.replace(here, offset=slid.offset + distance)
        builder.step(Kernel.COPY, whole_copy(there, here))
    return _built(builder)


def _operators(seeds: int) -> Iterator[CProgram]:
    """Give models of one operator, of bytes, of int16 and of other types."""
    for package in (random_models, random_moves, random_shorts, random_glue):
        for operator in package.OPERATORS:
            for seed in range(seeds):
                case = package.single_operator(operator, seed)
                yield CProgram(_compiled(case.model), [each.tobytes() for each in case.inputs])
    for operator in random_models.OPERATORS:
        for seed in range(seeds):
            case = random_models.single_operator(operator, seed, is_unsigned=True)
            yield CProgram(_compiled(case.model), [each.tobytes() for each in case.inputs])


def _compiled(model: bytes) -> Program:
    return compile_model(model, CONFIG.name)


def _kept(seeds: int) -> Iterator[CProgram]:
    """Give models that keep something between inferences, and of sound."""
    for kind, make in {**STREAMING, **RECURRENT}.items():
        for seed in range(seeds):
            model = make(random.Random(f"{kind}{seed}"))
            inputs = [one[0].tobytes() for one in sets(model, _INFERENCES, seed)]
            yield CProgram(_compiled(model.model), inputs)
    for make_signals in (*SIGNALS.values(), *STREAMS.values()):
        for seed in range(seeds):
            item: Any = make_signals(np.random.default_rng([seed, 1]))
            inputs = [each.tobytes() for one in item.inputs for each in one]
            yield CProgram(_compiled(item.model), inputs)


def _custom() -> CProgram:
    """Give a model of an operator of users."""
    program = _compiled(weighted_sums())
    return CProgram(program, _random_inputs(program))
