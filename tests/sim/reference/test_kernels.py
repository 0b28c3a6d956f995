"""Pools and SOFTMAX of the reference executor against loops over single values."""

import dataclasses
import math
import random
from typing import Any

import numpy as np
import pytest

from kiwicha.contract.layout import Ref
from kiwicha.contract.program import Kernel, Pool, Softmax
from kiwicha.numerics import requantization as numerics
from tests.support.oracle import scalar
from tests.support.programs.one_step import OneStep, activation, int8s, with_output_size


@pytest.mark.parametrize(
    "kernel",
    [
        Kernel.AVERAGE_POOL,
        Kernel.MAX_POOL,
        Kernel.SIMD_MAX_POOL,
    ],
    ids=lambda kernel: kernel.name,
)
@pytest.mark.parametrize("seed", range(15))
def test_pools(kernel: Kernel, seed: int) -> None:
    rng = random.Random(f"{kernel}{seed}")
    low, high = activation(rng)
    kernel_size = (rng.randint(1, 4), rng.randint(1, 4))
    build = OneStep()
    p: Any = Pool(
        Ref(),
        Ref(),
        batches=rng.randint(1, 2),
        input_height=rng.randint(2, 6),
        input_width=rng.randint(2, 6),
        channels=4 * rng.randint(1, 2),
        output_height=0,
        output_width=0,
        kernel_height=kernel_size[0],
        kernel_width=kernel_size[1],
        stride_height=rng.randint(1, 3),
        stride_width=rng.randint(1, 3),
        pad_top=rng.randint(0, kernel_size[0] - 1),
        pad_left=rng.randint(0, kernel_size[1] - 1),
        offset=rng.choice([0, 128]) if kernel is Kernel.AVERAGE_POOL else 0,
        activation_min=low,
        activation_max=high,
    )
    p = with_output_size(p, rng)
    shape = (p.batches, p.output_height, p.output_width, p.channels)
    x = int8s(rng, p.batches, p.input_height, p.input_width, p.channels)
    p = dataclasses.replace(p, input=build.input(x), output=build.arena(math.prod(shape)))
    expected = np.empty(shape, np.int64)
    for n, oy, ox, c in np.ndindex(*shape):
        top, left = oy * p.stride_height - p.pad_top, ox * p.stride_width - p.pad_left
        window = [
            int(x[n, iy, ix, c])
            for iy in range(max(top, 0), min(top + p.kernel_height, p.input_height))
            for ix in range(max(left, 0), min(left + p.kernel_width, p.input_width))
        ]
        value = max(window)
        if kernel is Kernel.AVERAGE_POOL:
            total = sum(window) + len(window) * p.offset
            half = len(window) // 2 if total > 0 else -(len(window) // 2)
            value = scalar.truncated_quotient(total + half, len(window)) - p.offset
        expected[n, oy, ox, c] = scalar.clamp(value, low, high)
    np.testing.assert_array_equal(build.run(kernel, p, shape), expected)


def test_softmax_of_512_equal_logits_is_the_minimum() -> None:
    for depth, expected in ((511, -127), (512, -128), (4095, -128)):
        build = OneStep()
        p = Softmax(
            build.input(np.zeros((1, depth), np.int8)),
            build.arena(depth),
            build.constant(numerics.softmax_exponentials(0.1, 1.0)),
            rows=1,
            depth=depth,
            output_offset=-128,
        )
        assert set(build.run(Kernel.SOFTMAX, p, (depth,)).tolist()) == {expected}


@pytest.mark.parametrize("seed", range(6))
def test_softmax(seed: int) -> None:
    """Tables of arbitrary numbers, so that every bit of a sum comes to light."""
    rng = random.Random(seed)
    rows, depth = 4, rng.choice([1, 2, 10, 100, 300])
    falling = sorted((rng.getrandbits(rng.randint(1, 31)) for _ in range(255)), reverse=True)
    table = [2**31 - 1, *falling]
    x = int8s(rng, rows, depth)
    build = OneStep()
    p = Softmax(
        build.input(x),
        build.arena(x.size),
        build.constant(table),
        rows=rows,
        depth=depth,
        output_offset=-128,
    )
    expected = [scalar.softmax(row, table) for row in x.tolist()]
    assert build.run(Kernel.SOFTMAX, p, x.shape).tolist() == expected
    unsigned = build.run(Kernel.SOFTMAX, dataclasses.replace(p, output_offset=0), x.shape)
    assert (unsigned.view(np.uint8) - 128.0).tolist() == expected


@pytest.mark.parametrize("seed", range(4))
def test_softmax_is_near_the_real_function(seed: int) -> None:
    rng = random.Random(seed)
    rows, depth = rng.randint(1, 4), rng.randint(1, 40)
    scale = rng.choice([0.01, 0.1, 1.0])
    x = int8s(rng, rows, depth)
    build = OneStep()
    p = Softmax(
        build.input(x),
        build.arena(x.size),
        build.constant(numerics.softmax_exponentials(scale, 1.0)),
        rows=rows,
        depth=depth,
        output_offset=-128,
    )
    powers = np.exp(scale * (x - x.max(axis=1, keepdims=True).astype(np.float64)))
    expected = np.minimum(256 * powers / powers.sum(axis=1, keepdims=True), 255) - 128
    error = np.abs(build.run(Kernel.SOFTMAX, p, x.shape) - expected)
    # Rounded to nearest, from terms of 19 fraction bits.
    assert error.max() < 0.51
