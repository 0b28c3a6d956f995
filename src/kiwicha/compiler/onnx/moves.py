"""Operators that change a shape, or choose elements: in any order of dimensions."""

from collections.abc import Sequence

import numpy as np

from kiwicha.compiler.onnx.layout import channels_last, reshaped, settled, transposed
from kiwicha.compiler.onnx.model import Node
from kiwicha.compiler.onnx.operands import axes_of, constant, integers, moved, operand, shape_of
from kiwicha.compiler.onnx.operators import Operands, onnx_operator
from kiwicha.compiler.onnx.values import Activation, Codes, Constant, Refusal, Value
from kiwicha.compiler.onnx.writer import Writer

__all__ = ["gathered"]


def _value(inputs: Operands) -> Value:
    value = operand(inputs, 0)
    if value is None:
        raise Refusal("input must be there")
    return value


def _reshaped(writer: Writer, value: Value, shape: Sequence[int]) -> Value:
    """Return a value under another shape."""
    if isinstance(value, Constant):
        codes = value.codes
        if codes is not None:
            if len(codes.scales) > 1:
                raise Refusal("constants with a scale for each channel must keep their shape")
            axes = (codes.scales, codes.zero_points, 0, codes.bits)
            codes = Codes(codes.values.reshape(shape), *axes)
        return Constant(value.values.reshape(shape), codes)
    return moved(value, shape, lambda source: reshaped(writer, source, shape))


@onnx_operator("Identity", "Dropout")
def identity(writer: Writer, node: Node, inputs: Operands) -> Value:
    """Identity and Dropout give what they read; a mask is not read."""
    del writer
    if len([name for name in node.outputs if name]) > 1:
        raise Refusal("only the first output must be read, not the mask")
    return _value(inputs)


@onnx_operator("Reshape")
def reshape(writer: Writer, node: Node, inputs: Operands) -> Value:
    """Reshape has a constant shape, or one that is computed from shapes."""
    value, asked = _value(inputs), integers(operand(inputs, 1), "shape")
    old = shape_of(value)
    sizes = list(asked)
    if not node.get("allowzero", 0):
        sizes = [
            old[axis] if size == 0 and axis < len(old) else size for axis, size in enumerate(sizes)
        ]
    try:
        shape = np.broadcast_to(np.int8(0), old).reshape(sizes).shape
    except ValueError:
        raise Refusal(f"shape must fit the input {list(old)}, not be {asked}") from None
    return _reshaped(writer, value, shape)


@onnx_operator("Flatten")
def flatten(writer: Writer, node: Node, inputs: Operands) -> Value:
    """Flatten gives rows of any length."""
    value = _value(inputs)
    shape = shape_of(value)
    axis = int(node.get("axis", 1))
    axis += len(shape) if axis < 0 else 0
    rows = int(np.prod(shape[:axis], dtype=np.int64))
    return _reshaped(writer, value, (rows, int(np.prod(shape[axis:], dtype=np.int64))))


@onnx_operator("Squeeze", "Unsqueeze")
def squeeze(writer: Writer, node: Node, inputs: Operands) -> Value:
    """Squeeze and Unsqueeze have constant axes."""
    value, given = _value(inputs), operand(inputs, 1)
    shape = shape_of(value)
    axes = integers(given, "axes") if given is not None else list(node.get("axes", []))
    if node.kind == "Squeeze":
        chosen = axes_of(axes, len(shape)) or [k for k, size in enumerate(shape) if size == 1]
        if any(shape[axis] != 1 for axis in chosen):
            raise Refusal(f"squeezed dimensions must be 1, not those of {list(shape)}")
        new = [size for axis, size in enumerate(shape) if axis not in chosen]
    else:
        rest = iter(shape)
        chosen = axes_of(axes, len(shape) + len(axes))
        new = [1 if axis in chosen else next(rest) for axis in range(len(shape) + len(axes))]
    return _reshaped(writer, value, new)


@onnx_operator("Transpose")
def transpose(writer: Writer, node: Node, inputs: Operands) -> Value:
    """Transpose permutes dimensions; what cancels is not executed."""
    value = _value(inputs)
    shape = shape_of(value)
    permutation = [int(axis) for axis in node.get("perm", range(len(shape))[::-1])]
    if isinstance(value, Constant):
        codes = value.codes
        if codes is not None:
            axis = permutation.index(codes.axis) if permutation else 0
            turned = codes.values.transpose(permutation)
            codes = Codes(turned, codes.scales, codes.zero_points, axis, codes.bits)
        return Constant(value.values.transpose(permutation), codes)
    new = [shape[axis] for axis in permutation]
    return moved(value, new, lambda source: transposed(settled(writer, source), permutation))


@onnx_operator("Slice")
def slice_(writer: Writer, node: Node, inputs: Operands) -> Value:
    """Slice has constant starts, ends, axes and steps."""
    value = _value(inputs)
    shape = shape_of(value)
    if node.opset < 10:
        starts, ends = list(node.get("starts", [])), list(node.get("ends", []))
        axes, steps = list(node.get("axes", range(len(starts)))), [1] * len(starts)
    else:
        starts, ends = integers(operand(inputs, 1), "starts"), integers(operand(inputs, 2), "ends")
        given, strides = operand(inputs, 3), operand(inputs, 4)
        axes = list(range(len(starts))) if given is None else integers(given, "axes")
        steps = [1] * len(starts) if strides is None else integers(strides, "steps")
    chosen = [range(size) for size in shape]
    for start, end, axis, step in zip(starts, ends, axes_of(axes, len(shape)), steps, strict=True):
        if step == 0:
            raise Refusal("steps must not be 0")
        chosen[axis] = chosen[axis][slice(start, end, step)]
    new = [len(positions) for positions in chosen]
    if min(new, default=1) < 1:
        raise Refusal(f"slices must not be empty, as of {list(shape)} here: {new}")

    def cut(source: Activation) -> Activation:
        for axis, positions in enumerate(chosen):
            if positions.step < 0 and len(positions) > 1:
                source = gathered(writer, source, axis, list(positions))
        turned = [
            range(len(positions)) if positions.step < 0 and len(positions) > 1 else positions
            for positions in chosen
        ]
        return _cut(writer, source, turned, new)

    return moved(value, new, cut)


def _cut(
    writer: Writer, source: Activation, chosen: Sequence[range], shape: Sequence[int]
) -> Activation:
    """Return positions along each dimension, in steps of 1 or more."""
    source = settled(writer, source)
    if tuple(shape) == source.shape:
        return source
    stored = [chosen[axis] for axis in source.order]
    begins = writer.integers([positions[0] for positions in stored])
    if all(positions.step == 1 or len(positions) == 1 for positions in stored):
        sizes = writer.integers([len(positions) for positions in stored])
        return writer.moved("SLICE", source, shape, source.order, (begins, sizes))
    ends = writer.integers([positions[-1] + 1 for positions in stored])
    steps = writer.integers([max(positions.step, 1) for positions in stored])
    return writer.moved("STRIDED_SLICE", source, shape, source.order, (begins, ends, steps))


@onnx_operator("Split")
def split(writer: Writer, node: Node, inputs: Operands) -> list[Value]:
    """Split has constant sizes, or makes equal parts."""
    value, given = _value(inputs), operand(inputs, 1)
    shape = shape_of(value)
    (axis,) = axes_of([int(node.get("axis", 0))], len(shape), "axis")
    count = len(node.outputs)
    if given is not None:
        sizes = integers(given, "sizes")
    elif "split" in node.attributes:
        sizes = [int(size) for size in node.get("split", [])]
    else:
        part = -(-shape[axis] // count)
        sizes = [min(part, shape[axis] - part * number) for number in range(count)]
    if len(sizes) != count or sum(sizes) != shape[axis] or min(sizes) < 1:
        raise Refusal(f"sizes must be {count} with the sum {shape[axis]}, not {sizes}")
    parts: dict[int, list[Activation]] = {}

    def part_of(number: int) -> Value:
        new = (*shape[:axis], sizes[number], *shape[axis + 1 :])

        def cut(source: Activation) -> Activation:
            if source.tensor not in parts:
                parts[source.tensor] = _split(writer, source, axis, sizes)
            return parts[source.tensor][number]

        return moved(value, new, cut)

    return [part_of(number) for number in range(count)]


def _split(writer: Writer, source: Activation, axis: int, sizes: Sequence[int]) -> list[Activation]:
    source = settled(writer, source)
    results = [
        writer.beside(source, (*source.shape[:axis], size, *source.shape[axis + 1 :]), source.order)
        for size in sizes
    ]
    more = (writer.integers(sizes), writer.integers([source.place(axis)]))
    writer.operator("SPLIT_V", (source.tensor, *more), [item.tensor for item in results])
    return results


@onnx_operator("Gather")
def gather(writer: Writer, node: Node, inputs: Operands) -> Value:
    """Gather has constant indices of at most one dimension."""
    value = _value(inputs)
    given = constant(operand(inputs, 1), "indices")
    shape = shape_of(value)
    (axis,) = axes_of([int(node.get("axis", 0))], len(shape), "axis")
    if given.ndim > 1:
        raise Refusal(f"indices must have at most one dimension, not {list(given.shape)}")
    positions = [int(index) for index in given.reshape(-1)]
    positions = axes_of(positions, shape[axis], "indices")
    new = (*shape[:axis], *given.shape, *shape[axis + 1 :])

    def choose(source: Activation) -> Activation:
        return reshaped(writer, gathered(writer, source, axis, positions), new)

    return moved(value, new, choose)


def gathered(writer: Writer, source: Activation, axis: int, positions: Sequence[int]) -> Activation:
    """Return positions along one dimension of an activation, in any order.

    Parameters
    ----------
    writer : Writer
        Gets a GATHER, unless all stay where they are.
    source : Activation
        In whatever order.
    axis : int
        Dimension of its shape.
    positions : sequence of int
        0 or more.
    """
    source = settled(writer, source)
    if list(positions) == list(range(source.shape[axis])):
        return source
    shape = (*source.shape[:axis], len(positions), *source.shape[axis + 1 :])
    place, indices = source.place(axis), writer.integers(positions)
    return writer.moved("GATHER", source, shape, source.order, (indices,), axis=place)


@onnx_operator("Pad")
def pad(writer: Writer, node: Node, inputs: Operands) -> Value:
    """Pad adds 0 or more elements, of one constant or (reflect) as in a mirror."""
    value, mode = _value(inputs), node.get("mode", "constant")
    shape = shape_of(value)
    given = operand(inputs, 1)
    pads = integers(given, "pads") if given is not None else list(node.get("pads", []))
    named = operand(inputs, 3)
    axes = list(range(len(shape))) if named is None else integers(named, "axes")
    axes = axes_of(axes, len(shape))
    if mode not in {"constant", "reflect"}:
        raise Refusal(f"mode must be constant or reflect, not {mode}")
    if len(pads) != 2 * len(axes) or min(pads, default=0) < 0:
        raise Refusal(f"pads must be {2 * len(axes)} numbers of 0 or more, not {pads}")
    sides = [(0, 0)] * len(shape)
    for number, axis in enumerate(axes):
        sides[axis] = (int(pads[number]), int(pads[number + len(axes)]))
    filled = operand(inputs, 2)
    value_added = float(node.get("value", 0.0))
    if filled is not None:
        value_added = float(constant(filled, "value").astype(np.float32).reshape(-1)[0])
    new = [size + sum(pair) for size, pair in zip(shape, sides, strict=True)]

    def add(source: Activation) -> Activation:
        source = settled(writer, source)
        if tuple(new) == source.shape:
            return source
        stored = writer.integers(np.array([sides[axis] for axis in source.order]))
        if mode == "reflect":
            return writer.moved("MIRROR_PAD", source, new, source.order, (stored,), mode=0)
        code = _code(writer, source, value_added)
        scale = writer.scale_of(source)
        if code == scale.zero_point:
            return writer.moved("PAD", source, new, source.order, (stored,))
        kind, quantization = writer.tensors[source.tensor].type, writer.tensors[source.tensor]
        data = np.array([code], np.int8)
        byte = writer.tensor("", (1,), kind, quantization.quantization, data)
        return writer.moved("PADV2", source, new, source.order, (stored, byte))

    return moved(value, new, add)


def _code(writer: Writer, source: Activation, number: float) -> int:
    """Return the byte that stands for a number."""
    if writer.is_plain(source):
        return int(writer.scale_of(source).codes(np.array([number]))[0])
    places = np.flatnonzero(source.reals == np.float32(number))
    if not places.size:
        raise Refusal(f"value must be one that the input can have, not {number}")
    return int(np.uint8(places[0]).view(np.int8))


@onnx_operator("DepthToSpace", "SpaceToDepth")
def blocks(writer: Writer, node: Node, inputs: Operands) -> Value:
    """DepthToSpace and SpaceToDepth work on images of whole blocks, in both modes."""
    value, size = _value(inputs), int(node.get("blocksize", 1))
    batch, channels, height, width = _image(shape_of(value))
    is_to_space = node.kind == "DepthToSpace"
    divided = (channels,) if is_to_space else (height, width)
    step = size * size if is_to_space else size
    if size < 1 or any(extent % step for extent in divided):
        raise Refusal(f"image must have whole blocks of {size}x{size}")
    if is_to_space:
        new = (batch, channels // (size * size), height * size, width * size)
    else:
        new = (batch, channels * size * size, height // size, width // size)
    is_crossed = is_to_space and node.get("mode", "DCR") == "CRD"

    def turn(source: Activation) -> Activation:
        image = channels_last(writer, source)
        if is_crossed:
            count = new[1]
            crossed = np.arange(channels).reshape(count, size * size).T.reshape(-1)
            image = gathered(writer, image, 1, [int(k) for k in crossed])
        name = "DEPTH_TO_SPACE" if is_to_space else "SPACE_TO_DEPTH"
        return writer.moved(name, image, new, image.order, block_size=size)

    return moved(value, new, turn)


def _image(shape: Sequence[int]) -> tuple[int, int, int, int]:
    if len(shape) != 4:
        raise Refusal(f"input must have 4 dimensions, not {list(shape)}")
    return shape[0], shape[1], shape[2], shape[3]
