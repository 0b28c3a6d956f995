"""Shapes and the small constant operands that decide them."""

from collections.abc import Sequence

from kiwicha.compiler.tflite.graph import Graph, Operator
from kiwicha.compiler.tflite.tensor import TensorType
from kiwicha.contract.program import MAX_RANK

__all__ = [
    "broadcast_shape",
    "broadcast_strides",
    "leading_ones",
    "pad_value",
    "paddings",
    "reduced_axes",
    "row_major_strides",
    "trailing_ones",
]


def leading_ones(shape: Sequence[int], fill: int = 1) -> tuple[int, ...]:
    """Return ``shape`` with ``fill`` in front, so that it has `MAX_RANK` dimensions."""
    return (fill,) * (MAX_RANK - len(shape)) + tuple(shape)


def trailing_ones(shape: Sequence[int]) -> tuple[int, ...]:
    """Return ``shape`` with ones behind it, so that it has `MAX_RANK` dimensions."""
    return tuple(shape) + (1,) * (MAX_RANK - len(shape))


def row_major_strides(shape: Sequence[int]) -> tuple[int, ...]:
    """Return the distance in elements of neighbours along each dimension."""
    strides = []
    stride = 1
    for size in reversed(shape):
        strides.append(stride)
        stride *= size
    return tuple(reversed(strides))


def broadcast_shape(a: Sequence[int], b: Sequence[int]) -> tuple[int, ...] | None:
    """Return the shape of an element-wise result, None if the shapes do not go together."""
    rank = max(len(a), len(b))
    pairs = zip((1,) * (rank - len(a)) + tuple(a), (1,) * (rank - len(b)) + tuple(b), strict=True)
    sizes = []
    for x, y in pairs:
        if x != y and 1 not in {x, y}:
            return None
        sizes.append(y if x == 1 else x)
    return tuple(sizes)


def broadcast_strides(shape: Sequence[int], output: Sequence[int]) -> tuple[int, ...]:
    """Return strides, `MAX_RANK` of them, that read ``shape`` as if it had the output's shape."""
    full = leading_ones(shape)
    return tuple(
        0 if size == 1 and wanted != 1 else stride
        for size, wanted, stride in zip(
            full, leading_ones(output), row_major_strides(full), strict=True
        )
    )


def paddings(graph: Graph, operator: Operator, position: int = 1) -> list[tuple[int, int]]:
    """Return the pairs of an operand: elements before and after each dimension."""
    values = graph.input(operator, position).integers()
    return list(zip(values[::2], values[1::2], strict=True))


def pad_value(graph: Graph, operator: Operator) -> int:
    """Return what is added: that of PADV2, else what stands for 0 in the output."""
    if operator.name == "PADV2":
        (value,) = graph.input(operator, 2).integers()
        return value
    output = graph.output(operator)
    if output.type is not TensorType.INT8:
        return 0
    assert output.quantization is not None
    return output.quantization.zero_point


def reduced_axes(graph: Graph, operator: Operator) -> list[int]:
    """Return the dimensions that MEAN reduces, ascending, without duplicates.

    Negative axes count from the last dimension; what is out of range is kept as it is.
    """
    rank = len(graph.input(operator).shape)
    axes = graph.input(operator, 1).integers()
    return sorted({axis + rank if axis < 0 else axis for axis in axes})
