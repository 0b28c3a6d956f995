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
    raw = chain(kind, shape, channels)
    limits = np.iinfo(kind)
    x = np.random.default_rng(2).integers(limits.min, limits.max + 1, shape).astype(kind)
    (answer,) = oracle.ask([oracle.Case(raw, (x,), oracle.MICRO)], oracle.MICRO)
    assert answer.outputs is not None
    assert len(np.unique(answer.outputs[0])) > min(60, answer.outputs[0].size // 2)
    stages = compile_stages(raw, config)
    assert [step.kernel for step in stages.program.steps] == [Kernel.ENGINE]
    result = run_program(stages.program, [x.tobytes()], inferences=2)
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
