"""Models that break a support rule of products of two matrices."""

from collections.abc import Callable
from typing import Any

import numpy as np

from tests.support.models.one_operator import Model

__all__ = ["BROKEN_PRODUCTS"]

Shape = tuple[int, ...]


def _product(a: Shape, b: Shape, y: Shape, scale: float = 0.5, **options: Any) -> bytes:
    model = Model()
    operands = [model.activation("a", a, scale=scale), model.activation("b", b, scale=scale)]
    return model.single("BATCH_MATMUL", operands, model.activation("y", y), **options)


def _connected(**weights: Any) -> bytes:
    """Give a FULLY_CONNECTED whose weights are an input of the model."""
    model = Model()
    operands = [model.activation("x", (2, 4)), model.activation("w", (3, 4), **weights)]
    return model.single("FULLY_CONNECTED", operands, model.activation("y", (2, 3)))


BROKEN_PRODUCTS: list[tuple[Callable[[], bytes], str]] = [
    (
        lambda: _product((4,), (4, 3), (3,)),
        "operator 0 BATCH_MATMUL (a): input 1 must have 2 to 5 dimensions, not [4]",
    ),
    (
        lambda: _product((2, 4), (1, 1, 1, 1, 4, 3), (1, 1, 1, 1, 2, 3)),
        (
            "operator 0 BATCH_MATMUL (b): input 2 must have 2 to 5 dimensions, "
            "not [1, 1, 1, 1, 4, 3]"
        ),
    ),
    (
        lambda: _product((2, 4), (4, 3), (2, 3), adjX=True),
        (
            "operator 0 BATCH_MATMUL (a): rows of input 1 must be as long as columns of input 2, "
            "4, not 2; operator 0 BATCH_MATMUL (y): output must be [4, 3], not [2, 3]"
        ),
    ),
    (
        lambda: _product((2, 2, 4), (3, 4, 3), (2, 2, 3)),
        "operator 0 BATCH_MATMUL: input shapes must broadcast, not [2, 2, 4] and [3, 4, 3]",
    ),
    (
        lambda: _product((2, 4), (3, 4), (2, 4), adjY=True),
        "operator 0 BATCH_MATMUL (y): output must be [2, 3], not [2, 4]",
    ),
    (
        lambda: _product((2, 4), (4, 3), (2, 3), scale=2.0**15),
        (
            "operator 0 BATCH_MATMUL (y): input scales' product / output scale must be less than "
            "2**30, not 2**31 or more"
        ),
    ),
    (
        lambda: _connected(dtype=np.int16),
        (
            "operator 0 FULLY_CONNECTED (w): computed weights and their input must be int8, "
            "not int16"
        ),
    ),
    (
        lambda: _connected(scale=[0.5, 0.25, 0.5]),
        (
            "operator 0 FULLY_CONNECTED (w): matrix of weights must have one scale, not 3; "
            "model (w): model input must have one scale, not 3"
        ),
    ),
    (
        lambda: _connected(zero_point=128),
        (
            "operator 0 FULLY_CONNECTED (w): matrix of weights's zero point must be -128 to 127, "
            "not 128; model (w): model input's zero point must be -128 to 127, not 128"
        ),
    ),
    (
        lambda: _connected(scale=None),
        "operator 0 FULLY_CONNECTED (w): weights must have a scale and a zero point, not none",
    ),
]
