"""Tensors that break one rule each of what holds for all tensors, and the refusals."""

from collections.abc import Callable

import numpy as np

from tests.support.models.one_operator import conv, mean, unary, variable

__all__ = ["BROKEN_TENSORS"]

BROKEN_TENSORS: list[tuple[Callable[[], bytes], str]] = [
    (
        lambda: unary("RESHAPE", {"shape": (1, 0)}, {"shape": (1, 1)}),
        "operator 0 RESHAPE (x): input must have dimensions of 1 or more, not [1, 0]",
    ),
    (
        lambda: unary("RESHAPE", {"shape_signature": (-1, -1, 4, 2)}, {}),
        "operator 0 RESHAPE (x): input must have a fixed shape, not [-1, -1, 4, 2]",
    ),
    (
        lambda: unary("RESHAPE", {"shape": (1,) * 7}, {"shape": (1,)}),
        "operator 0 RESHAPE (x): input must have at most 6 dimensions, not 7",
    ),
    (
        lambda: unary("RESHAPE", {"scale": None}, {}),
        "operator 0 RESHAPE (x): input must have a scale and a zero point, not none",
    ),
    (
        lambda: unary("RESHAPE", {}, {"scale": [0.5, 0.5]}),
        "operator 0 RESHAPE (y): output must have one scale, not 2",
    ),
    (
        lambda: unary("RESHAPE", {}, {"scale": float("nan")}),
        "operator 0 RESHAPE (y): output's scale must be finite and more than 0, not nan",
    ),
    (
        lambda: unary("RESHAPE", {"scale": 0.0}, {}),
        "operator 0 RESHAPE (x): input's scale must be finite and more than 0, not 0.0",
    ),
    (
        lambda: unary("RESHAPE", {"zero_point": 128}, {}),
        "operator 0 RESHAPE (x): input's zero point must be -128 to 127, not 128",
    ),
    (variable, "operator 0 ADD (state): input 2 must not be a variable tensor"),
    (
        lambda: conv(w={"data": None}),
        "operator 0 CONV_2D (w): weights must be a dense constant",
    ),
    (
        lambda: conv(w={"scale": None}),
        "operator 0 CONV_2D (w): weights must have scales and zero points, not none",
    ),
    (
        lambda: conv(w={"zero_point": 3}),
        "operator 0 CONV_2D (w): weights' zero point must be 0",
    ),
    (
        lambda: conv(w={"shape": (3, 2)}),
        "operator 0 CONV_2D (w): weights must have 4 dimensions, not [3, 2]",
    ),
    (
        lambda: conv(w={"scale": [0.1, 0.1]}),
        "operator 0 CONV_2D (w): weights must have 1 or 3 scales, not 2",
    ),
    (
        lambda: conv(w={"scale": [0.1] * 3, "axis": 3}),
        "operator 0 CONV_2D (w): weights must be quantized along dimension 0, not 3",
    ),
    (
        lambda: conv(w={"scale": [0.1, -0.1, 0.1]}),
        "operator 0 CONV_2D (w): weights' scales must be finite and not negative",
    ),
    (
        lambda: conv(b={"data": None}),
        "operator 0 CONV_2D (b): bias must be a dense constant",
    ),
    (
        lambda: conv(b={"count": 2}),
        "operator 0 CONV_2D (b): bias must have 3 values, not 2",
    ),
    (
        lambda: mean([1, 2], (1, 2), dtype=np.int64),
        "operator 0 MEAN (p): axes must be int32, not int64",
    ),
    (
        lambda: mean([1, 2], (1, 2), data=None),
        "operator 0 MEAN (p): axes must be a dense constant",
    ),
    (
        lambda: conv(fusedActivationFunction=4),
        (
            "operator 0 CONV_2D: fused activation must be one of NONE, RELU, RELU_N1_TO_1, RELU6, "
            "not TANH"
        ),
    ),
]
