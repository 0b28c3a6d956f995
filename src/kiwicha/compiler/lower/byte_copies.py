"""Copies of bytes from one view of a tensor to another: what the kernel COPY does."""

from dataclasses import dataclass

from kiwicha.compiler.lower.views import View
from kiwicha.contract.cfu import CACHE_LINE_BYTES, DATA_CACHE_BYTES
from kiwicha.contract.layout import Ref
from kiwicha.contract.program import MAX_RANK
from kiwicha.kernels.copy import Copy

__all__ = ["ByteCopy", "byte_copy"]

_Dimension = tuple[int, int, int]
"""Number of pieces, and their distance in bytes of the input and of the output."""
_BLOCK_BYTES = DATA_CACHE_BYTES // 2
"""Input that is read again while it is in the cache."""


@dataclass(frozen=True)
class ByteCopy:
    """A copy from one view to another, in pieces of contiguous bytes.

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


def byte_copy(source: View, target: View, element_bytes: int) -> ByteCopy:
    """Return the copy between two views of as many elements, in as few and long pieces as go."""
    dimensions = [
        (count, a * element_bytes, b * element_bytes)
        for count, a, b in zip(*_common(source, target), strict=True)
    ]
    # Towards ascending addresses of the output.
    dimensions.sort(key=lambda item: -item[2])
    piece_bytes = element_bytes
    while dimensions and dimensions[-1][1] == dimensions[-1][2] == piece_bytes:
        piece_bytes *= dimensions.pop()[0]
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
        piece_bytes=piece_bytes,
    )
    return ByteCopy(
        params,
        (
            source.start * element_bytes - before,
            sum((count - 1) * abs(a) for count, a, _ in merged) + piece_bytes,
        ),
        (
            target.start * element_bytes,
            sum((count - 1) * b for count, _, b in merged) + piece_bytes,
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
