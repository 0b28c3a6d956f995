"""Streams on native firmware: inputs come while the inference before runs, under sanitizers."""

from pathlib import Path

import numpy as np
import pytest

from kiwicha.compiler import compile_model
from kiwicha.contract.cfu import Status
from kiwicha.firmware import native
from kiwicha.sim.reference import executor
from tests.support.choices import by_day
from tests.support.models import random_networks
from tests.support.models.two_heads import two_heads

INFERENCES = 4


def check_stream(executable: Path, model: bytes, config: str, *, double_buffer: bool) -> None:
    """Compare every inference of a stream with the reference executor."""
    program = compile_model(model, config, double_buffer=double_buffer)
    rng = np.random.default_rng(5)
    sets = [[rng.bytes(item.ref.bytes) for item in program.inputs] for _ in range(INFERENCES)]
    expected = [value.tobytes() for one in sets for value in executor.run(program, one)]
    assert len(set(expected)) > 1
    result = native.run_native(
        executable,
        program.to_bytes(),
        [raw for one in sets for raw in one],
        outputs=len(expected),
    )
    assert result.status is Status.OK, result.log
    assert list(result.outputs) == expected


@pytest.mark.parametrize("config", ["baseline", "simd"])
@pytest.mark.parametrize("seed", by_day(*range(10)))
def test_each_inference_of_a_stream_is_right(
    executables: dict[str, Path], seed: int, config: str
) -> None:
    model = random_networks.network(seed).model
    check_stream(executables[config], model, config, double_buffer=True)


def test_outputs_stay_during_the_next_inference(executables: dict[str, Path]) -> None:
    check_stream(executables["simd"], two_heads(), "simd", double_buffer=True)


def test_one_place_serves_one_inference_after_the_other(executables: dict[str, Path]) -> None:
    check_stream(executables["simd"], two_heads(), "simd", double_buffer=False)
