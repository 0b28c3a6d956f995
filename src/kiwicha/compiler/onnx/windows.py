"""Kernels, strides and padding of convolutions and pools."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from kiwicha.compiler.onnx.layout import channels_last, reshaped
from kiwicha.compiler.onnx.model import Node
from kiwicha.compiler.onnx.values import Activation, Refusal
from kiwicha.compiler.onnx.writer import Writer
from kiwicha.compiler.tflite.graph import Padding

__all__ = ["Window", "as_image", "padded", "same_padding", "window_of"]


@dataclass(frozen=True)
class Window:
    """Geometry of a convolution or pool on images.

    Parameters
    ----------
    kernel, strides, dilations : tuple of int
        Height and width.
    pads : tuple of (int, int)
        Before and behind: rows, then columns.
    outputs : tuple of int
        Height and width of the result.
    """

    kernel: tuple[int, int]
    strides: tuple[int, int]
    dilations: tuple[int, int]
    pads: tuple[tuple[int, int], tuple[int, int]]
    outputs: tuple[int, int]

    def extents(self) -> tuple[int, int]:
        """Return height and width of the dilated kernel."""
        return (
            (self.kernel[0] - 1) * self.dilations[0] + 1,
            (self.kernel[1] - 1) * self.dilations[1] + 1,
        )


def images(shape: Sequence[int]) -> tuple[int, int]:
    """Return height and width of what has one or two dimensions behind batch and channels."""
    if len(shape) not in {3, 4}:
        raise Refusal(f"input must have 3 or 4 dimensions, not {list(shape)}")
    return (1, shape[2]) if len(shape) == 3 else (shape[2], shape[3])


def _pair(values: Sequence[int], default: int) -> tuple[int, int]:
    numbers = [int(value) for value in values]
    return (default, numbers[0]) if len(numbers) == 1 else (numbers[0], numbers[1])


def window_of(node: Node, shape: Sequence[int], kernel: Sequence[int]) -> Window:
    """Return the geometry of an operator.

    Parameters
    ----------
    node : Node
        With strides, dilations, pads or ``auto_pad``, and ``ceil_mode``.
    shape : sequence of int
        Of the input, channels second.
    kernel : sequence of int
        Of the window.
    """
    sizes, count = images(shape), len(shape) - 2
    if len(kernel) != count:
        raise Refusal(f"kernel must have {count} dimensions, not {list(kernel)}")
    sides = _pair(kernel, 1)
    strides = _pair(node.get("strides", [1] * count), 1)
    dilations = _pair(node.get("dilations", [1] * count), 1)
    given = [int(pad) for pad in node.get("pads", [0] * (2 * count))]
    before, behind = _pair(given[:count], 0), _pair(given[count:], 0)
    mode, is_ceiling = node.get("auto_pad", "NOTSET"), bool(node.get("ceil_mode", 0))
    pads, outputs = [], []
    for axis in range(2):
        extent = (sides[axis] - 1) * dilations[axis] + 1
        size, stride = sizes[axis], strides[axis]
        first, end = before[axis], behind[axis]
        if mode in {"SAME_UPPER", "SAME_LOWER"}:
            first, end = same_padding(size, extent, stride, is_lower=mode == "SAME_LOWER")
        elif mode == "VALID":
            first = end = 0
        room = size + first + end - extent
        count_out = (-(-room // stride) if is_ceiling else room // stride) + 1
        if is_ceiling and (count_out - 1) * stride >= size + first:
            count_out -= 1
        if room < 0 or count_out < 1 or min(first, end) < 0:
            raise Refusal(
                f"window of {sides[0]}x{sides[1]} must fit the input {list(shape)} and its pads"
            )
        # What no window reaches is not padded.
        end = (count_out - 1) * stride + extent - size - first
        pads.append((first, max(end, 0)))
        outputs.append(count_out)
    return Window(sides, strides, dilations, (pads[0], pads[1]), (outputs[0], outputs[1]))


def same_padding(size: int, extent: int, stride: int, *, is_lower: bool) -> tuple[int, int]:
    """Return the padding with which there is an output for every stride.

    Parameters
    ----------
    size, extent, stride : int
        Of input, dilated kernel and step.
    is_lower : bool
        The larger half comes first.
    """
    total = max((-(-size // stride) - 1) * stride + extent - size, 0)
    small, large = total // 2, total - total // 2
    return (large, small) if is_lower else (small, large)


def is_same(window: Window, sizes: Sequence[int]) -> bool:
    """Return whether a window's padding is TFLite's SAME."""
    return all(
        outputs == -(-size // stride) and pads == same_padding(size, extent, stride, is_lower=False)
        for size, extent, stride, pads, outputs in zip(
            sizes, window.extents(), window.strides, window.pads, window.outputs, strict=True
        )
    )


def as_image(writer: Writer, source: Activation) -> Activation:
    """Return an activation as images with channels last; a signal is an image of one row."""
    if len(source.shape) == 3:
        batch, channels, length = source.shape
        source = reshaped(writer, source, (batch, channels, 1, length))
    return channels_last(writer, source)


def padded(
    writer: Writer, image: Activation, window: Window, value: int | None = None
) -> tuple[Activation, Padding]:
    """Return images with a window's padding, and what is left of it for the operator.

    Parameters
    ----------
    writer : Writer
        Gets a PAD if TFLite has no name for the padding.
    image : Activation
        Channels last.
    window : Window
        Whose padding.
    value : int, optional
        Byte to pad with, where that is not zero's.
    """
    if window.pads == ((0, 0), (0, 0)):
        return image, Padding.VALID
    if is_same(window, image.shape[2:]):
        return image, Padding.SAME
    pads = np.array([(0, 0), *window.pads, (0, 0)], np.int32)
    shape = (
        *image.shape[:2],
        *(size + sum(sides) for size, sides in zip(image.shape[2:], window.pads, strict=True)),
    )
    more = [writer.integers(pads)]
    if value is not None:
        source = writer.tensors[image.tensor]
        data = np.array([value], np.int8)
        more.append(writer.tensor("", (1,), source.type, source.quantization, data))
    name = "PAD" if value is None else "PADV2"
    return writer.moved(name, image, shape, image.order, more), Padding.VALID
