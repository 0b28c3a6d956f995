"""Strided views of tensors, and the copies of bytes that go from one to another."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from kiwicha.compiler.tflite.shapes import row_major_strides
from kiwicha.contract.cfu import CACHE_LINE_BYTES, DATA_CACHE_BYTES
from kiwicha.contract.layout import Ref
from kiwicha.contract.program import MAX_RANK, Copy

__all__ = ["Runs", "View", "runs"]


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


_Dimension = tuple[int, int, int]
"""Number of runs, and their distance in bytes of the input and of the output."""
_BLOCK_BYTES = DATA_CACHE_BYTES // 2
"""Input that is read again while it is in the cache."""


@dataclass(frozen=True)
class Runs:
    """A copy from one view to another as runs of bytes.

    Parameters
    ----------
    params : Copy
        All references still empty.
    source, target : tuple of int
        First byte that is touched in either tensor, and bytes up to the last one.
    """

    params: Copy
    source: tuple[int, int]
    target: tuple[int, int]

    @property
    def is_one(self) -> bool:
        """Whether all bytes lie together in both tensors, in the same order."""
        return set(self.params.shape) == {1}


def runs(source: View, target: View, element_bytes: int) -> Runs:
    """Return the copy between two views of as many elements, in as few and as long runs as go."""
    dimensions = [
        (count, a * element_bytes, b * element_bytes)
        for count, a, b in zip(*_common(source, target), strict=True)
    ]
    # Towards ascending addresses of the output.
    dimensions.sort(key=lambda item: -item[2])
    run_bytes = element_bytes
    while dimensions and dimensions[-1][1] == dimensions[-1][2] == run_bytes:
        run_bytes *= dimensions.pop()[0]
    merged: list[_Dimension] = []
    for count, a, b in dimensions:
        if merged and merged[-1][1:] == (a * count, b * count):
            merged[-1] = (merged[-1][0] * count, a, b)
        else:
            merged.append((count, a, b))
    assert len(merged) <= MAX_RANK, (source, target)
    merged = _blocked(merged)
    merged = [(1, 0, 0)] * (MAX_RANK - len(merged)) + merged
    before = sum((count - 1) * -a for count, a, _ in merged if a < 0)
    params = Copy(
        input=Ref(),
        output=Ref(),
        shape=tuple(count for count, _, _ in merged),
        input_strides=tuple(a for _, a, _ in merged),
        output_strides=tuple(b for _, _, b in merged),
        input_start=before,
        run_bytes=run_bytes,
    )
    return Runs(
        params,
        (
            source.start * element_bytes - before,
            sum((count - 1) * abs(a) for count, a, _ in merged) + run_bytes,
        ),
        (
            target.start * element_bytes,
            sum((count - 1) * b for count, _, b in merged) + run_bytes,
        ),
    )


def _blocked(dimensions: list[_Dimension]) -> list[_Dimension]:
    """Return the loops with the innermost one in blocks that find their input in the cache.

    It steps over bytes that a loop further out comes back for; without blocks these have left the
    cache by then.
    """
    if not dimensions or len(dimensions) == MAX_RANK:
        return dimensions
    *outer, (count, a, b) = dimensions
    close = [item for item in outer if 0 < abs(item[1]) < min(abs(a), CACHE_LINE_BYTES)]
    if not close:
        return dimensions
    extent = max(abs(a), sum(n * abs(step) for n, step, _ in close))
    most = max(_BLOCK_BYTES // extent, 1)
    block = max(size for size in range(1, min(most, count) + 1) if count % size == 0)
    if block in {1, count}:
        return dimensions
    return [(count // block, a * block, b * block), *outer, (block, a, b)]


def _common(source: View, target: View) -> tuple[list[int], list[int], list[int]]:
    """Return counts, and the strides of both views, of dimensions that are more than 1."""
    a = [item for item in zip(source.shape, source.strides, strict=True) if item[0] != 1]
    b = [item for item in zip(target.shape, target.strides, strict=True) if item[0] != 1]
    assert [count for count, _ in a] == [count for count, _ in b], (source, target)
    return [count for count, _ in a], [stride for _, stride in a], [stride for _, stride in b]
