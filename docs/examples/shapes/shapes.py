"""Pictures of bars, crosses and rings: what the network of this example tells apart."""

import numpy as np
from numpy.typing import NDArray

__all__ = ["CLASSES", "SIZE", "draw"]

CLASSES = ("lying bar", "standing bar", "cross", "ring")
SIZE = 24
"""Height and width."""


def draw(count: int, seed: int) -> tuple[NDArray[np.float32], NDArray[np.int64]]:
    """Return grey pictures [count, 1, SIZE, SIZE] and their classes."""
    rng = np.random.default_rng(seed)
    classes = rng.integers(0, len(CLASSES), count)
    rows, columns = np.mgrid[:SIZE, :SIZE]
    pictures = []
    for number in classes:
        y, x = rng.uniform(8, 16, 2)
        radius, width = rng.uniform(5, 8), rng.uniform(1, 2)
        down, across = np.abs(rows - y), np.abs(columns - x)
        lying = (down < width) & (across < radius)
        standing = (across < width) & (down < radius)
        ring = np.abs(np.hypot(down, across) - radius) < width
        drawn = (lying, standing, lying | standing, ring)[number]
        pictures.append(drawn + rng.normal(0, 0.3, drawn.shape))
    return np.array(pictures, np.float32)[:, None], classes
