"""Models that break a support rule of operators with one input, and the refusals."""

from collections.abc import Callable

import numpy as np

from tests.support.models.one_operator import UNSIGNED, unary

__all__ = ["BROKEN_TABLES"]

LARGE = {"scale": 2.0**29}

FLOAT32 = {"dtype": np.float32, "scale": None}
BROKEN_TABLES: list[tuple[Callable[[], bytes], str]] = [
    (
        lambda: unary("QUANTIZE", FLOAT32, FLOAT32),
        "operator 0 QUANTIZE (y): output must be int8 or uint8 or int16 or int32, not float32",
    ),
    (
        lambda: unary("DEQUANTIZE", {}, {}),
        "operator 0 DEQUANTIZE (y): output must be float32, not int8",
    ),
    (
        lambda: unary("RELU", {}, {"shape": (1, 32)}),
        "operator 0 RELU (y): output must be [1, 4, 4, 2], not [1, 32]",
    ),
    (
        lambda: unary("QUANTIZE", LARGE, {}),
        (
            "operator 0 QUANTIZE (y): input scale / output scale must be less than 2**30, "
            "not 1073741824.0"
        ),
    ),
    (
        lambda: unary("RELU", *({"dtype": np.uint8, "scale": scale} for scale in (1e38, 1e-38))),
        "operator 0 RELU (y): input scale / output scale must be less than 2**30, not inf",
    ),
    (
        lambda: unary("RELU_0_TO_1", LARGE, {}),
        (
            "operator 0 RELU_0_TO_1 (y): input scale / output scale must be less than 2**30, "
            "not 1073741824.0"
        ),
    ),
    (
        lambda: unary("ABS", UNSIGNED, UNSIGNED),
        (
            "operator 0 ABS (x): input must be int8, not uint8; "
            "operator 0 ABS (y): output must be int8, not uint8"
        ),
    ),
    (
        lambda: unary("ELU", {"scale": 2.0**21}, {}),
        ("operator 0 ELU (y): input scale / output scale must be less than 2**22, not 4194304.0"),
    ),
    (
        lambda: unary("RSQRT", {"scale": 2.0**20}, {"scale": 4.0}),
        (
            "operator 0 RSQRT (y): 1 / (root of the input scale x output scale) must be 2**-11 to "
            "2**30, not 0.000244140625"
        ),
    ),
    (
        lambda: unary("LEAKY_RELU", {}, {}, alpha=float("nan")),
        "operator 0 LEAKY_RELU: alpha must be finite, not nan",
    ),
    (
        lambda: unary("LEAKY_RELU", {}, {}, alpha=-(2.0**30)),
        (
            "operator 0 LEAKY_RELU (y): alpha x input scale / output scale must be less than "
            "2**30, not -1073741824.0"
        ),
    ),
    (
        lambda: unary("RELU6", {}, {"scale": 0.25}),
        (
            "operator 0 RELU6 (y): output scale and zero point must be the input's, 0.5 and 0, "
            "not 0.25 and 0"
        ),
    ),
    (
        lambda: unary("L2_NORMALIZATION", {"shape": (1, 2, 3, 4, 5)}, {"shape": (1, 2, 3, 4, 5)}),
        (
            "operator 0 L2_NORMALIZATION (x): input must have 1 to 4 dimensions and rows of at "
            "most 32767, not [1, 2, 3, 4, 5]"
        ),
    ),
    (
        lambda: unary("LOGISTIC", {}, {"scale": 1 / 256}),
        (
            "operator 0 LOGISTIC (y): output scale and zero point must be 0.00390625 and -128, "
            "not 0.00390625 and 0"
        ),
    ),
    (
        lambda: unary("TANH", {}, {"scale": 1 / 256}),
        (
            "operator 0 TANH (y): output scale and zero point must be 0.0078125 and 0, "
            "not 0.00390625 and 0"
        ),
    ),
    (
        lambda: unary("TANH", {"scale": 2.0**-29}, {"scale": 1 / 128}),
        "operator 0 TANH (x): input scale must be 2**-28 to 2**32, not 1.862645149230957e-09",
    ),
    (
        lambda: unary("TANH", {"scale": 2.0**33}, {"scale": 1 / 128}),
        "operator 0 TANH (x): input scale must be 2**-28 to 2**32, not 8589934592.0",
    ),
    (
        lambda: unary("HARD_SWISH", {}, {"scale": 1 / 256}),
        "operator 0 HARD_SWISH (y): input scale / output scale must be 2**-9 to 2**7, not 128.0",
    ),
    (
        lambda: unary("HARD_SWISH", {"scale": 2.0**24}, {"scale": 2.0**24}),
        "operator 0 HARD_SWISH (x): input scale must be 2**-21 to 2**23, not 16777216.0",
    ),
]
