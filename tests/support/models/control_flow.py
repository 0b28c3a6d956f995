"""Models with conditions and loops: several files become subgraphs of one."""

from collections.abc import Sequence

import pytest

__all__ = ["joined"]


def joined(main: bytes, others: Sequence[bytes]) -> bytes:
    """Return a model with the subgraph of ``main``, and behind it those of the others."""
    schema = pytest.importorskip("ai_edge_litert.schema_py_generated")
    flatbuffers = pytest.importorskip("flatbuffers")
    whole = schema.ModelT.InitFromPackedBuf(main)
    for raw in others:
        other = schema.ModelT.InitFromPackedBuf(raw)
        (graph,) = other.subgraphs
        for tensor in graph.tensors:
            tensor.buffer += len(whole.buffers)
        for operator in graph.operators:
            operator.opcodeIndex += len(whole.operatorCodes)
        whole.buffers += other.buffers
        whole.operatorCodes += other.operatorCodes
        whole.subgraphs.append(graph)
    builder = flatbuffers.Builder(1 << 16)
    builder.Finish(whole.Pack(builder), b"TFL3")
    return bytes(builder.Output())
