"""The C code of every kernel against its reference, on random steps."""

import numpy as np
import pytest

from kiwicha.contract.cfu import Status
from kiwicha.contract.configs import CONFIGS
from kiwicha.contract.program import Kernel
from kiwicha.firmware import native
from kiwicha.sim.reference import executor
from tests.support.programs.cases import add_step
from tests.support.programs.steps import ProgramBuilder
from tools.cpu_costs import MEASURED

STEPS = 12


@pytest.mark.parametrize("kernel", MEASURED, ids=lambda kernel: kernel.name)
def test_equals_the_reference(kernel: Kernel) -> None:
    builder = ProgramBuilder("simd")
    rng = np.random.default_rng(kernel)
    for number in range(STEPS):
        add_step(builder, kernel, rng, number)
    program = builder.program()
    executable = native.build_native(CONFIGS["simd"])
    result = native.run_native(executable, program.to_bytes(), builder.input_bytes, outputs=STEPS)
    assert result.status is Status.OK, result.log
    expected = executor.run(program, builder.input_bytes)
    assert result.outputs == tuple(output.tobytes() for output in expected)
