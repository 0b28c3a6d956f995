"""A TFLite model as plain data: tensors, operators and how they are connected."""

import enum
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kiwicha.errors import ModelError

__all__ = [
    "NO_TENSOR",
    "Activation",
    "Graph",
    "Operator",
    "Options",
    "Padding",
    "Quantization",
    "Tensor",
    "TensorType",
    "quantization",
]

NO_TENSOR = -1
"""Index of an optional operand that is left out."""


class TensorType(enum.IntEnum):
    """Element types of the TFLite schema."""

    FLOAT32 = 0
    FLOAT16 = 1
    INT32 = 2
    UINT8 = 3
    INT64 = 4
    STRING = 5
    BOOL = 6
    INT16 = 7
    COMPLEX64 = 8
    INT8 = 9
    FLOAT64 = 10
    COMPLEX128 = 11
    UINT64 = 12
    RESOURCE = 13
    VARIANT = 14
    UINT32 = 15
    UINT16 = 16
    INT4 = 17
    BFLOAT16 = 18

    @property
    def text(self) -> str:
        """Name in messages."""
        return self.name.lower()

    @property
    def bits(self) -> int | None:
        """Bits per element; None if elements have no fixed size."""
        return _BITS.get(self)


_BITS = {
    TensorType.FLOAT32: 32,
    TensorType.FLOAT16: 16,
    TensorType.INT32: 32,
    TensorType.UINT8: 8,
    TensorType.INT64: 64,
    TensorType.BOOL: 8,
    TensorType.INT16: 16,
    TensorType.COMPLEX64: 64,
    TensorType.INT8: 8,
    TensorType.FLOAT64: 64,
    TensorType.COMPLEX128: 128,
    TensorType.UINT64: 64,
    TensorType.UINT32: 32,
    TensorType.UINT16: 16,
    TensorType.INT4: 4,
    TensorType.BFLOAT16: 16,
}


class Activation(enum.IntEnum):
    """Fused activation functions of the TFLite schema."""

    NONE = 0
    RELU = 1
    RELU_N1_TO_1 = 2
    RELU6 = 3
    TANH = 4
    SIGN_BIT = 5


class Padding(enum.IntEnum):
    """Padding schemes of the TFLite schema."""

    SAME = 0
    VALID = 1


@dataclass(frozen=True, eq=False)
class Quantization:
    """``real = scale * (value - zero_point)``.

    Parameters
    ----------
    scales : float32 [n]
        One for the tensor or one per slice of ``dimension``.
    zero_points : int64 [m]
        As many as scales in a well-formed model.
    dimension : int
        The sliced dimension.
    is_single : bool
        The values are uint8 in the model: some products of scales are rounded to float32.
    """

    scales: NDArray[np.float32]
    zero_points: NDArray[np.int64]
    dimension: int
    is_single: bool = False

    @property
    def scale(self) -> float:
        """The first scale, exactly."""
        return float(self.scales[0])

    @property
    def factor(self) -> np.floating[Any]:
        """The first scale, for products and quotients that are of float32 where it is single."""
        return self.scales[0] if self.is_single else np.float64(self.scales[0])

    @property
    def zero_point(self) -> int:
        """The first zero point."""
        return int(self.zero_points[0])


@dataclass(frozen=True, eq=False)
class Tensor:
    """One tensor of the model.

    Parameters
    ----------
    index : int
        Position in the model.
    name : str
        As in the model; invalid UTF-8 and what cannot be printed are replaced.
    type : TensorType
        Element type.
    shape : tuple of int
        Row-major; () is a scalar.
    shape_signature : tuple of int
        The shape with -1 for unknown dimensions; () if the model does not say.
    quantization : Quantization or None
        None if scales or zero points are missing.
    data : uint8 [bytes] or None
        Bytes of a constant, None for what is computed.
    is_variable : bool
        The tensor keeps its value from one inference to the next.
    is_sparse : bool
        ``data`` holds only the elements that are not zero.
    is_shifted : bool
        Values are uint8 in the model; here they and the zero points are int8, less by 128.
    """

    index: int
    name: str
    type: TensorType
    shape: tuple[int, ...]
    shape_signature: tuple[int, ...]
    quantization: Quantization | None
    data: NDArray[np.uint8] | None
    is_variable: bool
    is_sparse: bool
    is_shifted: bool = False

    @property
    def elements(self) -> int:
        """Number of elements."""
        return math.prod(self.shape)

    @property
    def stored_bytes(self) -> int:
        """Bytes of the elements; their type must have a fixed size."""
        assert self.type.bits is not None
        return -(-self.elements * self.type.bits // 8)

    @property
    def is_constant(self) -> bool:
        """Whether the model holds the values."""
        return self.data is not None

    @property
    def shift(self) -> int:
        """What the values are less than in the model."""
        return 128 if self.is_shifted else 0

    def int8s(self) -> NDArray[np.int8]:
        """Return the values of a constant of type int8."""
        assert self.data is not None
        return self.data.view(np.int8).reshape(self.shape)

    def int32s(self) -> NDArray[np.int32]:
        """Return the values of a constant of type int32."""
        assert self.data is not None
        return self.data.view("<i4").reshape(self.shape)

    def integers(self) -> list[int]:
        """Return the values of a constant of type int8, int32 or int64, in order."""
        assert self.data is not None
        kinds = {TensorType.INT8: "<i1", TensorType.INT32: "<i4", TensorType.INT64: "<i8"}
        return [int(value) for value in self.data.view(kinds[self.type])]


def quantization(tensor: Tensor) -> Quantization:
    """Return the quantization of a tensor that must have one."""
    assert tensor.quantization is not None
    return tensor.quantization


@dataclass(frozen=True)
class Options:
    """Settings of an operator; those that its kind lacks keep the default."""

    activation: Activation = Activation.NONE
    padding: Padding = Padding.VALID
    stride_height: int = 1
    stride_width: int = 1
    dilation_height: int = 1
    dilation_width: int = 1
    kernel_height: int = 1
    kernel_width: int = 1
    depth_multiplier: int = 1
    weights_format: int = 0
    beta: float = 1.0
    alpha: float = 0.0
    custom: bytes = b""
    axis: int = 0
    block_size: int = 1
    begin_mask: int = 0
    end_mask: int = 0
    ellipsis_mask: int = 0
    new_axis_mask: int = 0
    shrink_axis_mask: int = 0
    is_offset: int = 0
    align_corners: int = 0
    half_pixel_centers: int = 0


@dataclass(frozen=True)
class Operator:
    """One operator.

    Parameters
    ----------
    index : int
        Position in the model, which is the order of execution.
    name : str
        TFLite name such as ``CONV_2D``, or ``CUSTOM:`` and the custom operator's name.
    inputs, outputs : tuple of int
        Tensor indices; `NO_TENSOR` for an optional input that is left out.
    options : Options
        Settings.
    """

    index: int
    name: str
    inputs: tuple[int, ...]
    outputs: tuple[int, ...]
    options: Options


@dataclass(frozen=True)
class Graph:
    """The first subgraph of a model.

    Parameters
    ----------
    tensors : tuple of Tensor
        By index.
    operators : tuple of Operator
        In order of execution.
    inputs, outputs : tuple of int
        Tensor indices.
    subgraph_count : int
        Subgraphs in the file.
    """

    tensors: tuple[Tensor, ...]
    operators: tuple[Operator, ...]
    inputs: tuple[int, ...]
    outputs: tuple[int, ...]
    subgraph_count: int

    def operand(self, operator: Operator, position: int) -> Tensor | None:
        """Return an operator's input, None if it is left out."""
        if position >= len(operator.inputs) or operator.inputs[position] == NO_TENSOR:
            return None
        return self.tensors[operator.inputs[position]]

    def input(self, operator: Operator, position: int = 0) -> Tensor:
        """Return an operator's input, which must be there."""
        return self.tensors[operator.inputs[position]]

    def output(self, operator: Operator) -> Tensor:
        """Return an operator's first output."""
        return self.tensors[operator.outputs[0]]

    def is_done(self, operator: Operator) -> bool:
        """Whether nothing is left to do: its outputs became constants."""
        return bool(operator.outputs) and all(self.tensors[i].is_constant for i in operator.outputs)

    def verify(self, *, is_folded: bool = False) -> None:
        """Check that indices are in range and that everything is written before it is read.

        Parameters
        ----------
        is_folded : bool
            Outputs of operators without inputs may have become constants.

        Raises
        ------
        ModelError
            If not.
        """
        if not self.operators or not self.outputs:
            raise ModelError("the model must have at least one operator and one output")
        self._check_indices("model inputs", self.inputs)
        self._check_indices("model outputs", self.outputs)
        for operator in self.operators:
            where = f"operator {operator.index} {operator.name}"
            present = [index for index in operator.inputs if index != NO_TENSOR]
            self._check_indices(f"{where}: inputs", present)
            self._check_indices(f"{where}: outputs", operator.outputs)
        self._check_order(is_folded)

    def _check_indices(self, what: str, indices: Sequence[int]) -> None:
        for index in indices:
            if not 0 <= index < len(self.tensors):
                raise ModelError(
                    f"{what} must be tensors 0 to {len(self.tensors) - 1}, not {index}"
                )

    def _check_order(self, is_folded: bool) -> None:
        written = {t.index for t in self.tensors if t.is_constant or t.is_variable}

        def write(what: str, index: int) -> None:
            if index in written:
                raise ModelError(f"{what} {self._describe(index)} must be written only once")
            written.add(index)

        for index in self.inputs:
            write("model input", index)
        for operator in self.operators:
            where = f"operator {operator.index} {operator.name}"
            for index in operator.inputs:
                if index != NO_TENSOR and index not in written:
                    raise ModelError(
                        f"{where}: input {self._describe(index)} must be a constant, a model input "
                        "or the output of an earlier operator"
                    )
            for index in operator.outputs:
                if not (is_folded and not operator.inputs and self.tensors[index].is_constant):
                    write(f"{where}: output", index)
        for index in self.outputs:
            if index not in written:
                raise ModelError(
                    f"model output {self._describe(index)} must be computed by an operator"
                )

    def _describe(self, index: int) -> str:
        return f"tensor {index} ({self.tensors[index].name})"
