"""Custom operators of one to four inputs, with parameters and without, and a model of them."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kiwicha.custom import MODEL_PREFIX, CustomNode, CustomOperator
from tests.support.models.tflite_builder import ModelBuilder

__all__ = ["FIRST_INPUT", "WEIGHTED_SUM", "weighted_sums"]

_SHAPE = (1, 3, 7)


def _parameters(node: CustomNode) -> bytes:
    """Return a weight for each input; nothing for one input or three."""
    count = len(node.inputs)
    return b"" if count % 2 else bytes(range(2, 2 + count))


def _reference(inputs: Sequence[NDArray[Any]], raw: bytes) -> NDArray[Any]:
    weights = np.frombuffer(raw, np.int8) if raw else np.ones(len(inputs), np.int8)
    terms = [values.astype(np.int64) * w for values, w in zip(inputs, weights, strict=True)]
    return np.sum(terms, axis=0).astype(np.uint8).view(np.int8)


WEIGHTED_SUM = CustomOperator(
    name="WeightedSum",
    check=lambda node: (),
    parameters=_parameters,
    reference=_reference,
    source=Path(__file__).with_name("weighted_sum.c"),
    function="weighted_sum",
)
FIRST_INPUT = CustomOperator(
    name="FirstInput",
    check=lambda node: (),
    parameters=lambda node: b"",
    reference=lambda inputs, raw: inputs[0],
    source=WEIGHTED_SUM.source,
    function="first_input",
)


def weighted_sums() -> bytes:
    """Give a model of sums of one, two, three and four inputs, and of one input alone."""
    builder = ModelBuilder()
    inputs = [builder.tensor(_SHAPE, scale=0.5, zero_point=3) for _ in range(4)]
    outputs = [builder.tensor(_SHAPE, scale=0.5, zero_point=3) for _ in range(5)]
    for count, output in enumerate(outputs[:4], 1):
        builder.operator(MODEL_PREFIX + WEIGHTED_SUM.name, inputs[:count], [output])
    builder.operator(MODEL_PREFIX + FIRST_INPUT.name, inputs[1:2], outputs[4:])
    return builder.build(inputs, outputs)
