"""Channels that change places so that layers are packed, and outputs that stay the same."""

from typing import Any

import numpy as np
import pytest

from kiwicha.compiler import compile_stages
from kiwicha.compiler.lower.lower import lower
from kiwicha.compiler.lower.network import weights_of
from kiwicha.compiler.optimize.packed_order import order_for_packing
from kiwicha.compiler.tflite.reader import read
from kiwicha.contract.engine import JobFlag, JobKind
from kiwicha.program.packed_weights import are_packable
from kiwicha.sim.reference import executor as reference
from tests.support.models.tflite_builder import ModelBuilder

SAME = 0
ZERO_POINT = 100
"""Of weights of uint8: the largest one is 155."""


def block(large: dict[str, tuple[int, ...]], *, keeps: bool = False) -> bytes:
    """Give a block of 16, 48 and 16 channels with a sum around it.

    Parameters
    ----------
    large : mapping of str to tuple of int
        Output channels of ``stem``, ``wide`` and ``narrow`` with the largest weight.
    keeps : bool
        What the wide convolution writes is an output of the model.
    """
    rng = np.random.default_rng(1)
    builder = ModelBuilder()
    options = {"strideH": 1, "strideW": 1}
    quantized: dict[str, Any] = {"scale": 0.5, "zero_point": 120}

    def image(channels: int) -> int:
        return builder.tensor((1, 6, 6, channels), np.uint8, **quantized)

    def weights(shape: tuple[int, ...], channels: tuple[int, ...]) -> int:
        data = rng.integers(40, 160, shape, np.uint8)
        data[list(channels), 0, 0, 1] = 255
        return builder.tensor(shape, np.uint8, scale=0.005, zero_point=ZERO_POINT, data=data)

    x, stem, wide, apart, narrow, y = (image(n) for n in (16, 16, 48, 48, 16, 16))
    taps = weights((16, 1, 1, 16), large.get("stem", ()))
    builder.operator("CONV_2D", [x, taps], [stem], padding=SAME, **options)
    taps = weights((48, 1, 1, 16), large.get("wide", ()))
    builder.operator("CONV_2D", [stem, taps], [wide], padding=SAME, **options)
    settings = options | {"padding": SAME, "depthMultiplier": 1}
    builder.operator("DEPTHWISE_CONV_2D", [wide, weights((1, 3, 3, 48), ())], [apart], **settings)
    taps = weights((16, 1, 1, 48), large.get("narrow", ()))
    builder.operator("CONV_2D", [apart, taps], [narrow], padding=SAME, **options)
    builder.operator("ADD", [stem, narrow], [y])
    taps, end = weights((32, 1, 1, 16), ()), image(32)
    builder.operator("CONV_2D", [y, taps], [end], padding=SAME, **options)
    return builder.build([x], [end, wide] if keeps else [end])


@pytest.mark.parametrize(
    ("large", "keeps", "packed"),
    [
        ({}, False, 4),
        # In first halves of groups they may be.
        ({"wide": (7, 16)}, False, 4),
        ({"wide": (8, 31, 47)}, False, 4),
        ({"narrow": (9,)}, False, 4),
        # What is added has one order.
        ({"stem": (9, 3), "narrow": (15,)}, False, 4),
        ({"wide": (8,)}, True, 3),
        # There are eight first places.
        ({"stem": tuple(range(2, 12))}, False, 3),
    ],
)
def test_channels_change_places(
    large: dict[str, tuple[int, ...]], keeps: bool, packed: int
) -> None:
    model = block(large, keeps=keeps)
    network = lower(read(model))
    ordered = order_for_packing(network)
    flat = [
        weights_of(layer).reshape(layer.params.output_channels, -1)
        for layer in ordered.layers
        if layer.name == "CONV_2D"
    ]
    assert sum(map(are_packable, flat)) == packed

    stages = compile_stages(model, "128")
    (made,) = stages.lists
    flags = [JobFlag(job.flags) for job in made.jobs if job.kind == JobKind.CONV]
    assert sum(bool(item & JobFlag.PACKED) for item in flags) == packed
    x = np.random.default_rng(2).integers(0, 256, (1, 6, 6, 16), np.uint8)
    usual = reference.run(compile_stages(model, "baseline").program, [x])
    got = reference.run(stages.program, [x])
    assert all(map(np.array_equal, got, usual))


def test_networks_without_large_weights_stay() -> None:
    network = lower(read(block({})))
    assert order_for_packing(network) is network
