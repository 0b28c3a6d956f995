"""The firmware as a program of this machine, under address and undefined-behaviour sanitizers."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray
from support.steps import ProgramBuilder

from kiwicha.firmware import native
from kiwicha.isa import CONFIGS, Status

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
