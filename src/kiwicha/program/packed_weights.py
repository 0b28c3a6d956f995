"""Which weights two products per multiplier take, of the first and of the second output."""

import numpy as np
from numpy.typing import NDArray

from kiwicha.contract.engine import (
    INPUT_LANES,
    OUTPUT_BYTES,
    PACKED_WEIGHT_LIMIT,
    PACKED_WEIGHTS_LIMIT,
)

__all__ = ["are_first", "are_packable", "are_second", "is_first"]

Weights = NDArray[np.int16] | NDArray[np.int64]


def is_first(channels: int) -> NDArray[np.bool_]:
    """Return which channels of an output are in the first halves of their groups.

    Parameters
    ----------
    channels : int
        How many there are.
    """
    first: NDArray[np.bool_] = np.arange(channels) // OUTPUT_BYTES % 2 == 0
    return first


def are_second(weights: Weights) -> NDArray[np.bool_]:
    """Return which channels may be in any half: the second weight has 8 bits beside the first.

    Parameters
    ----------
    weights : int16 or int64 [channels, products]
        In any order.
    """
    small: NDArray[np.bool_] = np.abs(weights).max(axis=1, initial=0) <= PACKED_WEIGHT_LIMIT
    return small


def are_first(weights: Weights) -> NDArray[np.bool_]:
    """Return which channels may be in the first half: the sum of each word's products fits there.

    The largest weights count as if they were in one word.

    Parameters
    ----------
    weights : int16 or int64 [channels, products]
        In any order.
    """
    sizes = np.abs(weights)
    if sizes.shape[1] > INPUT_LANES:
        sizes = np.partition(sizes, -INPUT_LANES, axis=1)[:, -INPUT_LANES:]
    fitting: NDArray[np.bool_] = sizes.sum(axis=1) <= PACKED_WEIGHTS_LIMIT
    return fitting


def are_packable(weights: Weights) -> bool:
    """Return whether all channels of a job may be where they are.

    Parameters
    ----------
    weights : int16 or int64 [channels, products]
        In any order.
    """
    is_small = are_second(weights)
    if is_small.all():
        return True
    others = ~is_small
    return bool(is_first(len(weights))[others].all() and are_first(weights[others]).all())
