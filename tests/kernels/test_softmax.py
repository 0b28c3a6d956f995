"""SOFTMAX of the reference against loops over single values."""

import dataclasses
import random

import numpy as np
import pytest

from kiwicha.contract.layout import Ref
from kiwicha.contract.program import Kernel
from kiwicha.kernels.softmax import Softmax, pair_outputs
from kiwicha.numerics import requantization as numerics
from tests.support.oracle import scalar
from tests.support.programs.one_step import OneStep, int8s


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
            pairs=Ref(),
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
        pairs=Ref(),
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
        pairs=Ref(),
    )
    powers = np.exp(scale * (x - x.max(axis=1, keepdims=True).astype(np.float64)))
    expected = np.minimum(256 * powers / powers.sum(axis=1, keepdims=True), 255) - 128
    error = np.abs(build.run(Kernel.SOFTMAX, p, x.shape) - expected)
    # Rounded to nearest, from terms of 19 fraction bits.
    assert error.max() < 0.51


@pytest.mark.parametrize("offset", [-128, 0])
@pytest.mark.parametrize("scale", [0.003, 0.05, 1.0])
def test_outputs_of_pairs_are_those_of_rows(scale: float, offset: int) -> None:
    first, second = (x.reshape(-1) for x in np.meshgrid(*[np.arange(-128, 128, 5)] * 2))
    rows = np.stack([first, second], axis=1).astype(np.int8)
    exponentials = numerics.softmax_exponentials(scale, 1.0)
    build = OneStep()
    p = Softmax(
        build.input(rows),
        build.arena(rows.size),
        build.constant(exponentials),
        rows=len(rows),
        depth=2,
        output_offset=offset,
        pairs=Ref(),
    )
    expected = build.run(Kernel.SOFTMAX, p, rows.shape).view(np.uint8)
    outputs = pair_outputs(exponentials, offset)
    np.testing.assert_array_equal(outputs[255 + first - second], expected[:, 0])
    np.testing.assert_array_equal(outputs[255 + second - first], expected[:, 1])
