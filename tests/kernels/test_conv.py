"""Convolutions of the reference executor against loops over single values."""

import dataclasses
import itertools
import math
import random
from typing import Any

import numpy as np
import pytest

from kiwicha.contract.layout import Ref
from kiwicha.contract.program import Kernel
from kiwicha.kernels import weight_order as packing
from kiwicha.kernels.conv import Conv
from tests.support.oracle import scalar
from tests.support.programs.one_step import OneStep, activation, int8s, scales, with_output_size


def make_conv(rng: random.Random, *, is_depthwise: bool, is_simple: bool, lanes: int = 1) -> Any:
    """Give random parameters without references."""
    multiplier = 1 if is_simple or not is_depthwise else rng.randint(1, 3)
    channels = rng.randint(1, 9) * lanes
    kernel = [1, 1] if is_simple and not is_depthwise else [rng.randint(1, 4), rng.randint(1, 4)]
    padded = kernel != [1, 1]
    stride = [1, 1] if is_simple and not is_depthwise else [rng.randint(1, 3), rng.randint(1, 3)]
    return Conv(
        *[Ref()] * 7,
        batches=rng.randint(1, 2),
        input_height=rng.randint(1, 7),
        input_width=rng.randint(1, 7),
        input_channels=channels,
        output_height=0,
        output_width=0,
        output_channels=channels * multiplier if is_depthwise else rng.randint(1, 9),
        kernel_height=kernel[0],
        kernel_width=kernel[1],
        stride_height=stride[0],
        stride_width=stride[1],
        dilation_height=rng.randint(1, 2) if padded else 1,
        dilation_width=rng.randint(1, 2) if padded else 1,
        pad_top=rng.randint(0, 2) if padded else 0,
        pad_left=rng.randint(0, 2) if padded else 0,
        depth_multiplier=multiplier,
        tile_pixels=4,
        input_offset=rng.choice([-127, 128, rng.randint(-127, 128)]),
        weight_offset=rng.choice([0, 0, -127, 127, rng.randint(-127, 127)]),
        output_offset=rng.choice([-128, 127, rng.randint(-128, 127)]),
        activation_min=0,
        activation_max=0,
    )


def conv_sum(p: Any, x: Any, weights: Any, n: int, oy: int, ox: int, oc: int) -> int:
    """Sum the taps inside the input; weights are [OC, KH, KW, IC], or [KH, KW, OC] of depthwise."""
    total = 0
    for ky, kx in itertools.product(range(p.kernel_height), range(p.kernel_width)):
        iy = oy * p.stride_height - p.pad_top + ky * p.dilation_height
        ix = ox * p.stride_width - p.pad_left + kx * p.dilation_width
        if not (0 <= iy < p.input_height and 0 <= ix < p.input_width):
            continue
        if weights.ndim == 3:
            value = int(x[n, iy, ix, oc // p.depth_multiplier])
            total += (value + p.input_offset) * int(weights[ky, kx, oc])
            continue
        for ic in range(p.input_channels):
            value = int(x[n, iy, ix, ic])
            total += (value + p.input_offset) * int(weights[oc, ky, kx, ic])
    return total


CONVOLUTIONS = [
    Kernel.CONV,
    Kernel.SIMD_CONV,
    Kernel.SIMD_CONV_1X1,
    Kernel.FULLY_CONNECTED,
    Kernel.SIMD_FULLY_CONNECTED,
    Kernel.DEPTHWISE_CONV,
    Kernel.SIMD_DEPTHWISE_CONV,
]


@pytest.mark.parametrize("kernel", CONVOLUTIONS, ids=lambda kernel: kernel.name)
@pytest.mark.parametrize("seed", range(12))
def test_convolutions(kernel: Kernel, seed: int) -> None:
    rng = random.Random(f"{kernel}{seed}")
    name = kernel.name
    is_depthwise, is_simd = "DEPTHWISE" in name, name.startswith("SIMD")
    is_simple = (is_depthwise and is_simd) or "1X1" in name or "FULLY" in name
    lanes = 4 if is_simd and is_simple else 1
    p = make_conv(rng, is_depthwise=is_depthwise, is_simple=is_simple, lanes=lanes)
    p = with_output_size(p, rng)
    if "FULLY" in name:
        p = dataclasses.replace(p, input_height=1, input_width=1, output_height=1, output_width=1)
    x = int8s(rng, p.batches, p.input_height, p.input_width, p.input_channels)
    if is_depthwise:
        weights = int8s(rng, p.kernel_height, p.kernel_width, p.output_channels)
        packed = packing.pack_depthwise(weights[None]) if is_simd else weights
    else:
        window = (p.kernel_height, p.kernel_width, p.input_channels)
        weights = int8s(rng, p.output_channels, *window)
        packed = packing.pack_conv(weights) if is_simd else weights
    taps = math.prod(weights.shape) if is_depthwise else weights[0].size
    largest = 255 * 128 * taps
    multiplier, shift = scales(rng, p.output_channels, largest)
    bias = [rng.choice([0, 2**31 - 1, rng.randint(-largest, largest)]) for _ in multiplier]
    low, high = activation(rng)
    build = OneStep()
    padding = [0] * (-len(bias) % 4) if is_simd else []
    p = dataclasses.replace(
        p,
        activation_min=low,
        activation_max=high,
        input=build.input(x),
        weights=build.constant(packed, np.int8),
        bias=build.constant(bias + padding),
        multiplier=build.constant(multiplier + padding),
        shift=build.constant(shift + padding),
        output=build.arena(p.batches * p.output_height * p.output_width * p.output_channels),
        scratch=build.arena(64) if is_simd else Ref(),
    )
    shape = (p.batches, p.output_height, p.output_width, p.output_channels)
    actual = build.run(kernel, p, shape)
    expected = np.empty(shape, np.int64)
    for n, oy, ox, oc in np.ndindex(*shape):
        total = conv_sum(p, x, weights.astype(int) + p.weight_offset, n, oy, ox, oc) + bias[oc]
        expected[n, oy, ox, oc] = scalar.requantize(
            total, multiplier[oc], shift[oc], p.output_offset, low, high
        )
    np.testing.assert_array_equal(actual, expected)


def test_sums_of_many_products_are_exact() -> None:
    """258 extreme products fit 24 bits, 259 do not: both sides of the choice of precision.

    259 products of 255 and 255 are an odd sum above 2**24, which single precision cannot hold.
    """
    for depth in (258, 259, 601, 70001):
        for x, weight in ((-128, -128), (-128, 127), (127, -128)):
            offset, weight_offset = (-127 if value < 0 else 128 for value in (x, weight))
            product = (x + offset) * (weight + weight_offset)
            build = OneStep()
            # Accumulators wrap at 32 bits; the scale keeps their low bits visible.
            total = scalar.wrap(depth * product - 1)
            p = dataclasses.replace(
                make_conv(random.Random(0), is_depthwise=False, is_simple=True),
                batches=1,
                input_height=1,
                input_width=1,
                output_height=1,
                output_width=1,
                input_channels=depth,
                output_channels=1,
                input_offset=offset,
                weight_offset=weight_offset,
                output_offset=0,
                activation_min=-128,
                activation_max=127,
                input=build.input(np.full((1, depth), x, np.int8)),
                weights=build.constant(np.full(depth, weight), np.int8),
                bias=build.constant([-1 - total + 77]),
                multiplier=build.constant([2**30]),
                shift=build.constant([1]),
                output=build.arena(1),
            )
            actual = build.run(Kernel.FULLY_CONNECTED, p, (1, 1))
            assert actual == scalar.wrap(depth * product - 1 - total + 77)


def test_no_bias_is_a_bias_of_zero() -> None:
    build = OneStep()
    p = Conv(
        build.input(np.array([[3]], np.int8)),
        build.constant([5], np.int8),
        Ref(),
        build.constant([2**30]),
        build.constant([1]),
        build.arena(1),
        Ref(),
        *[1] * 11,
        *[1, 1, 0, 0, 1, 4],
        input_offset=0,
        weight_offset=0,
        output_offset=0,
        activation_min=-128,
        activation_max=127,
    )
    assert build.run(Kernel.CONV, p, (1,)) == 15
