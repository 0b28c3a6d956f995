"""What operators ask of their inputs."""

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from kiwicha.compiler.onnx.operators import Operands
from kiwicha.compiler.onnx.values import (
    Activation,
    Codes,
    Constant,
    Pending,
    Quantized,
    Refusal,
    Scale,
    Unquantized,
    Value,
)
from kiwicha.compiler.onnx.writer import Writer
from kiwicha.compiler.tflite.tensor import Quantization, TensorType

__all__ = [
    "activation",
    "axes_of",
    "bytes_of",
    "constant",
    "integers",
    "moved",
    "operand",
    "scale_of_codes",
    "shape_of",
    "weights",
]

Move = Callable[[Activation], Activation]


def operand(inputs: Operands, position: int) -> Value | None:
    """Return an input, None if it is left out."""
    return inputs[position] if position < len(inputs) else None


def activation(writer: Writer, value: Value | None, what: str = "input") -> Activation:
    """Return an input that is quantized right before the operator."""
    if isinstance(value, Activation):
        if not writer.is_plain(value):
            raise Unquantized(
                f"{what} must be quantized, not float32: QuantizeLinear and DequantizeLinear must "
                f"stand between it and the function of {writer.name_of(value)}"
            )
        return value
    if isinstance(value, Pending):
        raise Unquantized(
            f"{what} must be quantized, not float32: QuantizeLinear and DequantizeLinear must "
            f"stand between it and {value.name}"
        )
    if isinstance(value, Quantized):
        raise Refusal(f"{what} must be float32 from a DequantizeLinear, not bytes")
    if isinstance(value, Constant):
        raise Refusal(f"{what} must be computed, not a constant")
    raise Refusal(f"{what} must be there")


def shape_of(value: Value) -> tuple[int, ...]:
    """Return the shape of any value."""
    if isinstance(value, Quantized):
        return value.inside.shape
    return value.values.shape if isinstance(value, Constant) else value.shape


def moved(value: Value | None, shape: Sequence[int], move: Move, what: str = "input") -> Value:
    """Return a value after what moves bytes, or chooses some of them.

    Parameters
    ----------
    value : Value
        Activation, bytes, or what waits for its scale.
    shape : sequence of int
        Of the result.
    move : callable
        From activation to activation.
    what : str
        Name in messages.
    """
    if isinstance(value, Activation):
        return move(value)
    if isinstance(value, Quantized):
        return Quantized(move(value.inside), value.scale)
    if isinstance(value, Pending):
        pending = value
        return Pending(pending.name, tuple(shape), lambda scale: move(pending.at(scale)))
    raise Refusal(f"{what} must be computed, not a constant")


def constant(value: Value | None, what: str) -> NDArray[np.generic]:
    """Return the numbers of an input that is a constant."""
    if not isinstance(value, Constant):
        raise Refusal(f"{what} must be a constant")
    return value.values


def integers(value: Value | None, what: str) -> list[int]:
    """Return an input that is a constant of integers."""
    return [int(number) for number in constant(value, what).reshape(-1)]


def axes_of(axes: Sequence[int], rank: int, what: str = "axes") -> list[int]:
    """Return dimensions counted from the first one."""
    if any(not -rank <= axis < rank for axis in axes):
        raise Refusal(f"{what} must be {-rank} to {rank - 1}, not {list(axes)}")
    return [axis % rank for axis in axes]


def scale_of_codes(codes: Codes) -> Scale:
    """Return the one scale of a constant of bytes."""
    return Scale(float(codes.scales[0]), int(codes.zero_points[0]))


def bytes_of(value: Constant, what: str) -> tuple[NDArray[np.int64], Scale]:
    """Return a constant operand as bytes and their scale."""
    codes = value.codes
    if codes is None or codes.bits != 8 or len(codes.scales) != 1:
        raise Unquantized(
            f"{what} must be quantized, not a constant of {value.values.dtype}: int8 or uint8 with "
            "one scale and a DequantizeLinear behind it"
        )
    return codes.values, scale_of_codes(codes)


def weights(
    writer: Writer, value: Value | None, permutation: Sequence[int], axis: int, name: str
) -> tuple[int, Codes]:
    """Add weights to the graph.

    Parameters
    ----------
    writer : Writer
        Gets them.
    value : Value
        As in the file.
    permutation : sequence of int
        From ONNX's order of dimensions to the graph's.
    axis : int
        Dimension of the output channels, in ONNX's order.
    name : str
        Of the tensor.

    Returns
    -------
    tensor : int
        Index.
    codes : Codes
        What the file says of them.
    """
    if not isinstance(value, Constant):
        raise Refusal("weights must be constants")
    codes = value.codes
    if codes is None or codes.bits != 8:
        raise Unquantized(
            f"weights must be quantized, not {value.values.dtype}: int8 or uint8 with a "
            "DequantizeLinear behind them"
        )
    if len(codes.scales) > 1 and codes.axis != axis:
        raise Refusal(
            f"weights must have one scale, or one for each output channel (axis {axis}), "
            f"not one along axis {codes.axis}"
        )
    values, zero_point = _without_zero_points(codes)
    quantization = Quantization(
        codes.scales.astype(np.float32),
        np.full(len(codes.scales), zero_point, np.int64),
        list(permutation).index(axis),
    )
    data = values.transpose(permutation).astype(np.int8)
    tensor = writer.tensor(name, data.shape, TensorType.INT8, quantization, data)
    return tensor, codes


def _without_zero_points(codes: Codes) -> tuple[NDArray[np.int64], int]:
    """Return weights and their zero point: 0 if what is left without it are int8."""
    sizes = [1] * codes.values.ndim
    if len(codes.scales) > 1:
        sizes[codes.axis] = -1
    differences = codes.values - codes.zero_points.reshape(sizes)
    if -128 <= differences.min() and differences.max() <= 127:
        return differences, 0
    if len(set(codes.zero_points.tolist())) > 1:
        raise Refusal(
            "weights with a zero point for each channel must be int8 without it, not -255 to 255: "
            "quantize them symmetrically (extra_options={'WeightSymmetric': True})"
        )
    return codes.values, int(codes.zero_points[0])
