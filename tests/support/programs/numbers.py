"""Random integers of any width, extremes among them, and their bytes."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["raw", "shorts", "words"]


def raw(values: NDArray[Any]) -> NDArray[np.int8]:
    """Give the bytes of numbers, in one dimension."""
    return np.ascontiguousarray(values).reshape(-1).view(np.int8)


def shorts(rng: np.random.Generator, *shape: int) -> NDArray[np.int16]:
    """Give random numbers, quiet or loud, now and then with the extremes."""
    found = rng.integers(-(2**15), 2**15, shape) >> rng.integers(0, 15)
    extremes = rng.choice([-(2**15), 2**15 - 1], shape)
    return np.where(rng.random(shape) < rng.choice([0, 0.3]), extremes, found).astype(np.int16)


def words(rng: np.random.Generator, *shape: int, bits: int = 32) -> NDArray[np.uint64]:
    """Give random numbers of all sizes."""
    found = (
        rng.integers(0, 2**bits, shape, np.uint64, endpoint=False)
        if bits < 64
        else (rng.integers(0, 2**64 - 1, shape, np.uint64, endpoint=True))
    )
    return found >> rng.integers(0, bits, shape, np.uint64)
