"""LOG_SOFTMAX of the reference against the real function."""

import dataclasses
import random

import numpy as np
import pytest

from kiwicha.contract.program import Kernel
from kiwicha.kernels.log_softmax import LogSoftmax
from kiwicha.numerics.logarithm import log_softmax_distances
from kiwicha.numerics.requantization import softmax_exponentials
from tests.support.programs.one_step import OneStep, int8s


@pytest.mark.parametrize("seed", range(6))
def test_log_softmax_is_near_the_real_function(seed: int) -> None:
    rng = random.Random(seed)
    rows, depth = rng.randint(1, 4), rng.choice([1, 2, 10, 100, 4095])
    scale = rng.choice([0.001, 0.02, 0.08])
    x = int8s(rng, rows, depth)
    build = OneStep()
    p = LogSoftmax(
        build.input(x),
        build.arena(x.size),
        build.constant(softmax_exponentials(scale, 1.0)),
        build.constant(log_softmax_distances(scale)),
        rows=rows,
        depth=depth,
        output_offset=127,
    )
    real = scale * x.astype(np.float64)
    real -= np.log(np.exp(real).sum(axis=1, keepdims=True))
    found = build.run(Kernel.LOG_SOFTMAX, p, x.shape)
    assert np.abs(found - (16 * real + 127).clip(-128, 127)).max() < 0.501
    unsigned = build.run(Kernel.LOG_SOFTMAX, dataclasses.replace(p, output_offset=255), x.shape)
    assert (unsigned.view(np.uint8) - 128.0).tolist() == found.tolist()
