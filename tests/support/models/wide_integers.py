"""Models of one operator, of integers that have more than a byte."""

import random

import numpy as np

from tests.support.models.tflite_builder import ModelBuilder
from tests.support.oracle.sequences import Arrays

__all__ = ["requantized", "short_probabilities"]

_PAIRS = (
    *((np.int16, np.int8), (np.int8, np.int16), (np.int8, np.int32), (np.int16, np.int16)),
    *((np.int16, np.int32), (np.int32, np.int8), (np.int32, np.int16)),
)


def requantized(rng: random.Random) -> tuple[bytes, Arrays]:
    """Return a QUANTIZE of integers, and an input."""
    source, target = rng.choice(_PAIRS)
    limits = np.iinfo(source)
    numbers = np.random.default_rng(rng.randrange(2**32))
    shape = (rng.randint(1, 4), rng.randint(1, 50))
    # Of int32, what differs from the zero point by an int32.
    low, high = max(limits.min, -(2**30)), min(limits.max, 2**30)
    values = numbers.integers(low, high, shape, endpoint=True).astype(source)
    scale = rng.uniform(0.001, 0.1)
    ratio = 2.0 ** rng.uniform(-3, 2) * np.iinfo(source).max / np.iinfo(target).max
    builder = ModelBuilder("wide")
    x = builder.tensor(shape, source, scale=scale, zero_point=rng.randint(-128, 127))
    y = builder.tensor(shape, target, scale=scale * ratio, zero_point=rng.randint(-128, 127))
    builder.operator("QUANTIZE", [x], [y])
    return builder.build([x], [y]), (values,)


def short_probabilities(rng: random.Random) -> tuple[bytes, Arrays]:
    """Return a SOFTMAX with results of int16, and an input."""
    numbers = np.random.default_rng(rng.randrange(2**32))
    shape = (rng.randint(1, 4), rng.choice([1, 2, 3, 10, 70, 300]))
    values = numbers.integers(-128, 128, shape).astype(np.int8)
    builder = ModelBuilder("probabilities")
    x = builder.tensor(shape, scale=rng.uniform(0.001, 0.3), zero_point=rng.randint(-128, 127))
    y = builder.tensor(shape, np.int16, scale=1 / 65536, zero_point=-32768)
    builder.operator("SOFTMAX", [x], [y], beta=rng.choice([1.0, 0.5]))
    return builder.build([x], [y]), (values,)
