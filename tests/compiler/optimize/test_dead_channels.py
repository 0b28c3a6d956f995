"""Channels that go and channels that stay, and outputs that stay the same."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

from kiwicha.compiler import compile_model
from kiwicha.compiler.lower.lower import lower
from kiwicha.compiler.lower.network import Network
from kiwicha.compiler.optimize.dead_channels import eliminate_dead_channels
from kiwicha.compiler.tflite.reader import read
from kiwicha.sim.reference import executor as reference
from tests.support.models import random_networks
from tests.support.models.tflite_builder import ModelBuilder

SAME, VALID = 0, 1


@dataclass
class Chain:
    """A 1x1 convolution of 32 channels, a 3x3 depthwise and a 1x1 convolution of 16.

    Parameters
    ----------
    dead : int
        Channels of the first whose weights are 0.
    value : int
        What they hold then; the zero point is 5.
    padding : int
        Of the depthwise convolution.
    unread : int
        Last channels that the last convolution does not read.
    keeps : bool
        The tensor between is an output of the model.
    """

    dead: int = 0
    value: int = 5
    padding: int = SAME
    unread: int = 0
    keeps: bool = False

    def model(self) -> bytes:
        """Give the model."""
        rng = np.random.default_rng(1)
        builder = ModelBuilder()
        quantized: dict[str, Any] = {"scale": 0.5, "zero_point": 5}
        size = 6 if self.padding == SAME else 4
        x = builder.tensor((1, 6, 6, 8), **quantized)
        a = builder.tensor((1, 6, 6, 32), **quantized)
        b = builder.tensor((1, size, size, 32), **quantized)
        y = builder.tensor((1, size, size, 16), **quantized)
        first = rng.integers(-127, 128, (32, 1, 1, 8), np.int8)
        first[: self.dead] = 0
        # The input's scale times that of the weights is the bias's: (value - 5) * 0.5 / 0.005.
        bias = np.where(np.arange(32) < self.dead, (self.value - 5) * 100, 17).astype(np.int32)
        last = rng.integers(-127, 128, (16, 1, 1, 32), np.int8)
        last[..., 32 - self.unread :] = 0
        options = {"strideH": 1, "strideW": 1}
        operands = [
            builder.tensor(first.shape, scale=0.01, data=first),
            builder.tensor((32,), np.int32, scale=0.005, data=bias),
        ]
        builder.operator("CONV_2D", [x, *operands], [a], padding=SAME, **options)
        taps = rng.integers(-127, 128, (1, 3, 3, 32), np.int8)
        weights = builder.tensor(taps.shape, scale=0.002, data=taps)
        settings = options | {"padding": self.padding, "depthMultiplier": 1}
        builder.operator("DEPTHWISE_CONV_2D", [a, weights], [b], **settings)
        weights = builder.tensor(last.shape, scale=0.002, data=last)
        builder.operator("CONV_2D", [b, weights], [y], padding=SAME, **options)
        return builder.build([x], [y, a] if self.keeps else [y])


def channels(network: Network) -> list[int]:
    return [layer.params.output_channels for layer in network.layers]


def shapes(network: Network) -> list[tuple[int, ...]]:
    return [tensor.shape for tensor in network.graph.tensors]


@pytest.mark.parametrize(
    ("chain", "expected"),
    [
        (Chain(), [32, 32, 16]),
        (Chain(dead=20), [16, 16, 16]),
        (Chain(dead=24), [8, 8, 16]),
        (Chain(dead=32), [8, 8, 16]),
        # A constant that is not the zero point stays where windows reach over the border.
        (Chain(dead=20, value=9), [32, 32, 16]),
        (Chain(dead=20, value=9, padding=VALID), [16, 16, 16]),
        (Chain(unread=9), [24, 24, 16]),
        (Chain(dead=9, unread=9), [16, 16, 16]),
        (Chain(dead=20, keeps=True), [32, 32, 16]),
    ],
)
def test_channels_that_are_left(chain: Chain, expected: list[int]) -> None:
    raw = chain.model()
    network = lower(read(raw))
    fewer = eliminate_dead_channels(network)
    assert channels(network) == [32, 32, 16]
    assert channels(fewer) == expected
    # The layers in between agree on their channels, and so do tensors and weights.
    for layer in fewer.layers:
        p = layer.params
        source, output = (fewer.graph.tensors[layer.tensors[n]] for n in ("input", "output"))
        assert (source.shape[3], output.shape[3]) == (p.input_channels, p.output_channels)
        taps = p.kernel_height * p.kernel_width * p.output_channels
        depth = 1 if layer.name == "DEPTHWISE_CONV_2D" else p.input_channels
        assert layer.constants["weights"].size == taps * depth
        assert len(layer.constants["bias"]) == p.output_channels

    x = np.random.default_rng(2).integers(-128, 128, (1, 6, 6, 8), np.int8)
    whole = reference.run(compile_model(raw, "baseline"), [x])
    for is_fewer in (True, False):
        program = compile_model(raw, "64", eliminate=is_fewer)
        for got, wanted in zip(reference.run(program, [x]), whole, strict=True):
            assert np.array_equal(got, wanted)


def test_what_only_dropped_channels_read_goes_too() -> None:
    # Eight channels read only eight of the layer before, and the last layer reads only those.
    reads = np.kron(np.eye(3, dtype=np.int8), np.ones((8, 8), np.int8))
    builder = ModelBuilder()
    first = tensor = builder.tensor((1, 3, 3, 24), scale=0.5)
    for taps in (np.ones_like(reads), reads, reads, reads[:8]):
        weights = builder.tensor((len(taps), 1, 1, 24), scale=0.01, data=taps)
        operands, tensor = [tensor, weights], builder.tensor((1, 3, 3, len(taps)), scale=0.5)
        builder.operator("CONV_2D", operands, [tensor], padding=SAME, strideH=1, strideW=1)
    fewer = eliminate_dead_channels(lower(read(builder.build([first], [tensor]))))
    assert channels(fewer) == [8, 8, 8, 8]
    assert shapes(eliminate_dead_channels(fewer)) == shapes(fewer)


@pytest.mark.slow
@pytest.mark.parametrize("first", [0, 20])
def test_random_networks_lose_channels(first: int) -> None:
    lost = 0
    for seed in range(first, first + 20):
        case = random_networks.engine_network(seed)
        network = lower(read(case.model))
        fewer = eliminate_dead_channels(network)
        assert shapes(eliminate_dead_channels(fewer)) == shapes(fewer)
        counts = [
            sum(layer.params.output_channels for layer in item.layers if layer.name == "CONV_2D")
            for item in (network, fewer)
        ]
        lost += counts[0] - counts[1]
        whole = reference.run(compile_model(case.model, "baseline"), case.inputs)
        got = reference.run(compile_model(case.model, "64"), case.inputs)
        assert all(map(np.array_equal, whole, got))
    assert lost > 50


def test_vww_becomes_dense(zoo_model) -> None:
    network = lower(read(zoo_model("mlperf_vww_96_int8").read_bytes()))
    fewer = eliminate_dead_channels(network)
    sizes = [
        sum(
            layer.constants["weights"].size for layer in item.layers if "weights" in layer.constants
        )
        for item in (network, fewer)
    ]
    assert sizes[0] > 200_000
    assert sizes[1] < 60_000
