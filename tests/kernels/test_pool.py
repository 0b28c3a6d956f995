"""Pools of the reference against loops over single values."""

import dataclasses
import math
import random
from typing import Any

import numpy as np
import pytest

from kiwicha.contract.layout import Ref
from kiwicha.contract.program import Kernel
from kiwicha.kernels.pool import Pool
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
