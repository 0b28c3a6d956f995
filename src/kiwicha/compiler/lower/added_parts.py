"""Operators and tensors that lowering adds to a model, behind those that it has."""

import dataclasses
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from kiwicha.compiler.tflite.graph import Graph, Operator, Options
from kiwicha.compiler.tflite.tensor import Quantization, Tensor, TensorType

__all__ = ["AddedParts"]


class AddedParts:
    """Collects new operators and tensors of a model.

    Parameters
    ----------
    model : Graph
        What they are added to.
    """

    def __init__(self, model: Graph) -> None:
        self.model = model
        self._tensors = list(model.tensors)
        self._operators = list(model.operators)

    def graph(self) -> Graph:
        """Return the model with them."""
        return dataclasses.replace(
            self.model, tensors=tuple(self._tensors), operators=tuple(self._operators)
        )

    def operator(self, name: str, inputs: Sequence[int], output: int, options: Options) -> Operator:
        """Add an operator."""
        new = Operator(len(self._operators), name, tuple(inputs), (output,), options)
        self._operators.append(new)
        return new

    def replace(self, operator: Operator) -> None:
        """Have another operator in the place of one of the model's."""
        self._operators[operator.index] = operator

    def tensor(self, name: str, shape: Sequence[int], scale: float, zero_point: int = 0) -> int:
        """Add a tensor of int8."""
        parameters = Quantization(np.array([scale], np.float32), np.array([zero_point]), 0)
        return self._add(name, TensorType.INT8, shape, quantization=parameters)

    def shorts(self, name: str, shape: Sequence[int], scale: float) -> int:
        """Add a tensor of int16."""
        parameters = Quantization(np.array([scale], np.float32), np.array([0]), 0)
        return self._add(name, TensorType.INT16, shape, quantization=parameters)

    def channels(self, name: str, values: NDArray[np.int8], scales: NDArray[np.float32]) -> int:
        """Add a constant of int8 with a scale for each place of the first dimension."""
        parameters = Quantization(scales, np.zeros(len(scales), np.int64), 0)
        raw = np.ascontiguousarray(values).reshape(-1).view(np.uint8)
        return self._add(name, TensorType.INT8, values.shape, quantization=parameters, data=raw)

    def long_integers(self, name: str, values: NDArray[np.int64]) -> int:
        """Add a constant of int64."""
        raw = np.ascontiguousarray(values, "<i8").reshape(-1).view(np.uint8)
        return self._add(name, TensorType.INT64, values.shape, data=raw)

    def constant(self, name: str, values: NDArray[np.int8], scale: float, offset: int = 0) -> int:
        """Add a constant of int8, whose zero point is ``offset``."""
        index = self.tensor(name, values.shape, scale, offset)
        raw = np.ascontiguousarray(values).reshape(-1).view(np.uint8)
        self._tensors[index] = dataclasses.replace(self._tensors[index], data=raw)
        return index

    def integers(self, values: ArrayLike) -> int:
        """Add a constant of int32."""
        numbers = np.array(values, "<i4")
        return self._add("positions", TensorType.INT32, numbers.shape, data=numbers.view(np.uint8))

    def _add(self, name: str, kind: TensorType, shape: Sequence[int], **fields: Any) -> int:
        index = len(self._tensors)
        new = Tensor(index, name, kind, tuple(shape), (), None, None, False, False)
        self._tensors.append(dataclasses.replace(new, **fields))
        return index
