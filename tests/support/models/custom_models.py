"""Models of one custom operator, and one to register."""

from collections.abc import Iterator
from typing import Any

import numpy as np

from kiwicha.custom import CustomNode, CustomOperator
from tests.support.models.tflite_builder import ModelBuilder
from tests.support.requirements import REPOSITORY

__all__ = ["EXAMPLE", "IMAGE", "NEGATE", "SHAPE", "model"]

EXAMPLE = REPOSITORY / "docs" / "examples" / "channel_shuffle"
SHAPE = (1, 3, 5, 12)
IMAGE = np.random.default_rng(3).integers(-128, 128, SHAPE).astype(np.int8)


def _check(node: CustomNode) -> Iterator[str]:
    if node.inputs[0].scale != node.output.scale:
        yield "scales must be equal"


NEGATE = CustomOperator(
    name="Negate",
    check=_check,
    parameters=lambda node: b"",
    reference=lambda inputs, raw: (-1 - inputs[0]).astype(np.int8),
    source=EXAMPLE / "kiwicha_channel_shuffle" / "channel_shuffle.c",
    function="negate",
)
"""Its kernel is not that of its reference."""


def model(
    code: str = "CUSTOM:ChannelShuffle",
    scale: float = 0.5,
    dtype: type[np.generic] = np.int8,
    in_front: int = 0,
    **options: Any,
) -> bytes:
    """Give a model of the operator, with RELUs in front of it."""
    builder = ModelBuilder()
    first = x = builder.tensor(SHAPE, scale=0.5, zero_point=3)
    for _ in range(in_front):
        source, x = x, builder.tensor(SHAPE, scale=0.5, zero_point=3)
        builder.operator("RELU", [source], [x])
    y = builder.tensor(SHAPE, dtype, scale=scale, zero_point=3)
    builder.operator(code, [x], [y], **options)
    return builder.build(inputs=[first], outputs=[y])
