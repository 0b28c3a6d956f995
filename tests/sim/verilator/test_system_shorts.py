"""Layers of int16 on the simulated system, as RTL computes them, and their pace."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from kiwicha.compiler import compile_stages
from kiwicha.compiler.engine.cost.cycles import predict_program
from kiwicha.contract.program import Kernel
from kiwicha.sim.verilator.program_run import run_program
from tests.support.choices import by_day
from tests.support.models.convolution_chain import (
    convolution_chain,
    decoder_chain,
    element_layer,
    mixed_chain,
    residual_chain,
    summing_chain,
)
from tests.support.oracle import oracle

pytestmark = [pytest.mark.verilator, pytest.mark.nightly]

SHAPE, CHANNELS = (1, 10, 10, 16), 64
PACE = 0.45
"""Of int8, at least."""


def run(
    kind: Any,
    config: str,
    shape: tuple[int, ...] = SHAPE,
    channels: int = CHANNELS,
    chain: Callable[[Any, tuple[int, ...], int], bytes] = convolution_chain,
) -> int:
    """Run a chain, compare every byte and the prediction; return its cycles."""
    return run_model(chain(kind, shape, channels), kind, config, shape, 1)


def run_model(raw: bytes, kind: Any, config: str, shape: tuple[int, ...], count: int) -> int:
    """Do so with a model of some inputs."""
    limits, rng = np.iinfo(kind), np.random.default_rng(2)
    inputs = tuple(
        rng.integers(limits.min, limits.max + 1, shape).astype(kind) for _ in range(count)
    )
    (answer,) = oracle.ask([oracle.Case(raw, inputs, oracle.MICRO)], oracle.MICRO)
    assert answer.outputs is not None
    assert len(np.unique(answer.outputs[0])) > min(60, answer.outputs[0].size // 2)
    stages = compile_stages(raw, config)
    assert [step.kernel for step in stages.program.steps] == [Kernel.ENGINE]
    result = run_program(stages.program, [x.tobytes() for x in inputs], inferences=2)
    assert result.outputs == tuple(output.tobytes() for output in answer.outputs)
    predicted, _ = predict_program(stages.program)
    assert abs(predicted / result.last_cycles - 1) < 0.05
    return result.last_cycles


@pytest.mark.parametrize("config", by_day("64-int16", "128-int16"))
def test_int16_has_nearly_half_the_pace_of_int8(config: str) -> None:
    """With the moves that bring the input to planes, and planes to the output."""
    assert run(np.int8, config) / run(np.int16, config) >= PACE


@pytest.mark.parametrize("config", by_day("64-int16", "128-int16"))
@pytest.mark.parametrize(("shape", "channels"), [((2, 9, 7, 1), 20), ((1, 40, 40, 3), 24)])
def test_pixels_of_few_channels(config: str, shape: tuple[int, ...], channels: int) -> None:
    """Planes of the input are rows; large images come in stripes."""
    assert run(np.int16, config, shape, channels) > 0


@pytest.mark.parametrize("config", by_day("64-int16", "128-int16"))
@pytest.mark.parametrize("chain", [decoder_chain, summing_chain])
def test_phases_blocks_of_channels_and_sums(
    chain: Callable[[Any, tuple[int, ...], int], bytes], config: str
) -> None:
    """TRANSPOSE_CONV, a DEPTHWISE_CONV_2D with two outputs for each channel, pools and means."""
    assert run(np.int16, config, (1, 6, 7, 16), 32, chain) > 0


@pytest.mark.parametrize("config", by_day("64-int16", "128-int16"))
def test_residual_blocks_have_nearly_half_the_pace_of_int8(config: str) -> None:
    """One list, without a step of the CPU, for two CONV_2D and an ADD behind another CONV_2D."""
    paces = [run(kind, config, chain=residual_chain) for kind in (np.int8, np.int16)]
    assert paces[0] / paces[1] >= PACE


@pytest.mark.parametrize("config", by_day("64-int16", "128-int16", "256-int16"))
def test_numbers_between_convolutions(config: str) -> None:
    """LEAKY_RELU, LOGISTIC, MUL, MAX_POOL_2D, TANH and SUB, in planes."""
    assert run(np.int16, config, chain=mixed_chain) > 0


@pytest.mark.parametrize("config", by_day("64-int16", "256-int16"))
@pytest.mark.parametrize(
    "operator", ["ADD", "SUB", "MUL", "LEAKY_RELU", "LOGISTIC", "TANH", "MAX_POOL_2D"]
)
def test_lone_layers(operator: str, config: str) -> None:
    """Numbers as they lie in the arena, in stripes."""
    shape = (1, 20, 20, 40)
    count = 2 if operator in {"ADD", "SUB", "MUL"} else 1
    raw = element_layer(np.int16, shape, operator)
    assert run_model(raw, np.int16, config, shape, count) > 0
