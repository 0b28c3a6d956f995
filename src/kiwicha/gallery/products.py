"""Layers that compute with two activations, or with the numbers of one token."""

from typing import Any

import numpy as np

from kiwicha.gallery.tensors import Tensor, Tensors

__all__ = ["Products"]


class Products(Tensors):
    """Adds layers of which transformers are made."""

    def product(self, a: Tensor, b: Tensor, *, is_second_adjoint: bool = False) -> Tensor:
        """Add a BATCH_MATMUL."""
        steps = np.swapaxes(b.steps, -1, -2) if is_second_adjoint else b.steps
        columns = b.shape[-2 if is_second_adjoint else -1]
        # Of integers, so that sums are exact in any order.
        values = (a.steps @ steps) * (a.scale * b.scale)
        y = self._ranged((*a.shape[:-1], columns), values)
        self._file.operator(
            "BATCH_MATMUL", [a.index, b.index], [y.index], adjX=False, adjY=is_second_adjoint
        )
        return y

    def scaled(self, x: Tensor, factors: Any) -> Tensor:
        """Add a MUL by a constant number, or by one for each channel."""
        numbers = np.asarray(factors, np.float64)
        y = self._ranged(x.shape, x.values * numbers)
        self._file.operator("MUL", [x.index, self._numbers(numbers)], [y.index])
        return y

    def mean_of_last(self, x: Tensor) -> Tensor:
        """Add a MEAN of the last dimension, which stays as 1."""
        values = x.steps.sum(axis=-1, keepdims=True) * (x.scale / x.shape[-1])
        y = self._ranged((*x.shape[:-1], 1), values)
        axes = self._parameters([len(x.shape) - 1])
        self._file.operator("MEAN", [x.index, axes], [y.index], keepDims=True)
        return y

    def subtract(self, a: Tensor, b: Tensor) -> Tensor:
        """Add a SUB."""
        y = self._ranged(a.shape, a.values - b.values)
        self._file.operator("SUB", [a.index, b.index], [y.index])
        return y

    def squared_difference(self, a: Tensor, b: Tensor) -> Tensor:
        """Add a SQUARED_DIFFERENCE."""
        y = self._ranged(a.shape, (a.values - b.values) ** 2)
        self._file.operator("SQUARED_DIFFERENCE", [a.index, b.index], [y.index])
        return y

    def inverse_root(self, x: Tensor) -> Tensor:
        """Add an RSQRT of numbers that are more than 0."""
        y = self._ranged(x.shape, 1 / np.sqrt(np.maximum(x.values, x.scale)))
        self._file.operator("RSQRT", [x.index], [y.index])
        return y
