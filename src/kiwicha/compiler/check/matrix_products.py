"""Support rules of products of two matrices."""

from collections.abc import Iterator

from kiwicha.compiler.check.rules import Problem, Rule, rule
from kiwicha.compiler.quantization.scales import MAX_SHIFT, channel_scales
from kiwicha.compiler.tflite.graph import Graph, Operator
from kiwicha.compiler.tflite.shapes import broadcast_shape
from kiwicha.compiler.tflite.tensor import quantization
from kiwicha.kernels.matrix_product import BATCH_DIMENSIONS

__all__ = ["PRODUCT_SCALE_RULES", "PRODUCT_SHAPE_RULES"]

PRODUCT_SHAPE_RULES: list[Rule] = []
PRODUCT_SCALE_RULES: list[Rule] = []

_MATRIX = 2
_MOST = BATCH_DIMENSIONS + _MATRIX


@rule(PRODUCT_SHAPE_RULES, "BATCH_MATMUL")
def multiplies_matrices(graph: Graph, operator: Operator) -> Iterator[Problem]:
    """BATCH_MATMUL multiplies matrices of 2 to 5 dimensions; those in front broadcast."""
    first, second, output = graph.input(operator), graph.input(operator, 1), graph.output(operator)
    for what, tensor in (("input 1", first), ("input 2", second)):
        if not _MATRIX <= len(tensor.shape) <= _MOST:
            yield Problem(
                f"{what} must have {_MATRIX} to {_MOST} dimensions, not {list(tensor.shape)}",
                tensor,
            )
            return
    rows, depth = first.shape[-2:][:: -1 if operator.options.is_first_adjoint else 1]
    other_depth, columns = second.shape[-2:][:: -1 if operator.options.is_second_adjoint else 1]
    if depth != other_depth:
        yield Problem(
            f"rows of input 1 must be as long as columns of input 2, {other_depth}, not {depth}",
            first,
        )
    batches = broadcast_shape(first.shape[:-2], second.shape[:-2])
    if batches is None:
        yield Problem(
            f"input shapes must broadcast, not {list(first.shape)} and {list(second.shape)}"
        )
    elif output.shape != (*batches, rows, columns):
        yield Problem(
            f"output must be {[*batches, rows, columns]}, not {list(output.shape)}", output
        )


@rule(PRODUCT_SCALE_RULES, "BATCH_MATMUL")
def scales_products_moderately(graph: Graph, operator: Operator) -> Iterator[Problem]:
    """BATCH_MATMUL has input scales whose product / output scale is less than 2**30."""
    first, second, output = graph.input(operator), graph.input(operator, 1), graph.output(operator)
    factors = quantization(first), quantization(second)
    _, shifts = channel_scales(*factors, quantization(output), 1)
    if shifts[0] > MAX_SHIFT:
        yield Problem(
            f"input scales' product / output scale must be less than 2**{MAX_SHIFT}, "
            f"not 2**{shifts[0] - 1} or more",
            output,
        )
