"""Lowering of operators that move data to or from places that another tensor names."""

import math

from kiwicha.compiler.lower.network import Layer
from kiwicha.compiler.tflite.element_types import DTYPES
from kiwicha.compiler.tflite.graph import Graph, Operator
from kiwicha.compiler.tflite.shapes import trailing_ones
from kiwicha.compiler.tflite.slices import from_end
from kiwicha.compiler.tflite.tensor import Tensor, TensorType
from kiwicha.contract.layout import Ref
from kiwicha.contract.program import Kernel
from kiwicha.kernels.indexed import Gather, Scatter
from kiwicha.kernels.ordered import TopPositions

__all__ = ["lower_indexed", "lower_top"]

_UINT8_ZERO = -128


def lower_indexed(graph: Graph, operator: Operator) -> Layer:
    """Return the layer of an operator that indices steer."""
    if operator.name == "SCATTER_ND":
        return _lower_scatter(graph, operator)
    if operator.name == "EMBEDDING_LOOKUP":
        indices, source = (graph.input(operator, position) for position in range(2))
        return _gather(graph, operator, source, indices, (source.shape[0],))
    source, indices = (graph.input(operator, position) for position in range(2))
    if operator.name == "GATHER_ND":
        depth = indices.shape[-1]
        return _gather(graph, operator, source, indices, source.shape[:depth], depth=depth)
    axis = from_end(operator.options.axis, len(source.shape))
    batch_dims = from_end(operator.options.batch_dims, len(indices.shape))
    return _gather(
        graph,
        operator,
        source,
        indices,
        (source.shape[axis],),
        batches=math.prod(source.shape[:batch_dims]),
        outer=math.prod(source.shape[batch_dims:axis]),
    )


def _gather(
    graph: Graph,
    operator: Operator,
    source: Tensor,
    indices: Tensor,
    sizes: tuple[int, ...],
    *,
    depth: int = 1,
    batches: int = 1,
    outer: int = 1,
) -> Layer:
    """Return the layer that reads pieces behind dimensions of these sizes, after outer ones."""
    assert source.type.bits is not None
    pieces = batches * outer * math.prod(sizes)
    return Layer(
        operator.index,
        operator.name,
        kernel=Kernel.GATHER,
        params=Gather(
            *(Ref(), Ref(), Ref()),
            batches=batches,
            outer=outer,
            count=indices.elements // depth // batches,
            depth=depth,
            sizes=trailing_ones(sizes),
            piece_bytes=source.elements // pieces * source.type.bits // 8,
            index_words=_words(indices),
        ),
        tensors={"input": source.index, "indices": indices.index, "output": operator.outputs[0]},
    )


def _lower_scatter(graph: Graph, operator: Operator) -> Layer:
    indices, updates = (graph.input(operator, position) for position in range(2))
    output, depth = graph.output(operator), indices.shape[-1]
    return Layer(
        operator.index,
        operator.name,
        kernel=Kernel.SCATTER,
        params=Scatter(
            *(Ref(), Ref(), Ref()),
            count=indices.elements // depth,
            depth=depth,
            sizes=trailing_ones(output.shape[:depth]),
            piece=math.prod(output.shape[depth:]),
            dtype=DTYPES[output.type],
            zero=_UINT8_ZERO if output.is_shifted else 0,
            index_words=_words(indices),
        ),
        tensors={"input": updates.index, "indices": indices.index, "output": output.index},
    )


def lower_top(graph: Graph, operator: Operator) -> Layer:
    """Return the layer of a TOPK_V2: it finds positions, and then gathers the values there."""
    source = graph.input(operator)
    values, positions = (graph.tensors[index] for index in operator.outputs)
    rows, depth, count = math.prod(source.shape[:-1]), source.shape[-1], values.shape[-1]
    assert source.type.bits is not None
    found = Layer(
        operator.index,
        operator.name,
        kernel=Kernel.GATHER,
        params=Gather(
            *(Ref(), Ref(), Ref()),
            batches=rows,
            outer=1,
            count=count,
            depth=1,
            sizes=trailing_ones((depth,)),
            piece_bytes=source.type.bits // 8,
            index_words=1,
        ),
        tensors={"input": source.index, "indices": positions.index, "output": values.index},
    )
    return Layer(
        operator.index,
        operator.name,
        kernel=Kernel.TOP_POSITIONS,
        params=TopPositions(
            Ref(), Ref(), rows=rows, depth=depth, count=count, dtype=DTYPES[source.type]
        ),
        tensors={"input": source.index, "output": positions.index},
        more=(found,),
    )


def _words(indices: Tensor) -> int:
    return 2 if indices.type is TensorType.INT64 else 1
