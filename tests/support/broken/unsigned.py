"""uint8 models that break one rule each, and the refusals."""

from collections.abc import Callable
from typing import Any

import numpy as np

from tests.support.models.one_operator import UNSIGNED, Model, conv, unary

__all__ = ["BROKEN_UNSIGNED"]


def reduced(code: str, y: tuple[int, ...], **options: Any) -> bytes:
    """Give a model that reduces the rows of 3 x 2 numbers."""
    model = Model()
    operands = [model.activation("x", (3, 2), **UNSIGNED), model.parameters([1])]
    return model.single(code, operands, model.activation("y", y, **UNSIGNED), **options)


BROKEN_UNSIGNED: list[tuple[Callable[[], bytes], str]] = [
    (
        lambda: unary("RESHAPE", {"dtype": np.uint8}, {}),
        "operator 0 RESHAPE: activations and weights must be all int8 or all uint8, not both",
    ),
    (
        lambda: conv(w={"dtype": np.uint8}),
        "operator 0 CONV_2D: activations and weights must be all int8 or all uint8, not both",
    ),
    (
        lambda: unary("RESHAPE", UNSIGNED | {"zero_point": 256}, UNSIGNED),
        "operator 0 RESHAPE (x): input's zero point must be 0 to 255, not 256",
    ),
    (
        lambda: conv(UNSIGNED, UNSIGNED | {"scale": [0.1, 0.1, 0.1]}, y=UNSIGNED),
        "operator 0 CONV_2D (w): uint8 weights must have one scale, not 3",
    ),
    (
        lambda: conv(UNSIGNED, UNSIGNED | {"zero_point": -1}, y=UNSIGNED),
        "operator 0 CONV_2D (w): weights' zero point must be 0 to 255, not -1",
    ),
    (
        lambda: conv(UNSIGNED, UNSIGNED, {"scale": 5.0}, UNSIGNED),
        "operator 0 CONV_2D (b): bias scale must be 0.0500000007, not 5",
    ),
    (
        lambda: reduced("SUM", (3,), keepDims=True),
        "operator 0 SUM (y): output must be [3, 1], as keep_dims says, not [3]",
    ),
    (
        lambda: reduced("REDUCE_MAX", (3, 1)),
        "operator 0 REDUCE_MAX (y): output must be [3], as keep_dims says, not [3, 1]",
    ),
    (
        lambda: unary("SOFTMAX", UNSIGNED, UNSIGNED | {"scale": 1 / 256}, beta=1.0),
        (
            "operator 0 SOFTMAX (y): output scale and zero point must be 0.00390625 and 0, "
            "not 0.00390625 and 128"
        ),
    ),
]
