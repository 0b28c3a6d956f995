"""Support rules of single operators: shapes and settings.

They rely on the rules for operands.
"""

import math
from collections.abc import Iterator

from kiwicha.compiler.check.rules import Problem, Rule, rule
from kiwicha.compiler.tflite.graph import Activation, Graph, Operator, Options
from kiwicha.compiler.tflite.operators import Family, of_family
from kiwicha.compiler.tflite.shapes import broadcast_shape, reduced_axes
from kiwicha.compiler.tflite.windows import effective_size, output_size

__all__ = ["SHAPE_RULES"]

SHAPE_RULES: list[Rule] = []

MAX_EXTENT = 32767
"""Largest height, width, kernel, stride or dilation."""
MAX_REDUCED = 1 << 22
"""Elements that a pool or MEAN may sum up: the sum of so many int8 differences fits 32 bits."""
MAX_SOFTMAX_DEPTH = 4095
"""Exponentials that a sum in Q12.19 holds."""

_CONVOLUTIONS = ("CONV_2D", "DEPTHWISE_CONV_2D", "TRANSPOSE_CONV")
_FUSABLE = (Activation.NONE, Activation.RELU, Activation.RELU_N1_TO_1, Activation.RELU6)


def _extents(options: Options) -> dict[str, int]:
    return {
        "stride height": options.stride_height,
        "stride width": options.stride_width,
        "dilation height": options.dilation_height,
        "dilation width": options.dilation_width,
        "window height": options.kernel_height,
        "window width": options.kernel_width,
    }


@rule(SHAPE_RULES, *of_family(Family.WEIGHTED), *of_family(Family.POOL), *of_family(Family.PAIR))
def fuses_only_relu(graph: Graph, operator: Operator) -> Iterator[Problem]:
    """Fused activations are NONE, RELU, RELU_N1_TO_1 and RELU6."""
    if operator.options.activation not in _FUSABLE:
        allowed = ", ".join(activation.name for activation in _FUSABLE)
        yield Problem(
            f"fused activation must be one of {allowed}, not {operator.options.activation.name}"
        )


@rule(SHAPE_RULES, *_CONVOLUTIONS, *of_family(Family.POOL))
def has_small_windows(graph: Graph, operator: Operator) -> Iterator[Problem]:
    """Images have 4 dimensions; heights, widths, (dilated) kernels and strides are 1 to 32767."""
    for what, tensor in (("input", graph.input(operator)), ("output", graph.output(operator))):
        if len(tensor.shape) != 4:
            yield Problem(f"{what} must have 4 dimensions, not {list(tensor.shape)}", tensor)
        elif max(tensor.shape[1:3]) > MAX_EXTENT:
            yield Problem(
                f"{what} must be at most {MAX_EXTENT} high and wide, not {list(tensor.shape)}",
                tensor,
            )
    options = operator.options
    sizes = _extents(options)
    if operator.name in _CONVOLUTIONS:
        _, height, width, _ = graph.input(operator, 1).shape
        sizes["dilated kernel height"] = effective_size(height, options.dilation_height)
        sizes["dilated kernel width"] = effective_size(width, options.dilation_width)
    for what, size in sizes.items():
        if not 1 <= size <= MAX_EXTENT:
            yield Problem(f"{what} must be 1 to {MAX_EXTENT}, not {size}")


def _window_problems(
    graph: Graph, operator: Operator, kernel: tuple[int, int], channels: int
) -> Iterator[Problem]:
    """Compare the output's shape with what the window makes of the input."""
    source, output, options = graph.input(operator), graph.output(operator), operator.options
    if len(source.shape) != 4 or min(*kernel, *_extents(options).values()) < 1:
        return
    expected = (
        source.shape[0],
        output_size(
            options.padding,
            source.shape[1],
            kernel[0],
            options.stride_height,
            options.dilation_height,
        ),
        output_size(
            options.padding,
            source.shape[2],
            kernel[1],
            options.stride_width,
            options.dilation_width,
        ),
        channels,
    )
    if min(expected) < 1:
        yield Problem(
            f"window of {kernel[0]}x{kernel[1]} must fit the input {list(source.shape)}", source
        )
    elif output.shape != expected:
        yield Problem(f"output must be {list(expected)}, not {list(output.shape)}", output)


@rule(SHAPE_RULES, "CONV_2D")
def convolves_all_channels(graph: Graph, operator: Operator) -> Iterator[Problem]:
    """CONV_2D has groups of equal size; its weights have the input channels of one group."""
    outputs, height, width, channels = graph.input(operator, 1).shape
    source = graph.input(operator)
    if len(source.shape) == 4 and source.shape[3] % channels:
        yield Problem(
            f"weights' input channels must divide {source.shape[3]}, not be {channels}",
            graph.input(operator, 1),
        )
    elif len(source.shape) == 4 and outputs % (source.shape[3] // channels):
        yield Problem(
            f"outputs must be a multiple of the {source.shape[3] // channels} groups, "
            f"not {outputs}",
            graph.input(operator, 1),
        )
    yield from _window_problems(graph, operator, (height, width), outputs)


@rule(SHAPE_RULES, "DEPTHWISE_CONV_2D")
def multiplies_its_channels(graph: Graph, operator: Operator) -> Iterator[Problem]:
    """DEPTHWISE_CONV_2D has weights [1, height, width, input channels x depth multiplier]."""
    source, weights = graph.input(operator), graph.input(operator, 1)
    first, height, width, outputs = weights.shape
    if first != 1:
        yield Problem(f"weights' first dimension must be 1, not {first}", weights)
    channels = source.shape[-1] if len(source.shape) == 4 else 0
    if channels and channels * operator.options.depth_multiplier != outputs:
        yield Problem(
            f"weights must have {channels} x {operator.options.depth_multiplier} channels, "
            f"not {outputs}",
            weights,
        )
    yield from _window_problems(graph, operator, (height, width), outputs)


@rule(SHAPE_RULES, *of_family(Family.POOL))
def pools_each_channel(graph: Graph, operator: Operator) -> Iterator[Problem]:
    """Pools have windows of at most 4194304 elements of the input, and keep the channels."""
    source, options = graph.input(operator), operator.options
    if len(source.shape) != 4:
        return
    area = min(options.kernel_height, source.shape[1]) * min(options.kernel_width, source.shape[2])
    if area > MAX_REDUCED:
        yield Problem(f"window must cover at most {MAX_REDUCED} elements, not {area}")
    kernel = (options.kernel_height, options.kernel_width)
    yield from _window_problems(graph, operator, kernel, source.shape[3])


@rule(SHAPE_RULES, "FULLY_CONNECTED")
def connects_rows(graph: Graph, operator: Operator) -> Iterator[Problem]:
    """FULLY_CONNECTED has weights [outputs, inputs] in the default format and a fitting input."""
    source, weights, output = (
        graph.input(operator),
        graph.input(operator, 1),
        graph.output(operator),
    )
    outputs, inputs = weights.shape
    if operator.options.weights_format != 0:
        yield Problem("weights format must be DEFAULT, not shuffled", weights)
    if not output.shape or output.shape[-1] != outputs:
        yield Problem(f"output must end in {outputs}, not {list(output.shape)}", output)
    elif source.elements != output.elements // outputs * inputs:
        yield Problem(
            f"input must have {output.elements // outputs} x {inputs} values, "
            f"not {source.elements}",
            source,
        )


@rule(SHAPE_RULES, *of_family(Family.BROADCAST))
def broadcasts_its_inputs(graph: Graph, operator: Operator) -> Iterator[Problem]:
    """Operators on two tensors broadcast them to the output's shape by the rules of numpy."""
    first, second, output = graph.input(operator), graph.input(operator, 1), graph.output(operator)
    expected = broadcast_shape(first.shape, second.shape)
    if expected is None:
        yield Problem(
            f"input shapes must broadcast, not {list(first.shape)} and {list(second.shape)}"
        )
    elif output.shape != expected:
        yield Problem(f"output must be {list(expected)}, not {list(output.shape)}", output)


@rule(SHAPE_RULES, *of_family(Family.POSITION))
def finds_along_one_axis(graph: Graph, operator: Operator) -> Iterator[Problem]:
    """ARG_MAX and ARG_MIN work on one dimension, which their output lacks."""
    source, output = graph.input(operator), graph.output(operator)
    axes, rank = reduced_axes(graph, operator), len(source.shape)
    if len(axes) != 1 or not 0 <= axes[0] < rank:
        yield Problem(f"axis must be one of {-rank} to {rank - 1}, not {axes}")
        return
    expected = (*source.shape[: axes[0]], *source.shape[axes[0] + 1 :])
    if output.shape != expected:
        yield Problem(f"output must be {list(expected)}, not {list(output.shape)}", output)


@rule(SHAPE_RULES, *of_family(Family.REDUCTION))
def reduces_its_axes(graph: Graph, operator: Operator) -> Iterator[Problem]:
    """Reductions work on dimensions of their input, over at most 4194304 elements at a time.

    The output of REDUCE_ANY, and of any reduction of uint8, has the shape that keep_dims gives.
    """
    source, output = graph.input(operator), graph.output(operator)
    axes, rank = reduced_axes(graph, operator), len(source.shape)
    if any(not 0 <= axis < rank for axis in axes):
        yield Problem(f"axes must be {-rank} to {rank - 1}, not {axes}", graph.input(operator, 1))
        return
    count = math.prod(source.shape[axis] for axis in axes)
    if count > MAX_REDUCED:
        yield Problem(f"reduced elements must be at most {MAX_REDUCED}, not {count}")
    kept = [size for axis, size in enumerate(source.shape) if axis not in axes]
    if operator.name == "REDUCE_ANY" or source.is_shifted:
        # LiteRT, which defines these, goes by keep_dims instead of the file's shape.
        if operator.options.keeps_dims:
            kept = [1 if axis in axes else size for axis, size in enumerate(source.shape)]
        if list(output.shape) != kept:
            yield Problem(
                f"output must be {kept}, as keep_dims says, not {list(output.shape)}", output
            )
    elif [size for size in output.shape if size != 1] != [size for size in kept if size != 1]:
        yield Problem(f"output must be {kept}, not {list(output.shape)}", output)


@rule(SHAPE_RULES, "L2_NORMALIZATION")
def divides_rows(graph: Graph, operator: Operator) -> Iterator[Problem]:
    """L2_NORMALIZATION has 1 to 4 dimensions, the last one of at most 32767, and no activation."""
    source, output = graph.input(operator), graph.output(operator)
    if not 1 <= len(source.shape) <= 4 or source.shape[-1] > MAX_EXTENT:
        yield Problem(
            f"input must have 1 to 4 dimensions and rows of at most {MAX_EXTENT}, "
            f"not {list(source.shape)}",
            source,
        )
    if source.shape != output.shape:
        yield Problem(f"output must be {list(source.shape)}, not {list(output.shape)}", output)
    if operator.options.activation is not Activation.NONE:
        yield Problem(f"fused activation must be NONE, not {operator.options.activation.name}")


@rule(SHAPE_RULES, "SOFTMAX", "LOG_SOFTMAX")
def normalizes_rows(graph: Graph, operator: Operator) -> Iterator[Problem]:
    """SOFTMAX and LOG_SOFTMAX work on rows of at most 4095 values, and keep the shape."""
    source, output = graph.input(operator), graph.output(operator)
    if not source.shape or source.shape[-1] > MAX_SOFTMAX_DEPTH:
        yield Problem(
            f"input must have rows of at most {MAX_SOFTMAX_DEPTH}, not {list(source.shape)}",
            source,
        )
    if source.shape != output.shape:
        yield Problem(f"output must be {list(source.shape)}, not {list(output.shape)}", output)
