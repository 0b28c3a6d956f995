"""Operators that break one rule each of scales, and the refusals."""

from collections.abc import Callable

from tests.support.models.one_operator import POOL, SOFTMAX_OUT, UNSIGNED, conv, mean, pair, unary

__all__ = ["BROKEN_SCALES"]

BROKEN_SCALES: list[tuple[Callable[[], bytes], str]] = [
    (
        lambda: unary("SOFTMAX", {}, {"scale": 1 / 256}, beta=1.0),
        (
            "operator 0 SOFTMAX (y): output scale and zero point must be 0.00390625 and -128, "
            "not 0.00390625 and 0"
        ),
    ),
    (
        lambda: unary("SOFTMAX", {}, SOFTMAX_OUT, beta=-1.0),
        "operator 0 SOFTMAX (x): beta x input scale must be more than 2**-26, not -0.5",
    ),
    (
        lambda: unary("LOG_SOFTMAX", {}, {"scale": 1 / 16}),
        (
            "operator 0 LOG_SOFTMAX (y): output scale and zero point must be 0.0625 and 127, "
            "not 0.0625 and 0"
        ),
    ),
    (
        lambda: unary("LOG_SOFTMAX", {"scale": 2.0**-25}, {"scale": 1 / 16, "zero_point": 127}),
        (
            "operator 0 LOG_SOFTMAX (x): input scale must be more than 2**-25, "
            "not 2.9802322387695312e-08"
        ),
    ),
    (
        lambda: conv(x={"scale": 2.0**20}, w={"scale": 2.0**9}, y={"scale": 0.5}),
        (
            "operator 0 CONV_2D (w): input scale x weight scale / output scale must be less than "
            "2**30, not 2**30 or more"
        ),
    ),
    (
        lambda: pair("ADD", {"scale": 2.0**19}, {}, {"scale": 1.0}),
        (
            "operator 0 ADD (y): output scale must be more than 2**-19 of the larger input scale, "
            "not 1.0"
        ),
    ),
    (
        lambda: pair("MUL", {"scale": 2.0**20}, {"scale": 2.0**10}, {"scale": 1.0}),
        (
            "operator 0 MUL (y): input scales' product / output scale must be less than 2**30, "
            "not 2**30 or more"
        ),
    ),
    (
        lambda: pair("MUL", *(UNSIGNED | {"scale": 1e38},) * 2, UNSIGNED | {"scale": 1e-38}),
        (
            "operator 0 MUL (y): input scales' product / output scale must be less than 2**30, "
            "not 2**127 or more"
        ),
    ),
    (
        lambda: mean([1, 2], (1, 2), scale=2.0**29),
        (
            "operator 0 MEAN (y): input scale / output scale must be less than 2**30, "
            "not 2**30 or more"
        ),
    ),
    (
        lambda: unary("MAX_POOL_2D", {}, {"scale": 0.25}, **POOL),
        (
            "operator 0 MAX_POOL_2D (y): output scale and zero point must be the input's, 0.5 and "
            "0, not 0.25 and 0"
        ),
    ),
]
