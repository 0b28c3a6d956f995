"""A TFLite model as plain data: tensors, operators and how they are connected."""

import enum
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from kiwicha.compiler.tflite.tensor import Tensor
from kiwicha.errors import ModelError

__all__ = ["NO_TENSOR", "Activation", "Graph", "Operator", "Options", "Padding", "State"]

NO_TENSOR = -1
"""Index of an optional operand that is left out."""


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
    bias_type: int = 0
    """Number of a `TensorType`: which one a bias would have, where there is none."""
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
    is_approximate: int = 0
    batch_dims: int = 0
    mode: int = 0
    cell_clip: float = 0.0
    is_time_major: int = 0
    rank: int = 1
    is_exclusive: int = 0
    is_reverse: int = 0
    keeps_dims: int = 0
    is_first_adjoint: int = 0
    is_second_adjoint: int = 0
    variable: tuple[str, str] = ("", "")
    """Container and name of a variable."""
    subgraphs: tuple[int, ...] = ()
    """Numbers of the subgraphs that are called."""


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

    @property
    def is_nothing(self) -> bool:
        """Whether it neither reads nor writes: what it was for has been done."""
        return not self.inputs and not self.outputs


@dataclass(frozen=True)
class State:
    """What a model keeps from one inference to the next.

    Parameters
    ----------
    name : str
        Of the variable.
    before, after : int
        Tensors that hold it at the beginning and at the end of an inference, at the same place. One
        tensor, if one operator alone reads and writes it.
    writer : int
        Index of the operator that writes the latter: behind all others, if there are two.
    first : bytes
        What it is before the first inference.
    """

    name: str
    before: int
    after: int
    writer: int
    first: bytes

    @property
    def is_own(self) -> bool:
        """Whether it is the tensor of one operator alone."""
        return self.before == self.after


@dataclass(frozen=True)
class Graph:
    """A subgraph of a model; the first one, which is executed, knows the others.

    Parameters
    ----------
    tensors : tuple of Tensor
        By index.
    operators : tuple of Operator
        In order of execution.
    inputs, outputs : tuple of int
        Tensor indices.
    others : tuple of Graph
        Of the first subgraph: those behind it in the file.
    states : tuple of State
        What is kept between inferences, once variables are tensors: see
        `kiwicha.compiler.tflite.variables`.
    is_onnx : bool
        The model is an ONNX one. Weights of int8 can have a zero point; where TFLite rounds twice,
        results are rounded once where that is as exact; images are resized as those of uint8 are.
    """

    tensors: tuple[Tensor, ...]
    operators: tuple[Operator, ...]
    inputs: tuple[int, ...]
    outputs: tuple[int, ...]
    others: tuple["Graph", ...] = ()
    states: tuple[State, ...] = ()
    is_onnx: bool = False

    @cached_property
    def variables(self) -> Mapping[int, tuple[str, str]]:
        """Container and name of the variable for which each resource stands."""
        return {
            output: operator.options.variable
            for operator in self.operators
            if operator.name == "VAR_HANDLE"
            for output in operator.outputs
        }

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
        self._check_all_indices("")
        self._check_order(is_folded)
        for number, other in enumerate(self.others, 1):
            other._check_all_indices(f"subgraph {number}: ")

    def _check_all_indices(self, place: str) -> None:
        self._check_indices(f"{place}model inputs", self.inputs)
        self._check_indices(f"{place}model outputs", self.outputs)
        for operator in self.operators:
            where = f"{place}operator {operator.index} {operator.name}"
            present = [index for index in operator.inputs if index != NO_TENSOR]
            self._check_indices(f"{where}: inputs", present)
            self._check_indices(f"{where}: outputs", operator.outputs)

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
