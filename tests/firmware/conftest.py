"""The firmware as a program of this machine, under address and undefined-behaviour sanitizers."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from kiwicha.contract.cfu import Status
from kiwicha.contract.configs import CONFIGS
from kiwicha.firmware import native
from kiwicha.program.image import Program
from tests.support.programs.every_kernel import every_kernel
from tests.support.programs.steps import ProgramBuilder

RunRaw = Callable[..., native.NativeResult]
RunNative = Callable[[ProgramBuilder], "list[NDArray[np.int8]]"]


@pytest.fixture(scope="session")
def executables() -> dict[str, Path]:
    """Return the sanitized executable of every configuration."""
    return {name: native.build_native(config) for name, config in CONFIGS.items()}


@pytest.fixture(scope="session")
def run_steps(executables: dict[str, Path]) -> RunNative:
    """Return a function that runs what a builder holds and gives its outputs."""

    def run(builder: ProgramBuilder) -> list[NDArray[np.int8]]:
        program = builder.program()
        result = native.run_native(
            executables[builder.config.name],
            program.to_bytes(),
            builder.input_bytes,
            outputs=len(program.outputs),
        )
        assert result.status is Status.OK, (result.status.name, result.log)
        return [
            np.frombuffer(raw, np.int8).reshape(tensor.shape)
            for raw, tensor in zip(result.outputs, program.outputs, strict=True)
        ]

    return run


@pytest.fixture(scope="session")
def every_kernel_builder() -> ProgramBuilder:
    """Return a Program of all kernels, still editable."""
    return every_kernel()


@pytest.fixture(scope="session")
def program(every_kernel_builder: ProgramBuilder) -> Program:
    """Return a Program of all kernels."""
    return every_kernel_builder.program()


@pytest.fixture(scope="session")
def run_raw(
    executables: dict[str, Path], every_kernel_builder: ProgramBuilder, program: Program
) -> RunRaw:
    """Return a function that runs stored Programs with the inputs of the good one."""

    def run(raw: bytes, config: str = "simd", **options: Any) -> native.NativeResult:
        outputs = len(program.outputs)
        return native.run_native(
            executables[config], raw, every_kernel_builder.input_bytes, outputs=outputs, **options
        )

    return run
