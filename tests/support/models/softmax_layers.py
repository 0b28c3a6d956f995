"""Models of a SOFTMAX alone, and between two other layers; some of them with their jobs."""

import numpy as np

from kiwicha.contract.engine import JobKind
from tests.support.models.tflite_builder import ModelBuilder
from tests.support.oracle import oracle

__all__ = ["SOFTMAX_CASES", "SOFTMAX_KINDS", "between", "softmax"]

PROBABILITIES = {"scale": 1 / 256, "zero_point": -128}


def softmax(shape: tuple[int, ...], scale: float, *, is_unsigned: bool = False) -> oracle.Case:
    """Give a model of a SOFTMAX, and an input."""
    kind, shift = (np.uint8, 128) if is_unsigned else (np.int8, 0)
    builder = ModelBuilder()
    x = builder.tensor(shape, kind, scale=scale, zero_point=shift + 9)
    y = builder.tensor(shape, kind, scale=1 / 256, zero_point=shift - 128)
    builder.operator("SOFTMAX", [x], [y], beta=1.0)
    values = np.random.default_rng(shape[-1]).integers(-128, 128, shape) + shift
    return oracle.Case(builder.build([x], [y]), (values.astype(kind),))


def between(operator: str, channels: int) -> oracle.Case:
    """Give a model of a 1x1 CONV_2D, a SOFTMAX, and an operator that only limits or multiplies."""
    rng = np.random.default_rng(channels)
    builder = ModelBuilder()
    x = builder.tensor((1, 30, 20, 16), scale=0.05)
    weights = rng.integers(-127, 128, (channels, 1, 1, 16), np.int8)
    w = builder.tensor(weights.shape, scale=0.004, data=weights)
    logits = builder.tensor((1, 30, 20, channels), scale=0.08, zero_point=4)
    builder.operator("CONV_2D", [x, w, -1], [logits], padding=0, strideH=1, strideW=1)
    y = builder.tensor((1, 30, 20, channels), **PROBABILITIES)
    builder.operator("SOFTMAX", [logits], [y], beta=1.0)
    last = builder.tensor((1, 30, 20, channels), **PROBABILITIES)
    other = builder.tensor((1,), **PROBABILITIES, data=np.array([-90], np.int8))
    builder.operator(operator, [y, other], [last])
    return oracle.Case(
        builder.build([x], [last]), (rng.integers(-128, 128, (1, 30, 20, 16), np.int8),)
    )


SOFTMAX_CASES = {
    "between a convolution and a table": between("MUL", 11),
    "pairs": softmax((1, 6002, 2), 0.06),
    "long rows": softmax((40, 999), 0.03),
}
SOFTMAX_KINDS = {
    "between a convolution and a table": {JobKind.CONV, JobKind.SOFTMAX, JobKind.TABLE},
    "pairs": {JobKind.CONV, JobKind.TABLE, JobKind.MOVE},
    "long rows": {JobKind.SOFTMAX},
}
"""Kinds of the jobs that each of `SOFTMAX_CASES` becomes."""
