"""The same ONNX model for images that come pixel by pixel, as cameras give them."""

import importlib
from typing import Any

from kiwicha.compiler.onnx.container import is_onnx
from kiwicha.compiler.onnx.model import load_checked
from kiwicha.errors import UsageError

__all__ = ["with_pixels"]

_PLANES = [0, 3, 1, 2]
"""Dimensions of an image of pixels, in the order of one of planes."""
_PIXELS = [0, 2, 3, 1]
"""The other way round."""


def with_pixels(raw: bytes) -> tuple[bytes, tuple[str, ...]]:
    """Return a model whose images are NHWC at its inputs, and the names of these.

    A Transpose behind each such input gives the model what it had. The compiler cancels it: the
    array reads pixels as they come, and nothing is left to be moved.

    Parameters
    ----------
    raw : bytes
        Content of an ``.onnx`` file. Inputs of four dimensions are images, NCHW; those of one
        channel are the same in both orders.

    Raises
    ------
    UsageError
        If it is another file, or no input has planes.
    ModelError
        If the bytes are not a well-formed ONNX model.
    ToolError
        If the ``onnx`` package is not installed.
    """
    if not is_onnx(raw):
        raise UsageError("model must be an .onnx file: images of .tflite files are pixels")
    return load_checked(raw, _turned)


def _turned(model: Any) -> tuple[bytes, tuple[str, ...]]:
    helper = importlib.import_module("onnx.helper")
    graph = model.graph
    constants = {item.name for item in graph.initializer}
    used = {name for node in graph.node for name in (*node.input, *node.output)}
    outputs = {item.name for item in graph.output}
    turned = []
    for edge in graph.input:
        sizes = edge.type.tensor_type.shape.dim
        if edge.name in constants or len(sizes) != 4 or sizes[1].dim_value <= 1:
            continue
        if edge.name in outputs:
            raise UsageError(f"model input {edge.name} must not be an output as well")
        planes = next(name for k in range(len(used) + 1) if (name := f"planes_{k}") not in used)
        used.add(planes)
        for node in graph.node:
            node.input[:] = [planes if name == edge.name else name for name in node.input]
        turn = helper.make_node("Transpose", [edge.name], [planes], name=planes, perm=_PLANES)
        graph.node.insert(0, turn)
        for axis in _PIXELS:
            sizes.add().CopyFrom(sizes[axis])
        del sizes[:4]
        turned.append(edge.name)
    if not turned:
        raise UsageError("model must have an input of four dimensions, NCHW, with several channels")
    return bytes(model.SerializeToString()), tuple(turned)
