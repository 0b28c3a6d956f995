"""Support rules of RESIZE_BILINEAR, TRANSPOSE_CONV and CONV_2D in groups."""

from collections.abc import Iterator

from kiwicha.compiler.check.rules import Problem, Rule, rule
from kiwicha.compiler.check.shapes import MAX_EXTENT
from kiwicha.compiler.tflite.graph import Graph, Operator
from kiwicha.compiler.tflite.interpolation import PLACES, float_interpolation, interpolation
from kiwicha.compiler.tflite.tensor import Tensor, TensorType
from kiwicha.compiler.tflite.windows import output_size

__all__ = ["IMAGE_SHAPE_RULES"]

IMAGE_SHAPE_RULES: list[Rule] = []

MAX_SPREAD_WEIGHTS = 1 << 26
"""Of a convolution in groups, with zeros for the channels of other groups."""


@rule(IMAGE_SHAPE_RULES, "RESIZE_BILINEAR")
def resizes_images(graph: Graph, operator: Operator) -> Iterator[Problem]:
    """RESIZE_BILINEAR resizes images of 4 dimensions; heights and widths are at most 32767."""
    source, output, size = graph.input(operator), graph.output(operator), graph.input(operator, 1)
    if size.elements != 2:
        yield Problem(f"size must have 2 values, not {size.elements}", size)
    elif len(source.shape) != 4:
        yield Problem(f"input must have 4 dimensions, not {list(source.shape)}", source)
    else:
        expected = (source.shape[0], *size.int32s().reshape(-1).tolist(), source.shape[3])
        if output.shape != expected:
            yield Problem(f"output must be {list(expected)}, not {list(output.shape)}", output)
        elif max(*source.shape[1:3], *output.shape[1:3]) > MAX_EXTENT:
            yield Problem(
                f"images must be at most {MAX_EXTENT} high and wide, not {list(output.shape)}",
                output,
            )


@rule(IMAGE_SHAPE_RULES, "RESIZE_BILINEAR")
def places_pixels_one_way(graph: Graph, operator: Operator) -> Iterator[Problem]:
    """RESIZE_BILINEAR does not set both half_pixel_centers and align_corners."""
    if operator.options.half_pixel_centers and operator.options.align_corners:
        yield Problem("half_pixel_centers must be false with align_corners, not true")


@rule(IMAGE_SHAPE_RULES, "RESIZE_BILINEAR")
def stays_inside(graph: Graph, operator: Operator) -> Iterator[Problem]:
    """RESIZE_BILINEAR of int8 must not read past its input: its steps are rounded to 1/1024."""
    source, output, options = graph.input(operator), graph.output(operator), operator.options
    if source.is_shifted or graph.is_onnx or not _are_images(source, output):
        return
    for what, axis in (("height", 1), ("width", 2)):
        inputs, outputs = source.shape[axis], output.shape[axis]
        last = int(interpolation(inputs, outputs, options).pixels[-1, 0])
        if last >= inputs:
            yield Problem(
                f"last pixel of the {outputs} along the {what} must lie in 0 to {inputs - 1}, "
                f"not {last}",
                output,
            )


@rule(IMAGE_SHAPE_RULES, "RESIZE_BILINEAR")
def has_weights_of_moderate_size(graph: Graph, operator: Operator) -> Iterator[Problem]:
    """RESIZE_BILINEAR of uint8 has weights whose products have at most 52 binary places."""
    source, output, options = graph.input(operator), graph.output(operator), operator.options
    is_float = source.is_shifted or graph.is_onnx
    if not is_float or not _are_images(source, output):
        return
    rows, columns = (
        float_interpolation(source.shape[axis], output.shape[axis], options) for axis in (1, 2)
    )
    if not rows.fits(columns):
        yield Problem(
            f"products of weights must have at most {PLACES} binary places, not more, from "
            f"{list(source.shape[1:3])} to {list(output.shape[1:3])}",
            output,
        )


def _are_images(*tensors: Tensor) -> bool:
    return all(len(t.shape) == 4 and max(t.shape[1:3]) <= MAX_EXTENT for t in tensors)


@rule(IMAGE_SHAPE_RULES, "CONV_2D")
def has_few_groups(graph: Graph, operator: Operator) -> Iterator[Problem]:
    """CONV_2D with groups of several channels has at most 2**26 weights, zeros between them too."""
    source, weights = graph.input(operator), graph.input(operator, 1)
    channels = weights.shape[3]
    if len(source.shape) != 4 or channels in {1, source.shape[3]} or source.shape[3] % channels:
        return
    count = weights.elements // channels * source.shape[3]
    if count > MAX_SPREAD_WEIGHTS:
        yield Problem(
            f"weights for all input channels must be at most {MAX_SPREAD_WEIGHTS}, not {count}",
            weights,
        )


@rule(IMAGE_SHAPE_RULES, "TRANSPOSE_CONV")
def spreads_its_input(graph: Graph, operator: Operator) -> Iterator[Problem]:
    """TRANSPOSE_CONV has the shapes of a CONV_2D of one group that reads its output."""
    source, weights, output = (
        graph.input(operator),
        graph.input(operator, 1),
        graph.output(operator),
    )
    outputs, height, width, channels = weights.shape
    options = operator.options
    strides = options.stride_height, options.stride_width
    if len(source.shape) != 4 or len(output.shape) != 4 or min(strides) < 1:
        return
    if source.shape[3] != channels:
        yield Problem(
            f"weights must have {source.shape[3]} input channels, not {channels}", weights
        )
    expected = (
        output.shape[0],
        *(
            output_size(options.padding, size, kernel, stride, 1)
            for size, kernel, stride in zip(
                output.shape[1:3], (height, width), strides, strict=True
            )
        ),
        channels,
    )
    if source.shape != expected:
        yield Problem(
            f"input must be {list(expected)} for the output {list(output.shape)}, "
            f"not {list(source.shape)}",
            source,
        )
    if output.shape[3] != outputs:
        yield Problem(f"output must have {outputs} channels, not {output.shape[3]}", output)


@rule(IMAGE_SHAPE_RULES, "TRANSPOSE_CONV")
def has_its_own_shape(graph: Graph, operator: Operator) -> Iterator[Problem]:
    """TRANSPOSE_CONV's first input is a dense int32 constant: the output's shape."""
    shape, output = graph.operand(operator, 3), graph.output(operator)
    is_there = shape is not None and shape.type is TensorType.INT32 and shape.is_constant
    if shape is None or not is_there or shape.is_sparse:
        yield Problem("output shape must be a dense constant of type int32", shape)
    elif tuple(shape.int32s().reshape(-1).tolist()) != output.shape:
        values = shape.int32s().reshape(-1).tolist()
        yield Problem(f"output shape must be {list(output.shape)}, not {values}", shape)
