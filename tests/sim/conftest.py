"""Models on the simulated engine, whose logs several tests look at."""

import numpy as np
import pytest

from kiwicha.compiler import Compilation, compile_stages
from kiwicha.sim.verilator.program_run import SimulatedRun, run_program
from kiwicha.zoo import models as zoo
from tests.support.models.two_heads import two_heads


@pytest.fixture(scope="session", params=["demo", "two heads"])
def compilation(request: pytest.FixtureRequest) -> Compilation:
    """Give a model that is almost all for the engine, and one where the CPU works beside it."""
    model = zoo.resolve(zoo.DEMO)[1] if request.param == "demo" else two_heads()
    return compile_stages(model, "64")


@pytest.fixture(scope="session")
def result(compilation: Compilation) -> SimulatedRun:
    size = compilation.program.inputs[0].ref.bytes
    return run_program(compilation.program, [np.random.default_rng(1).bytes(size)])
