"""Kernels on the unit for frames of sound, on this machine with a model of the unit."""

from pathlib import Path

import numpy as np
import pytest

from kiwicha.compiler import compile_model
from kiwicha.contract.cfu import Status
from kiwicha.contract.configs import find_config
from kiwicha.contract.program import Kernel
from kiwicha.firmware import native
from kiwicha.program.image import Program
from kiwicha.sim.reference import executor as reference
from kiwicha.sound.frontend import FRAME_SAMPLES, frontend_model
from tests.support.programs.cases import add_step
from tests.support.programs.numbers import shorts
from tests.support.programs.steps import ProgramBuilder

CONFIG = "simd-signal"
STEPS = 30


@pytest.fixture(scope="module")
def executable() -> Path:
    return native.build_native(find_config(CONFIG))


@pytest.mark.slow
@pytest.mark.parametrize("kernel", [Kernel.UNIT_CHANNELS, Kernel.SIGNAL_PCAN, Kernel.SIGNAL_LOG])
def test_random_steps_equal_the_reference(executable: Path, kernel: Kernel) -> None:
    builder, rng = ProgramBuilder(CONFIG), np.random.default_rng(kernel)
    for number in range(STEPS):
        add_step(builder, kernel, rng, number)
    program = builder.program()
    raw = builder.input_bytes
    result = native.run_native(executable, program.to_bytes(), raw, outputs=len(program.outputs))
    assert result.status is Status.OK, (result.status.name, result.log)
    inputs = [
        np.frombuffer(each, np.int8).reshape(tensor.shape)
        for each, tensor in zip(raw, program.inputs, strict=True)
    ]
    for found, wanted in zip(result.outputs, reference.run(program, inputs), strict=True):
        assert found == wanted.tobytes()


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(3))
def test_a_frontend_equals_the_reference(executable: Path, seed: int) -> None:
    program = Program.from_bytes(compile_model(frontend_model(), CONFIG).to_bytes())
    assert program.steps[0].kernel is Kernel.UNIT_CHANNELS
    frame = shorts(np.random.default_rng(seed), 1, FRAME_SAMPLES)
    result = native.run_native(executable, program.to_bytes(), [frame.tobytes()], outputs=1)
    (wanted,) = reference.run(program, [frame])
    assert result.outputs == (wanted.tobytes(),), (result.status.name, result.log)
