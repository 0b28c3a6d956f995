"""ChannelShuffle: int8 images whose channels change places between groups, as in ShuffleNet."""

import struct
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from flatbuffers import flexbuffers
from numpy.typing import NDArray

from kiwicha.custom import CustomNode, CustomOperator

__all__ = ["CHANNEL_SHUFFLE"]


def _groups(node: CustomNode) -> int:
    options = flexbuffers.Loads(node.options) if node.options else {}
    return int(options.get("groups", 1))


def check(node: CustomNode) -> Iterator[str]:
    """Say what is wrong with one use of the operator."""
    image, output = node.inputs[0], node.output
    if len(node.inputs) != 1:
        yield f"number of inputs must be 1, not {len(node.inputs)}"
    if image.dtype != np.int8 or output.dtype != np.int8:
        yield f"input and output must be int8, not {image.dtype} and {output.dtype}"
    if image.shape != output.shape or len(image.shape) != 4:
        yield f"input and output must have the same 4 dimensions, not {image.shape}, {output.shape}"
    elif _groups(node) < 1 or image.shape[3] % _groups(node):
        yield f"groups must divide the {image.shape[3]} channels, not be {_groups(node)}"
    if (image.scale, image.zero_point) != (output.scale, output.zero_point):
        yield "input and output must have the same scale and zero point"


def parameters(node: CustomNode) -> bytes:
    """Return channels and groups, two 32-bit numbers: what reference and kernel need."""
    return struct.pack("<II", node.inputs[0].shape[3], _groups(node))


def reference(inputs: Sequence[NDArray[Any]], raw: bytes) -> NDArray[Any]:
    """Compute the output in numpy."""
    channels, groups = struct.unpack("<II", raw)
    grouped = inputs[0].reshape(-1, groups, channels // groups)
    return grouped.transpose(0, 2, 1)


CHANNEL_SHUFFLE = CustomOperator(
    name="ChannelShuffle",
    check=check,
    parameters=parameters,
    reference=reference,
    source=Path(__file__).with_name("channel_shuffle.c"),
    function="channel_shuffle",
)
