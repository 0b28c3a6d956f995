"""uint8 models that break one rule each, and the refusals."""

from collections.abc import Callable

import numpy as np

from tests.support.models.one_operator import UNSIGNED, conv, unary

__all__ = ["BROKEN_UNSIGNED"]

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
        lambda: unary("SOFTMAX", UNSIGNED, UNSIGNED | {"scale": 1 / 256}, beta=1.0),
        (
            "operator 0 SOFTMAX (y): output scale and zero point must be 0.00390625 and 0, "
            "not 0.00390625 and 128"
        ),
    ),
]
