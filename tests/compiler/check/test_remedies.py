"""Remedies of refusals: true of the model, and none that does not help."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from kiwicha.compiler import compile_model
from kiwicha.errors import UnsupportedModelError
from tests.support.models.one_operator import (
    CONV,
    UNSIGNED,
    Model,
    conv,
    pair,
    two_subgraphs,
    unary,
    variable,
)
from tests.support.models.streaming_builder import StreamingBuilder
from tests.support.models.tflite_builder import INT4, ModelBuilder

FLOAT: dict[str, Any] = {"dtype": np.float32, "scale": None}
DEEP: dict[str, Any] = {"shape": (1, 2, 1, 2, 1, 2, 2)}
INT16: dict[str, Any] = {"dtype": np.int16}
ALL = "quantize the model to int8 (TFLiteConverter with a representative dataset, "
ACTIVATIONS = "only the weights are quantized: quantize the activations, too (TFLiteConverter "
OTHERS = "the model is quantized, but for some operators: let the converter quantize these, too "
NARROWER = "activations are int16: quantize them to int8 "


def float_conv(dtype: Any) -> bytes:
    """Give a convolution of float32 with weights of some type."""
    weights = {"dtype": dtype, "scale": 0.1 if dtype is np.int8 else None}
    return conv(FLOAT, weights, FLOAT | {"data": np.zeros(3, np.float32)}, FLOAT)


def partly_float() -> bytes:
    """Give a RELU of int8, and behind DEQUANTIZE one of float32."""
    builder = ModelBuilder()
    x, y = (builder.tensor((1, 8), scale=0.5) for _ in range(2))
    a, b = (builder.tensor((1, 8), np.float32) for _ in range(2))
    builder.operator("RELU", [x], [y])
    builder.operator("DEQUANTIZE", [y], [a])
    builder.operator("RELU", [a], [b])
    return builder.build([x], [b])


def sixteen_bits() -> bytes:
    """Give an operator that has no kernel for activations of int16."""
    return unary("ABS", INT16, INT16)


def four_bits() -> bytes:
    """Give an operator that has no kernel for weights of int4."""
    model = Model()
    w = model.tensor((2, 1, 1, 2), scale=0.1, type_code=INT4, data=b"\0\0")
    operands = [model.parameters([1, 4, 4, 2]), w, model.activation("x")]
    return model.single("TRANSPOSE_CONV", operands, model.activation("y"), **CONV)


def streaming() -> bytes:
    """Give a model that reads a variable which nothing sets."""
    builder = StreamingBuilder()
    x = builder.tensor((1, 8), scale=0.5)
    builder.variable("kept", None)
    return builder.build([x], [builder.read("kept", (1, 8), scale=0.5)])


@pytest.mark.parametrize(
    ("build", "beginnings"),
    [
        (lambda: float_conv(np.float32), [ALL]),
        (lambda: float_conv(np.int8), [ACTIVATIONS]),
        (partly_float, [OTHERS]),
        (sixteen_bits, [NARROWER]),
        (four_bits, ["weights are int4: "]),
        (lambda: unary("ABS", UNSIGNED, UNSIGNED), ["no interpreter computes ABS of uint8: "]),
        (lambda: unary("NEG", {}, {}), ["no interpreter computes NEG of int8: "]),
        (lambda: unary("RELU", DEEP, DEEP), ["join dimensions that lie next to each other, "]),
        (variable, ["make what the model keeps between inferences inputs and outputs of it"]),
        (streaming, ["make what the model keeps between inferences "]),
        (two_subgraphs, ["unroll loops, and take conditions out of the model"]),
        (lambda: conv(x={"shape_signature": (1, -1, 4, 2)}), ["convert the model with inputs of "]),
        (lambda: unary("FLOOR", {}, {}), ["replace FLOOR by operators of docs/supported.md, "]),
        (lambda: unary("FLOOR", FLOAT, FLOAT), ["replace FLOOR "]),
        (
            lambda: pair("PRELU", *({"dtype": np.int32, "scale": None} for _ in range(3))),
            ["arithmetic on int32 belongs before or behind the model: compute it on the host"],
        ),
        # The rule's text says all: no converter's option helps.
        (lambda: unary("RELU", {}, {"shape": (1, 4, 4, 3)}), []),
        (lambda: unary("DEQUANTIZE", {}, {}), []),
    ],
)
def test_remedies_are_true(build: Callable[[], bytes], beginnings: list[str]) -> None:
    with pytest.raises(UnsupportedModelError) as refusal:
        compile_model(build(), "64")
    found = refusal.value.remedies
    assert len(found) == len(beginnings)
    assert all(map(str.startswith, found, beginnings)), found
