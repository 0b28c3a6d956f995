"""Resize: TFLite's operators where they do the same, otherwise a choice of rows and columns."""

import dataclasses
import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from kiwicha.compiler.onnx.layout import channels_last
from kiwicha.compiler.onnx.model import Node
from kiwicha.compiler.onnx.moves import gathered
from kiwicha.compiler.onnx.operands import activation, axes_of, constant, moved, operand, shape_of
from kiwicha.compiler.onnx.operators import Operands, onnx_operator
from kiwicha.compiler.onnx.values import Activation, Pending, Refusal, Scale, Value
from kiwicha.compiler.onnx.writer import Writer
from kiwicha.compiler.tflite.graph import Operator, Options
from kiwicha.compiler.tflite.slices import nearest

__all__: list[str] = []

_LINEAR = {
    "half_pixel": {"half_pixel_centers": 1},
    "pytorch_half_pixel": {"half_pixel_centers": 1},
    "align_corners": {"align_corners": 1},
    "asymmetric": {},
}
_SETTINGS: tuple[dict[str, Any], ...] = (
    {},
    {"half_pixel_centers": 1},
    {"align_corners": 1},
    {"align_corners": 1, "half_pixel_centers": 1},
)


@onnx_operator("Resize", "Upsample")
def resize(writer: Writer, node: Node, inputs: Operands) -> Value:
    """Resize works on heights and widths, nearest in all modes.

    Linear works in the modes half_pixel, pytorch_half_pixel, align_corners and asymmetric, with one
    scale and zero point for input and output.
    """
    value = operand(inputs, 0)
    if value is None:
        raise Refusal("input must be there")
    shape = shape_of(value)
    if len(shape) != 4:
        raise Refusal(f"input must have 4 dimensions, not {list(shape)}")
    sizes, scales = _target(node, inputs, shape)
    if sizes[:2] != list(shape[:2]):
        raise Refusal(f"batch and channels must stay {list(shape[:2])}, not become {sizes[:2]}")
    mode = node.get("mode", "nearest")
    if node.get("antialias", 0) or mode not in {"nearest", "linear"}:
        raise Refusal(f"mode must be nearest or linear without antialias, not {mode}")
    if mode == "nearest":
        positions = [
            _nearest(node, size, target, scale)
            for size, target, scale in zip(shape[2:], sizes[2:], scales[2:], strict=True)
        ]
        return moved(value, sizes, lambda source: _chosen(writer, source, positions, sizes))
    return _linear(writer, node, activation(writer, value), sizes, scales)


def _target(node: Node, inputs: Operands, shape: Sequence[int]) -> tuple[list[int], list[float]]:
    """Return the sizes of the result, and by which factors coordinates grow."""
    first = 1 if node.kind == "Upsample" or node.opset < 11 else 2
    given, asked = operand(inputs, first), operand(inputs, 3)
    chosen = axes_of([int(k) for k in node.get("axes", range(len(shape)))], len(shape))
    sizes, scales = list(shape), [1.0] * len(shape)
    if given is not None and constant(given, "scales").size:
        factors = [float(factor) for factor in constant(given, "scales").reshape(-1)]
        for axis, factor in zip(chosen, factors, strict=True):
            scales[axis] = factor
            sizes[axis] = math.floor(shape[axis] * factor)
    elif asked is not None:
        if node.get("keep_aspect_ratio_policy", "stretch") != "stretch":
            raise Refusal("keep_aspect_ratio_policy must be stretch")
        for axis, size in zip(chosen, constant(asked, "sizes").reshape(-1), strict=True):
            sizes[axis] = int(size)
            scales[axis] = int(size) / shape[axis]
    else:
        raise Refusal("scales or sizes must be constants")
    if min(sizes) < 1:
        raise Refusal(f"output must have sizes of 1 or more, not {sizes}")
    return sizes, scales


def _coordinates(
    node: Node, size: int, target: int, scale: float
) -> "np.ndarray[tuple[int], np.dtype[np.float64]]":
    """Return where each position of the result is in the input."""
    mode = node.get("coordinate_transformation_mode", "half_pixel")
    if node.kind == "Upsample" or node.opset < 11:
        mode = "asymmetric"
    positions = np.arange(target, dtype=np.float64)
    if mode == "asymmetric":
        return positions / scale
    if mode == "align_corners":
        return positions * (size - 1) / (target - 1) if target > 1 else positions * 0
    if mode == "pytorch_half_pixel" and target == 1:
        return positions * 0
    if mode in {"half_pixel", "pytorch_half_pixel"}:
        return (positions + 0.5) / scale - 0.5
    if mode == "half_pixel_symmetric":
        shift = (1 - target / (scale * size)) * size / 2
        return shift + (positions + 0.5) / scale - 0.5
    raise Refusal(f"coordinate_transformation_mode must not be {mode}")


def _nearest(node: Node, size: int, target: int, scale: float) -> list[int]:
    """Return the position that each one of the result repeats."""
    exact = _coordinates(node, size, target, scale)
    default = "floor" if node.kind == "Upsample" or node.opset < 11 else "round_prefer_floor"
    rounded = {
        "floor": np.floor(exact),
        "ceil": np.ceil(exact),
        "round_prefer_floor": np.ceil(exact - 0.5),
        "round_prefer_ceil": np.floor(exact + 0.5),
    }[node.get("nearest_mode", default)]
    return [int(position) for position in rounded.clip(0, size - 1)]


def _chosen(
    writer: Writer, source: Activation, positions: Sequence[list[int]], sizes: Sequence[int]
) -> Activation:
    """Return rows and columns of images, repeated or left out."""
    image = channels_last(writer, source)
    if tuple(sizes) == image.shape:
        return image
    for settings in _SETTINGS:
        options = dataclasses.replace(Options(), **settings)
        operator = Operator(0, "RESIZE_NEAREST_NEIGHBOR", (), (), options)
        if all(
            nearest(operator, image.shape[axis], sizes[axis]) == positions[axis - 2]
            for axis in (2, 3)
        ):
            target = writer.integers(sizes[2:])
            return writer.moved(operator.name, image, sizes, image.order, (target,), **settings)
    for axis in (2, 3):
        image = gathered(writer, image, axis, positions[axis - 2])
    return image


def _linear(
    writer: Writer, node: Node, source: Activation, sizes: Sequence[int], scales: Sequence[float]
) -> Pending:
    mode = node.get("coordinate_transformation_mode", "half_pixel")
    settings = _LINEAR.get(mode)
    if node.kind == "Upsample" or node.opset < 11:
        settings = {}
    if settings is None:
        raise Refusal(f"coordinate_transformation_mode must be one of {', '.join(_LINEAR)}")
    pairs = list(zip(source.shape[2:], sizes[2:], scales[2:], strict=True))
    if any(not math.isclose(scale, target / size) for size, target, scale in pairs):
        raise Refusal(f"scales must give whole sizes, not {list(scales[2:])}")
    if mode == "pytorch_half_pixel" and any(1 == target != size for size, target, _ in pairs):
        raise Refusal("pytorch_half_pixel must have outputs of more than one pixel")

    def emit(scale: Scale) -> Activation:
        if not writer.scale_of(source).is_same(scale):
            raise Refusal("linear must have one scale and zero point for input and output")
        image = channels_last(writer, source)
        if tuple(sizes) == image.shape:
            return image
        target = writer.integers(sizes[2:])
        return writer.moved("RESIZE_BILINEAR", image, sizes, image.order, (target,), **settings)

    return Pending(node.outputs[0], tuple(sizes), emit)
