"""Layers that only move data."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from kiwicha.gallery import samples
from kiwicha.gallery.tensors import Tensor, Tensors

__all__ = ["Moves"]


class Moves(Tensors):
    """Adds layers that only move data; their outputs have the quantization of what they read."""

    def concat(self, tensors: Sequence[Tensor], *, axis: int = -1) -> Tensor:
        """Add a CONCATENATION; all of its tensors get one quantization."""
        free = [x for x in tensors if x.range is not None]
        for other in free[1:]:
            assert free[0].range is not None
            assert other.range is not None
            self._ranges.join(free[0].range, other.range)
        target = free[0] if free else tensors[0]
        if target.range is not None:
            for x in tensors:
                self._ranges.include(target.range, x.values.min(), x.values.max())
        parts = [self._rescaled(x, target) for x in tensors]
        axis %= len(target.shape)
        shape = list(target.shape)
        shape[axis] = sum(part.shape[axis] for part in parts)
        y = self._moved(shape, target, np.concatenate([part.sample for part in parts], axis))
        self._file.operator("CONCATENATION", [part.index for part in parts], [y.index], axis=axis)
        return y

    def split(self, x: Tensor, sizes: Sequence[int], *, axis: int = -1) -> list[Tensor]:
        """Add a SPLIT into equal parts, or a SPLIT_V into others."""
        axis %= len(x.shape)
        pieces = np.split(x.sample, np.cumsum(sizes)[:-1], axis)
        shapes = [(*x.shape[:axis], size, *x.shape[axis + 1 :]) for size in sizes]
        parts = [self._moved(s, x, piece) for s, piece in zip(shapes, pieces, strict=True)]
        indices = [part.index for part in parts]
        if len(set(sizes)) == 1:
            operands = [self._parameters(axis), x.index]
            self._file.operator("SPLIT", operands, indices, numSplits=len(sizes))
        else:
            operands = [x.index, self._parameters(sizes), self._parameters(axis)]
            self._file.operator("SPLIT_V", operands, indices, numSplits=len(sizes))
        return parts

    def reshape(self, x: Tensor, *shape: int) -> Tensor:
        """Add a RESHAPE; the first dimension is the batch."""
        whole = self._whole(x)
        return self._reshaped(x, shape, whole.reshape(len(whole), *shape[1:]))

    def transpose(self, x: Tensor, *permutation: int) -> Tensor:
        """Add a TRANSPOSE; the first dimension is the batch and stays."""
        return self._transposed(x, permutation, np.transpose(self._whole(x), permutation))

    def shuffle(self, x: Tensor, groups: int) -> Tensor:
        """Add what mixes the channels of groups: RESHAPE, TRANSPOSE, RESHAPE."""
        _, height, width, channels = x.shape
        shape = (1, height, width, groups, channels // groups)
        parts = x.sample.reshape(*x.sample.shape[:3], *shape[3:])
        divided = self._reshaped(x, shape, parts)
        swapped = self._transposed(divided, (0, 1, 2, 4, 3), np.swapaxes(parts, 3, 4))
        return self._reshaped(swapped, x.shape, swapped.sample.reshape(x.sample.shape))

    def upsample(self, x: Tensor, factor: int = 2) -> Tensor:
        """Add a RESIZE_NEAREST_NEIGHBOR."""
        sample = x.sample.repeat(factor, axis=1).repeat(factor, axis=2)
        height, width = (size * factor for size in x.shape[1:3])
        y = self._moved((1, height, width, x.shape[3]), x, sample)
        size = self._parameters([height, width])
        self._file.operator("RESIZE_NEAREST_NEIGHBOR", [x.index, size], [y.index])
        return y

    def _reshaped(self, x: Tensor, shape: Sequence[int], sample: NDArray[np.int8]) -> Tensor:
        y = self._moved(shape, x, sample)
        operands = [x.index, self._parameters(shape)]
        self._file.operator("RESHAPE", operands, [y.index], newShape=shape)
        return y

    def _transposed(
        self, x: Tensor, permutation: Sequence[int], sample: NDArray[np.int8]
    ) -> Tensor:
        y = self._moved([x.shape[i] for i in permutation], x, sample)
        self._file.operator("TRANSPOSE", [x.index, self._parameters(permutation)], [y.index])
        return y

    def _whole(self, x: Tensor) -> NDArray[np.int8]:
        """Return a sample of images of the file's size."""
        if x.sample.shape[1:] == x.shape[1:]:
            return x.sample
        return samples.resized(x.sample, *x.shape[1:3])
