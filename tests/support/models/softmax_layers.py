"""Models of a SOFTMAX or LOG_SOFTMAX, alone or between two others; some of them with their jobs."""

from typing import Any

import numpy as np

from kiwicha.contract.engine import JobKind
from tests.support.models.tflite_builder import ModelBuilder
from tests.support.oracle import oracle

__all__ = ["OUTPUTS", "SOFTMAX_CASES", "SOFTMAX_KINDS", "between", "softmax"]

OUTPUTS: dict[str, dict[str, Any]] = {
    "LOG_SOFTMAX": {"scale": 1 / 16, "zero_point": 127},
    "SOFTMAX": {"scale": 1 / 256, "zero_point": -128},
}
"""What int8 outputs stand for."""
OPTIONS = {"LOG_SOFTMAX": {}, "SOFTMAX": {"beta": 1.0}}


def softmax(
    shape: tuple[int, ...], scale: float, *, is_unsigned: bool = False, kind: str = "SOFTMAX"
) -> oracle.Case:
    """Give a model of a SOFTMAX or LOG_SOFTMAX, and an input."""
    dtype, shift = (np.uint8, 128) if is_unsigned else (np.int8, 0)
    builder = ModelBuilder()
    x = builder.tensor(shape, dtype, scale=scale, zero_point=shift + 9)
    output = OUTPUTS[kind]
    zero_point = output["zero_point"] + shift
    y = builder.tensor(shape, dtype, scale=output["scale"], zero_point=zero_point)
    builder.operator(kind, [x], [y], **OPTIONS[kind])
    values = np.random.default_rng(shape[-1]).integers(-128, 128, shape) + shift
    return oracle.Case(builder.build([x], [y]), (values.astype(dtype),))


def between(operator: str, channels: int, kind: str = "SOFTMAX") -> oracle.Case:
    """Give a model of a 1x1 CONV_2D, such a layer, and one that only limits or multiplies."""
    rng = np.random.default_rng(channels)
    builder = ModelBuilder()
    x = builder.tensor((1, 30, 20, 16), scale=0.05)
    weights = rng.integers(-127, 128, (channels, 1, 1, 16), np.int8)
    w = builder.tensor(weights.shape, scale=0.004, data=weights)
    logits = builder.tensor((1, 30, 20, channels), scale=0.08, zero_point=4)
    builder.operator("CONV_2D", [x, w, -1], [logits], padding=0, strideH=1, strideW=1)
    y = builder.tensor((1, 30, 20, channels), **OUTPUTS[kind])
    builder.operator(kind, [logits], [y], **OPTIONS[kind])
    last = builder.tensor((1, 30, 20, channels), **OUTPUTS[kind])
    other = builder.tensor((1,), **OUTPUTS[kind], data=np.array([-90], np.int8))
    builder.operator(operator, [y, other], [last])
    return oracle.Case(
        builder.build([x], [last]), (rng.integers(-128, 128, (1, 30, 20, 16), np.int8),)
    )


SOFTMAX_CASES = {
    "between a convolution and a table": between("MUL", 11),
    "pairs": softmax((1, 6002, 2), 0.06),
    "long rows": softmax((40, 999), 0.03),
    "logarithms behind a convolution": between("MUL", 11, "LOG_SOFTMAX"),
    "logarithms of long rows": softmax((40, 999), 0.03, kind="LOG_SOFTMAX"),
    "logarithms of pairs": softmax((1, 6002, 2), 0.06, kind="LOG_SOFTMAX"),
}
SOFTMAX_KINDS = {
    "between a convolution and a table": {JobKind.CONV, JobKind.SOFTMAX, JobKind.TABLE},
    "pairs": {JobKind.CONV, JobKind.TABLE, JobKind.MOVE},
    "long rows": {JobKind.SOFTMAX},
    "logarithms behind a convolution": {JobKind.CONV, JobKind.SOFTMAX, JobKind.TABLE},
    "logarithms of long rows": {JobKind.SOFTMAX},
    "logarithms of pairs": {JobKind.SOFTMAX},
}
"""Kinds of the jobs that each of `SOFTMAX_CASES` becomes."""
