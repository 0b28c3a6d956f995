"""From the bytes of a model to a `Graph`, by the front end of its format."""

from kiwicha.compiler.onnx import reader as onnx_reader
from kiwicha.compiler.onnx.container import is_onnx
from kiwicha.compiler.tflite import reader as tflite_reader
from kiwicha.compiler.tflite.graph import Graph

__all__ = ["read"]


def read(raw: bytes) -> Graph:
    """Parse a model.

    Parameters
    ----------
    raw : bytes
        Content of a ``.tflite`` or ``.onnx`` file.

    Raises
    ------
    ModelError
        If the bytes are not a well-formed model of one of the formats.
    UnsupportedModelError
        If an ONNX model asks for what cannot be said in the graph, or is not quantized.
    """
    return onnx_reader.read(raw) if is_onnx(raw) else tflite_reader.read(raw)
