"""Geometry of sliding windows: output sizes and padding, as TFLite defines them."""

from kiwicha.compiler.tflite.graph import Padding

__all__ = ["effective_size", "output_size", "padding_before"]


def effective_size(kernel: int, dilation: int) -> int:
    """Return the extent of a dilated kernel."""
    return (kernel - 1) * dilation + 1


def output_size(padding: Padding, size: int, kernel: int, stride: int, dilation: int) -> int:
    """Return the outputs along one dimension; 0 or less if the kernel does not fit."""
    if padding is Padding.SAME:
        return (size + stride - 1) // stride
    return (size + stride - effective_size(kernel, dilation)) // stride


def padding_before(size: int, kernel: int, stride: int, dilation: int, outputs: int) -> int:
    """Return the padding in front of the first element.

    Notes
    -----
    Ref: tensorflow/lite/kernels/padding.h, ComputePaddingWithOffset: an odd total puts the larger
    half behind the last element.
    """
    total = (outputs - 1) * stride + effective_size(kernel, dilation) - size
    return max(total, 0) // 2
