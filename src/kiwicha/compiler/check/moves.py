"""Support rules of operators that only move data: shapes and settings.

They rely on the rules for operands.
"""

from collections.abc import Iterator

from kiwicha.compiler.check.problems import axis_problems, length_problems, shape_problems
from kiwicha.compiler.check.rules import Problem, Rule, rule
from kiwicha.compiler.tflite.graph import Activation, Graph, Operator
from kiwicha.compiler.tflite.operators import Family, of_family
from kiwicha.compiler.tflite.shapes import paddings
from kiwicha.compiler.tflite.slices import from_end, slice_ranges, strided_ranges
from kiwicha.compiler.tflite.tensor import quantization

__all__ = ["MOVE_RULES"]

MOVE_RULES: list[Rule] = []


@rule(MOVE_RULES, *of_family(Family.RESHAPE))
def keeps_its_values(graph: Graph, operator: Operator) -> Iterator[Problem]:
    """RESHAPE, SQUEEZE and EXPAND_DIMS have outputs with as many elements as their inputs."""
    source, output = graph.input(operator), graph.output(operator)
    if source.elements != output.elements:
        yield Problem(f"output must have {source.elements} values, not {output.elements}", output)


@rule(MOVE_RULES, "PAD", "PADV2")
def pads_each_dimension(graph: Graph, operator: Operator) -> Iterator[Problem]:
    """PAD and PADV2 add 0 or more elements before and after each dimension."""
    source, output = graph.input(operator), graph.output(operator)
    amounts = graph.input(operator, 1)
    if amounts.elements != 2 * len(source.shape):
        yield Problem(
            f"paddings must be {[len(source.shape), 2]}, not {list(amounts.shape)}", amounts
        )
        return
    pairs = paddings(graph, operator)
    if min((min(pair) for pair in pairs), default=0) < 0:
        yield Problem(f"paddings must be 0 or more, not {pairs}", amounts)
        return
    expected = [size + sum(pair) for size, pair in zip(source.shape, pairs, strict=True)]
    yield from shape_problems(output, expected)


@rule(MOVE_RULES, "PADV2")
def pads_with_a_constant(graph: Graph, operator: Operator) -> Iterator[Problem]:
    """PADV2 adds one constant of its output's type, scale and zero point."""
    value, output = graph.input(operator, 2), graph.output(operator)
    if value.type is not output.type:
        yield Problem(f"value must be {output.type.text}, not {value.type.text}", value)
    elif not value.is_constant or value.is_sparse or value.elements != 1:
        yield Problem("value must be a dense constant of one element", value)
    elif output.quantization is not None:
        wanted, found = quantization(output), value.quantization
        if found is None or (found.scale, found.zero_point) != (wanted.scale, wanted.zero_point):
            yield Problem("value must have the output's scale and zero point", value)


@rule(MOVE_RULES, "CONCATENATION")
def joins_along_an_axis(graph: Graph, operator: Operator) -> Iterator[Problem]:
    """CONCATENATION joins inputs that differ in one dimension only; it has no fused activation."""
    output = graph.output(operator)
    rank, axis = len(output.shape), operator.options.axis
    if operator.options.activation is not Activation.NONE:
        yield Problem(f"fused activation must be NONE, not {operator.options.activation.name}")
    yield from axis_problems(axis, rank)
    shapes = [graph.tensors[index].shape for index in operator.inputs]
    if not -rank <= axis < rank or any(len(shape) != rank for shape in shapes):
        if any(len(shape) != rank for shape in shapes):
            yield Problem(f"inputs must have {rank} dimensions, not {[*map(list, shapes)]}")
        return
    axis = from_end(axis, rank)
    others = {(*shape[:axis], *shape[axis + 1 :]) for shape in shapes}
    if len(others) > 1:
        yield Problem(f"inputs must differ only in dimension {axis}, not {[*map(list, shapes)]}")
        return
    joined = sum(shape[axis] for shape in shapes)
    yield from shape_problems(output, (*shapes[0][:axis], joined, *shapes[0][axis + 1 :]))


@rule(MOVE_RULES, "PACK")
def packs_equal_shapes(graph: Graph, operator: Operator) -> Iterator[Problem]:
    """PACK joins inputs of one shape along a new dimension."""
    output = graph.output(operator)
    rank = len(output.shape)
    yield from axis_problems(operator.options.axis, rank)
    shapes = {graph.tensors[index].shape for index in operator.inputs}
    if len(shapes) > 1:
        yield Problem(f"inputs must have one shape, not {sorted(map(list, shapes))}")
    elif -rank <= operator.options.axis < rank:
        (shape,) = shapes
        axis = from_end(operator.options.axis, rank)
        yield from shape_problems(output, (*shape[:axis], len(operator.inputs), *shape[axis:]))


@rule(MOVE_RULES, "UNPACK")
def unpacks_a_dimension(graph: Graph, operator: Operator) -> Iterator[Problem]:
    """UNPACK has an output for each position of a dimension."""
    source = graph.input(operator)
    rank, axis = len(source.shape), operator.options.axis
    yield from axis_problems(axis, rank)
    if not -rank <= axis < rank:
        return
    axis = from_end(axis, rank)
    if source.shape[axis] != len(operator.outputs):
        yield Problem(
            f"number of outputs must be {source.shape[axis]}, not {len(operator.outputs)}"
        )
    for index in operator.outputs:
        yield from shape_problems(
            graph.tensors[index], (*source.shape[:axis], *source.shape[axis + 1 :])
        )


@rule(MOVE_RULES, "SPLIT", "SPLIT_V")
def splits_a_dimension(graph: Graph, operator: Operator) -> Iterator[Problem]:
    """SPLIT makes equal parts of a dimension, SPLIT_V parts of the sizes of its outputs."""
    is_even = operator.name == "SPLIT"
    source, at = (
        graph.input(operator, 1 if is_even else 0),
        graph.input(operator, 2 * (not is_even)),
    )
    rank = len(source.shape)
    if at.elements != 1:
        yield Problem(f"axis must have 1 value, not {at.elements}", at)
        return
    (axis,) = at.integers()
    yield from axis_problems(axis, rank, at)
    if not -rank <= axis < rank:
        return
    axis, outputs = from_end(axis, rank), [graph.tensors[index] for index in operator.outputs]
    if is_even:
        sizes = [source.shape[axis] // len(outputs)] * len(outputs)
    else:
        sizes = [t.shape[axis] if axis < len(t.shape) else 0 for t in outputs]
        wanted = graph.input(operator, 1)
        listed = wanted.integers()
        # One size may be -1: the rest.
        agrees = [b in {a, -1} for a, b in zip(sizes, listed, strict=False)]
        if len(listed) != len(sizes) or not all(agrees) or listed.count(-1) > 1:
            yield Problem(f"sizes must be those of the outputs, {sizes}, not {listed}", wanted)
    if sum(sizes) != source.shape[axis]:
        yield Problem(
            f"parts of dimension {axis} must be {source.shape[axis]} in all, not {sum(sizes)}"
        )
    for output, size in zip(outputs, sizes, strict=True):
        expected = (*source.shape[:axis], size, *source.shape[axis + 1 :])
        yield from shape_problems(output, expected)


@rule(MOVE_RULES, "SLICE")
def slices_inside(graph: Graph, operator: Operator) -> Iterator[Problem]:
    """SLICE reads only positions that its input has."""
    source, output = graph.input(operator), graph.output(operator)
    rank = len(source.shape)
    found = [
        problem
        for position, what in ((1, "begin"), (2, "size"))
        for problem in length_problems(graph, operator, position, what, rank)
    ]
    yield from found
    if found:
        return
    ranges = slice_ranges(graph, operator)
    for axis, (taken, size) in enumerate(zip(ranges, source.shape, strict=True)):
        if taken.first < 0 or taken.count < 1 or taken.first + taken.count > size:
            yield Problem(
                f"slice of dimension {axis} must lie in 0 to {size}, not in {taken.first} to "
                f"{taken.first + taken.count}"
            )
            return
    yield from shape_problems(output, [taken.count for taken in ranges])


@rule(MOVE_RULES, "STRIDED_SLICE")
def takes_strides_inside(graph: Graph, operator: Operator) -> Iterator[Problem]:
    """STRIDED_SLICE reads only positions that its input has.

    Dropped dimensions have a stride above 0. It has no offsets, and at most one ellipsis.
    """
    source, output, options = graph.input(operator), graph.output(operator), operator.options
    count = graph.input(operator, 1).elements
    found = [
        problem
        for position, what in ((2, "end"), (3, "strides"))
        for problem in length_problems(graph, operator, position, what, count)
    ]
    yield from found
    if options.is_offset:
        yield Problem("ends must be positions, not offsets")
    if options.ellipsis_mask & (options.ellipsis_mask - 1):
        yield Problem(f"ellipsis mask must have one bit, not {options.ellipsis_mask:#b}")
    if found:
        return
    strides = graph.input(operator, 3)
    if 0 in strides.integers():
        yield Problem("strides must not be 0", strides)
        return
    ranges = strided_ranges(graph, operator)
    if ranges is None:
        yield Problem(f"slice must have at most {len(source.shape)} dimensions", source)
        return
    taken = [item for item in ranges if item is not None]
    for axis, (item, size) in enumerate(zip(taken, source.shape, strict=True)):
        if item.count < 1 or not 0 <= item.first < size or (item.is_dropped and item.step < 0):
            yield Problem(
                f"slice of dimension {axis} must take positions of 0 to {size - 1}, not "
                f"{max(item.count, 0)} from {item.first} in steps of {item.step}"
            )
            return
    kept = [1 if item is None else item.count for item in ranges if not (item and item.is_dropped)]
    yield from shape_problems(output, kept)


@rule(MOVE_RULES, "TRANSPOSE")
def permutes_its_dimensions(graph: Graph, operator: Operator) -> Iterator[Problem]:
    """TRANSPOSE has a permutation of its input's dimensions."""
    source, order = graph.input(operator), graph.input(operator, 1)
    axes = order.integers()
    if sorted(axes) != list(range(len(source.shape))):
        yield Problem(f"permutation must be of {len(source.shape)} dimensions, not {axes}", order)
        return
    yield from shape_problems(graph.output(operator), [source.shape[axis] for axis in axes])


@rule(MOVE_RULES, "TILE")
def repeats_dimensions(graph: Graph, operator: Operator) -> Iterator[Problem]:
    """TILE repeats each dimension of its input once or more."""
    source, output, multiples = (
        graph.input(operator),
        graph.output(operator),
        graph.input(operator, 1),
    )
    found = list(length_problems(graph, operator, 1, "multiples", len(source.shape)))
    yield from found
    if found:
        return
    counts = multiples.integers()
    if min(counts, default=1) < 1:
        yield Problem(f"multiples must be 1 or more, not {list(counts)}", multiples)
        return
    expected = [size * count for size, count in zip(source.shape, counts, strict=True)]
    yield from shape_problems(output, expected)
