"""Strided views of tensors."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from kiwicha.compiler.tflite.shapes import row_major_strides

__all__ = ["View"]


@dataclass(frozen=True)
class View:
    """Elements of a tensor in the order of a shape.

    Parameters
    ----------
    shape : tuple of int
        Elements along each dimension.
    strides : tuple of int
        Their distance in elements; 0 repeats an element, less than 0 goes back.
    start : int
        The first element.
    """

    shape: tuple[int, ...]
    strides: tuple[int, ...]
    start: int = 0

    @classmethod
    def of(cls, shape: Sequence[int]) -> "View":
        """Return the view of a whole row-major tensor."""
        return cls(tuple(shape), row_major_strides(shape))

    @classmethod
    def repeating(cls, shape: Sequence[int]) -> "View":
        """Return a view that gives one element everywhere."""
        return cls(tuple(shape), (0,) * len(shape))

    def sliced(self, axis: int, first: int, count: int, step: int = 1) -> "View":
        """Return ``count`` positions of one dimension, from ``first`` on."""
        return replace(
            self,
            shape=_with(self.shape, axis, count),
            strides=_with(self.strides, axis, self.strides[axis] * step),
            start=self.start + first * self.strides[axis],
        )

    def split(self, axis: int, outer: int, inner: int) -> "View":
        """Return the view with a dimension of ``outer x inner`` elements made two."""
        stride = self.strides[axis]
        return replace(
            self,
            shape=_with(self.shape, axis, outer, inner),
            strides=_with(self.strides, axis, stride * inner, stride),
        )

    def repeated(self, axis: int, count: int) -> "View":
        """Return the view with each position of a dimension ``count`` times, as a dimension."""
        return replace(
            self,
            shape=_with(self.shape, axis, self.shape[axis], count),
            strides=_with(self.strides, axis, self.strides[axis], 0),
        )

    def tiled(self, axis: int, count: int) -> "View":
        """Return the view with a dimension ``count`` times, one after the other, as a dimension."""
        return replace(
            self,
            shape=_with(self.shape, axis, count, self.shape[axis]),
            strides=_with(self.strides, axis, 0, self.strides[axis]),
        )

    def permuted(self, axes: Sequence[int]) -> "View":
        """Return the view with its dimensions in another order."""
        return replace(
            self,
            shape=tuple(self.shape[axis] for axis in axes),
            strides=tuple(self.strides[axis] for axis in axes),
        )


def _with(sizes: tuple[int, ...], axis: int, *changed: int) -> tuple[int, ...]:
    return (*sizes[:axis], *changed, *sizes[axis + 1 :])
