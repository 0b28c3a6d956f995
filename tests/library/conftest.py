"""What tests of libraries share: two models, and what an application prints of them."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from kiwicha.compiler import compile_stages
from kiwicha.contract.cfu import STATUS_TEXT, Status
from kiwicha.sim.reference import executor as reference
from tests.support.models import random_networks
from tests.support.programs.patterns import pattern


@pytest.fixture(scope="session")
def models() -> dict[str, bytes]:
    # Small: without an engine, and from DRAM, a product takes hundreds of cycles.
    return {
        "first": random_networks.engine_network(5).model,
        "second": random_networks.network(0).model,
    }


@pytest.fixture(scope="session")
def output_of(models: dict[str, bytes]) -> Callable[[str], tuple[str, bytes]]:
    """Return a function that gives the name and the bytes of a model's output."""

    def run(name: str) -> tuple[str, bytes]:
        # The same bytes for every configuration.
        program = compile_stages(models[name], "baseline").program
        (output,) = reference.run(program, [pattern(item) for item in program.inputs])
        return program.outputs[0].name, np.asarray(output).tobytes()

    return run


@pytest.fixture(scope="session")
def example_output(output_of: Callable[[str], tuple[str, bytes]]) -> str:
    """Give what ``example/main.c`` prints of the first model, before the cycles."""
    name, raw = output_of("first")
    assert len(set(raw)) > 3
    return f"{name}: {raw[:16].hex()}, sum {sum(raw)}\n"


@pytest.fixture(scope="session")
def application_output(output_of: Callable[[str], tuple[str, bytes]]) -> str:
    """Give what ``application.cpp`` prints."""
    first, second = (
        sum((k + 1) * byte for k, byte in enumerate(output_of(name)[1]))
        for name in ("first", "second")
    )
    assert first != second
    return "\n".join([
        f"first in the shared arena: {first}",
        f"second in the shared arena: {second}",
        f"first again: {first}",
        f"third meanwhile: {STATUS_TEXT[Status.BUSY]}",
        f"third in its own arena: {second}",
        f"first, still there: {first}",
        f"third after a model was closed: {second}",
        STATUS_TEXT[Status.ARENA_TOO_SMALL],
        "unknown",
        "",
    ])


APPLICATION = Path(__file__).with_name("application.cpp")
NOISE = APPLICATION.with_name("noise.cpp")
