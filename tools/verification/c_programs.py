"""Programs that execute the firmware's C: random steps of kernels, and models."""

from collections.abc import Iterator, Sequence

import numpy as np

from kiwicha.compiler import compile_model
from kiwicha.contract.configs import CONFIGS
from kiwicha.kernels.registry import KERNEL_PARAMS
from kiwicha.program.image import Program
from kiwicha.zoo import models as zoo
from tests.support.programs.cases import CASES, add_step
from tests.support.programs.every_kernel import FIRMWARE_KERNELS, every_kernel
from tests.support.programs.steps import ProgramBuilder

__all__ = ["CONFIG", "MODELS", "c_programs"]

CONFIG = CONFIGS["simd"]
"""What Programs are for."""
MODELS = (zoo.DEMO, "kws", "resnet8", "ad")


def c_programs(*, seeds: int, steps: int) -> Iterator[tuple[Program, Sequence[bytes]]]:
    """Give Programs and their inputs.

    Parameters
    ----------
    seeds : int
        Programs of each kernel.
    steps : int
        Of each of them.
    """
    for kernel in FIRMWARE_KERNELS:
        if KERNEL_PARAMS[kernel] not in CASES:
            continue
        for seed in range(seeds):
            builder, rng = ProgramBuilder(CONFIG.name), np.random.default_rng(seed)
            for number in range(steps):
                add_step(builder, kernel, rng, number)
            yield builder.program(), builder.input_bytes
    builder = every_kernel()
    yield builder.program(), builder.input_bytes
    for model in MODELS:
        program = compile_model(zoo.resolve(model)[1], CONFIG.name)
        rng = np.random.default_rng(0)
        yield program, [rng.bytes(tensor.ref.bytes) for tensor in program.inputs]
