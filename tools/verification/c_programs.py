"""Programs that execute the firmware's C: random steps of kernels, and models.

All that tests of the firmware draw is drawn here, too: steps of every kernel, of many shapes,
copies of every kind, models of one operator, and models that keep something between inferences.
"""

import dataclasses
import random
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from kiwicha import custom
from kiwicha.compiler import compile_model
from kiwicha.contract.configs import Config, find_config
from kiwicha.contract.program import Kernel, Where
from kiwicha.firmware.sources import FOLDER, runtime_sources
from kiwicha.kernels.registry import KERNEL_PARAMS
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
)
from tests.support.programs.copies import copy_case
from tests.support.programs.every_kernel import FIRMWARE_KERNELS, every_kernel
from tests.support.programs.spread import SPREAD, spread
from tests.support.programs.steps import ProgramBuilder, whole_copy
from tools.verification.rare_programs import rare_programs

__all__ = [
    "CONFIG",
    "CONFIGS",
    "HOST",
    "MODELS",
    "CProgram",
    "c_programs",
    "host_sources",
    "register_operators",
]

CONFIG = find_config("simd")
"""What most Programs are for."""
_WITH_ENGINE, _WITH_SIGNAL = find_config("64"), find_config("simd-signal")
CONFIGS = (CONFIG, _WITH_SIGNAL, _WITH_ENGINE)
"""What Programs are for: some lines are compiled for some of them only."""
HOST = FOLDER / "host"
"""C files that make a program of this machine."""
MODELS = (zoo.DEMO, "kws", "resnet8", "ad")
_UNIT_KERNELS = (Kernel.UNIT_CHANNELS, Kernel.SIGNAL_PCAN, Kernel.SIGNAL_LOG)
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


def register_operators() -> None:
    """Make custom operators of the Programs known to this process: firmware is built with them."""
    for operator in (FIRST_INPUT, WEIGHTED_SUM):
        custom.register(operator)


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
    configs = CONFIG.name, _WITH_ENGINE.name
    yield from (CProgram(*each) for each in rare_programs(*configs))
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
    kernels: list[tuple[Config, Kernel]] = [(CONFIG, kernel) for kernel in FIRMWARE_KERNELS]
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
