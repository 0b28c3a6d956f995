"""Models that give all their tensors: what lies between inputs and outputs becomes an output."""

import struct
from collections.abc import Sequence

import tflite

from kiwicha.compiler import Compilation, compile_model
from kiwicha.compiler.tflite.graph import Graph
from kiwicha.compiler.tflite.tensor import TensorType
from kiwicha.errors import UsageError
from kiwicha.firmware.native_library import NATIVE_CONFIG
from kiwicha.program.image import Program

__all__ = ["all_tensors", "between", "with_outputs"]

_OUTPUTS = 8
"""Place of a subgraph's outputs in its table of fields, in TFLite's schema."""
_TYPES = {
    TensorType.FLOAT32,
    TensorType.INT8,
    TensorType.UINT8,
    TensorType.INT16,
    TensorType.INT32,
    TensorType.INT64,
    TensorType.BOOL,
}


def all_tensors(compilation: Compilation, model: bytes, target: str) -> tuple[list[int], Program]:
    """Return the tensors between inputs and outputs, and a Program that has them as outputs, too.

    Parameters
    ----------
    compilation : Compilation
        Of the model.
    model : bytes
        Its content.
    target : str
        What is to execute it.

    Raises
    ------
    UsageError
        If the target, or the model's last operator, does not give them.
    """
    argument = "experimental_preserve_all_tensors must be False"
    if target == "sim":
        raise UsageError(
            f"{argument} with target='sim', whose memory never holds all tensors; 'native' and "
            "'reference' compute the same bytes"
        )
    if compilation.detection is not None:
        raise UsageError(f"{argument} for a detector, whose last operator is not on the hardware")
    more = between(compilation.graph)
    # Results do not depend on the configuration, and these kernels need nothing but C.
    return more, compile_model(with_outputs(model, more), NATIVE_CONFIG, eliminate=False)


def between(graph: Graph) -> list[int]:
    """Return the tensors that operators compute for others, in the order of the operators."""
    written = (index for operator in graph.operators for index in operator.outputs)
    known = {*graph.inputs, *graph.outputs}
    return [
        index
        for index in dict.fromkeys(written)
        if index >= 0 and index not in known and graph.tensors[index].type in _TYPES
    ]


def with_outputs(model: bytes, more: Sequence[int]) -> bytes:
    """Return a model whose first subgraph has further outputs behind its own.

    Parameters
    ----------
    model : bytes
        Content of a ``.tflite`` file that was read without an error.
    more : sequence of int
        Numbers of tensors.
    """
    subgraph = tflite.Model.GetRootAs(model, 0).Subgraphs(0)
    assert subgraph is not None
    outputs = [*(subgraph.Outputs(k) for k in range(subgraph.OutputsLength())), *more]
    table = subgraph._tab
    field = table.Pos + table.Offset(_OUTPUTS)
    # A vector may lie anywhere behind the field that points to it.
    place = -(-len(model) // 4) * 4
    whole = bytearray(model.ljust(place, b"\0"))
    struct.pack_into("<I", whole, field, place - field)
    return bytes(whole) + struct.pack(f"<I{len(outputs)}i", len(outputs), *outputs)
