"""Answers of classifiers: the largest elements of an output, in words."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kiwicha.program.parts import IoTensor

__all__ = ["TOP", "largest"]

TOP = 5
"""How many elements an answer has, at most."""


def largest(
    tensor: IoTensor, values: NDArray[Any], labels: Sequence[str], count: int = TOP
) -> list[tuple[str, float]]:
    """Return the largest elements of an output, of equal ones the first, as real numbers.

    Parameters
    ----------
    tensor : IoTensor
        The output, with its quantization.
    values : ndarray
        Its elements.
    labels : sequence of str
        What each means; if they are not as many, elements have their numbers.
    count : int
        How many, at most.
    """
    flat = values.reshape(-1)
    real = flat.astype(np.float64)
    if np.issubdtype(flat.dtype, np.integer) and tensor.scale:
        real = tensor.scale * (real - tensor.zero_point)
    order = np.argsort(-real, kind="stable")[:count]
    is_named = len(labels) == len(flat)
    return [(labels[k] if is_named else str(k), float(real[k])) for k in order]
