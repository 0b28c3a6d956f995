"""Operators on int16 that break one rule each, and the refusals."""

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from tests.support.models.one_operator import POOL, conv, pair, unary

__all__ = ["BROKEN_SHORTS"]

SHORT: dict[str, Any] = {"dtype": np.int16}
"""With a scale of 0.5, as activations have it unless told otherwise."""
PROBABILITY: dict[str, Any] = SHORT | {"scale": 2.0**-15}


def _bias(dtype: Any, value: int = 0) -> dict[str, Any]:
    return {"dtype": dtype, "data": np.full(3, value, dtype)}


def _conv(**changes: Any) -> bytes:
    operands: dict[str, Any] = {"x": SHORT, "b": _bias(np.int64), "y": SHORT}
    return conv(**(operands | changes))


BROKEN_SHORTS: list[tuple[Callable[[], bytes], str]] = [
    (
        lambda: pair("ADD", SHORT, SHORT, {}),
        "operator 0 ADD: input 1 and input 2 and output must have one type, not int16 and int8",
    ),
    (
        lambda: unary("TANH", SHORT | {"zero_point": 1}, PROBABILITY),
        "operator 0 TANH (x): input's zero point must be 0, not 1",
    ),
    (
        lambda: unary("TANH", SHORT | {"scale": 0.0}, PROBABILITY),
        "operator 0 TANH (x): input's scale must be finite and more than 0, not 0.0",
    ),
    (
        lambda: unary("TANH", SHORT | {"scale": None}, PROBABILITY),
        "operator 0 TANH (x): input must have one scale and zero point",
    ),
    (
        lambda: _conv(b=_bias(np.int16)),
        "operator 0 CONV_2D (b): bias must be int64 or int32, not int16",
    ),
    (
        lambda: _conv(w={"dtype": np.uint8, "zero_point": 128}),
        "operator 0 CONV_2D (w): weights must be int8, not uint8",
    ),
    (
        partial(_conv, b=_bias(np.int64, 2**47 - 2**23)),
        ("operator 0 CONV_2D (b): bias must be less than 140737479966720, not 140737479966720"),
    ),
    (
        lambda: _conv(w={"scale": 128.0}),
        (
            "operator 0 CONV_2D (w): input scale x weight scale / output scale must be less than "
            "2**7, not 2**7 or more"
        ),
    ),
    (
        lambda: pair("ADD", SHORT, SHORT, SHORT | {"scale": 2.0**-15}),
        (
            "operator 0 ADD (y): output scale must be more than 2**-14 of the larger input scale, "
            "not 3.0517578125e-05"
        ),
    ),
    (
        lambda: unary(
            "MAX_POOL_2D",
            SHORT | {"shape": (1, 256, 256, 1)},
            SHORT | {"shape": (1, 1, 1, 1)},
            **(POOL | {"padding": 1, "filterHeight": 256, "filterWidth": 256}),
        ),
        "operator 0 MAX_POOL_2D (x): summed elements must be at most 65535, not 65536",
    ),
    (
        lambda: unary("LOGISTIC", SHORT, SHORT),
        "operator 0 LOGISTIC (y): output scale must be 3.0517578125e-05, not 0.5",
    ),
    (
        lambda: unary("LOGISTIC", SHORT | {"scale": 3.0}, PROBABILITY),
        "operator 0 LOGISTIC (x): input scale must be at most 2.6665852864583335, not 3.0",
    ),
    (
        lambda: unary("SOFTMAX", SHORT, {"scale": 1 / 256, "zero_point": -128}, beta=1.0),
        "operator 0 SOFTMAX (y): output must be int16, not int8",
    ),
    (
        lambda: unary("SOFTMAX", SHORT, SHORT, beta=1.0),
        (
            "operator 0 SOFTMAX (y): output scale and zero point must be 3.0517578125e-05 and 0, "
            "not 0.5 and 0"
        ),
    ),
    (
        lambda: unary("SOFTMAX", SHORT | {"zero_point": 3}, PROBABILITY, beta=1.0),
        "operator 0 SOFTMAX (x): input's zero point must be 0, not 3",
    ),
]
