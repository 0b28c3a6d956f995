"""Limits of tensors: what is just taken, and what is just refused."""

from typing import Any

import numpy as np
import pytest

from kiwicha.compiler import read, violations
from tests.support.models.one_operator import (
    UNSIGNED,
    Model,
    conv,
    depthwise,
    mean,
    pair,
    unary,
)


def moved(**changes: Any) -> bytes:
    """Give a RESHAPE whose input and output are alike."""
    return unary("RESHAPE", changes, changes)


def with_bias(**changes: Any) -> bytes:
    return conv(b=changes)


def uint8_conv(**weights: Any) -> bytes:
    """Give a convolution of uint8."""
    w = {"dtype": np.uint8, "zero_point": 128, **weights}
    return conv(UNSIGNED, w, {}, UNSIGNED)


def product(w: dict[str, Any], x: dict[str, Any] | None = None) -> bytes:
    """Give a FULLY_CONNECTED with computed weights."""
    model = Model()
    operands = [model.activation("x", (4, 2), **(x or {})), model.activation("w", (3, 2), **w)]
    return model.single("FULLY_CONNECTED", operands, model.activation("y", (4, 3)))


def sliced(kind: Any, code: str = "SLICE") -> bytes:
    """Give a SLICE whose begin and size are of a type."""
    model = Model()
    x = model.activation("x", (2, 3))
    operands = [x, model.parameters([0, 1], kind), model.parameters([2, 2], kind)]
    return model.single(code, operands, model.activation("y", (2, 2)))


def sparse() -> bytes:
    """Give a RELU of a sparse tensor."""
    model = Model()
    x = model.activation("x")
    model.tensors[x].is_sparse = True
    return model.single("RELU", [x], model.activation("y"))


def sparse_numbers() -> bytes:
    """Give a GATHER by constants that are sparse."""
    model = Model()
    operands = [model.activation("x", (5, 2)), model.parameters([0, 4, 2])]
    model.tensors[operands[1]].is_sparse = True
    return model.single("GATHER", operands, model.activation("y", (3, 2)))


def gathered(kind: Any, *, is_sparse: bool = False) -> bytes:
    """Give a GATHER of rows by computed numbers."""
    model = Model()
    operands = [model.activation("x", (5, 2)), model.activation("p", (3,), dtype=kind, scale=None)]
    model.tensors[operands[1]].is_sparse = is_sparse
    return model.single("GATHER", operands, model.activation("y", (3, 2)))


TAKEN = {
    "six dimensions": moved(shape=(1, 2, 1, 2, 1, 2)),
    "a batch of any size": moved(shape=(1, 4), shape_signature=(-1, 4)),
    "the lowest zero point": moved(zero_point=-128),
    "the highest zero point": moved(zero_point=127),
    "the lowest zero point of uint8": moved(**UNSIGNED | {"zero_point": 0}),
    "the highest zero point of uint8": moved(**UNSIGNED | {"zero_point": 255}),
    "a small scale": moved(scale=1e-38),
    "weights of scale 0": conv(w={"scale": 0.0}),
    "weights with a scale for each channel": conv(w={"scale": [0.1, 0.2, 0.3]}),
    "weights of uint8": uint8_conv(zero_point=255),
    "weights of uint8 from 0 on": uint8_conv(zero_point=0),
    "no bias": depthwise((1, 3, 3, 4), 4, depthMultiplier=2),
    "computed weights": product({}),
    "parameters of int64": sliced(np.int64),
    "parameters of int32": sliced(np.int32),
    "numbers of int64": gathered(np.int64),
    "numbers of int32": gathered(np.int32),
    "int32 that is moved": moved(dtype=np.int32, scale=None),
    "float32 that is moved": moved(dtype=np.float32, scale=None),
    "QUANTIZE of float32": unary("QUANTIZE", {"dtype": np.float32, "scale": None}, {}),
    "from int8 to uint8": unary("QUANTIZE", {}, UNSIGNED),
}
REFUSED = {
    "seven dimensions": unary("RESHAPE", {"shape": (1, 2, 1, 2, 1, 2, 1)}, {"shape": (8,)}),
    "no element": unary("RESHAPE", {"shape": (4, 0)}, {"shape": (1, 1)}),
    "columns of any number": unary(
        "RESHAPE", {"shape": (4, 2), "shape_signature": (4, -1)}, {"shape": (8,)}
    ),
    "a zero point too low": unary("RESHAPE", {"zero_point": -129}, {}),
    "a zero point too high": unary("RESHAPE", {}, {"zero_point": 128}),
    "a zero point of uint8 too high": unary("RESHAPE", UNSIGNED | {"zero_point": 256}, UNSIGNED),
    "a scale below 0": unary("RESHAPE", {"scale": -0.5}, {}),
    "a scale of infinity": unary("RESHAPE", {"scale": float("inf")}, {}),
    "two scales": unary("RESHAPE", {"scale": [0.5, 0.5]}, {}),
    "a weight scale of infinity": conv(w={"scale": float("inf")}),
    "weights of uint8 with three scales": uint8_conv(scale=[0.1, 0.1, 0.1], zero_point=[128] * 3),
    "a zero point of weights too high": uint8_conv(zero_point=256),
    "weights of int16": conv(w={"dtype": np.int16}),
    "a bias of int8": with_bias(dtype=np.int8, data=np.zeros(3, np.int8)),
    "computed weights of uint8": product(UNSIGNED, UNSIGNED),
    "computed weights without a scale": product({"scale": None}),
    "computed weights with two scales": product({"scale": [0.5, 0.5]}),
    "int8 and uint8": pair("MUL", {}, UNSIGNED, {}),
    "weights of uint8 for int8": conv(w={"dtype": np.uint8, "zero_point": 128}),
    "numbers of int16": gathered(np.int16),
    "sparse constants": sparse_numbers(),
    "sparse numbers": gathered(np.int32, is_sparse=True),
    "a sparse tensor": sparse(),
    "axes of int64": mean([1, 2], (1, 2), dtype=np.int64),
    "a type that only others can have": unary("RELU", {"dtype": np.int16}, {}),
    "two types that are moved": unary("RESHAPE", {"dtype": np.int32, "scale": None}, {}),
    "sizes that are computed": mean([1, 2], (1, 2), data=None),
}


@pytest.mark.parametrize("name", TAKEN)
def test_what_is_taken(name: str) -> None:
    assert violations(read(TAKEN[name])) == ()


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_refused(name: str) -> None:
    assert violations(read(REFUSED[name]))
