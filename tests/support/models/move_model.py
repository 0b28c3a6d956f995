"""A random model under construction, with operators that only move data."""

import math
import random
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import DTypeLike

from tests.support.models.random_layers import RandomModel
from tests.support.models.random_tensors import Shape, int8s
from tests.support.oracle.oracle import Interpreter

__all__ = ["MoveModel", "cut"]


class MoveModel(RandomModel):
    """Adds operators that only move data; each gives a list of tensors."""

    def __init__(self, rng: random.Random) -> None:
        super().__init__(rng)
        self.types: dict[int, Any] = {}

    # ------------------------------------------------------------------------------- tensors

    def any_input(self, shape: Shape, dtype: DTypeLike = np.int8) -> int:
        """Add an input of the model; only int8 has a scale."""
        if dtype is np.int8:
            return self.input(shape)
        index = self.plain(shape, dtype)
        self._inputs.append(index)
        generator = np.random.default_rng(self.rng.getrandbits(64))
        values: Any
        if dtype is np.float32:
            values = generator.normal(size=shape).astype(np.float32)
        else:
            size = min(np.dtype(dtype).itemsize, 4)
            values = generator.integers(0, 2 ** (8 * size), shape).astype(f"u{size}")
            values = values % 2 == 1 if dtype is np.bool_ else values.astype(dtype)
        self._values.append(values)
        return index

    def ask(self, interpreter: Interpreter) -> None:
        """Let an interpreter define the model that does not usually do so."""
        self._interpreter = interpreter

    def integers(self, values: Any, dtype: DTypeLike = np.int32) -> int:
        """Add a constant operand that is not quantized."""
        array = np.asarray(values, dtype)
        return self._builder.tensor(array.shape, dtype, data=array)

    def plain(self, shape: Shape, dtype: DTypeLike = np.int32) -> int:
        """Add a tensor without a scale."""
        index = self._builder.tensor(shape, dtype)
        self._shapes[index] = shape
        self.types[index] = dtype
        self._last = index
        return index

    def like(self, x: int, shape: Sequence[int]) -> int:
        """Add a tensor with the type and scale of another."""
        if x in self.types:
            return self.plain(tuple(shape), self.types[x])
        return self._like(x, tuple(shape))

    def one_of(self, *types: Any) -> Any:
        """Return int8 mostly."""
        return self.rng.choice([np.int8, np.int8, *types])

    def signed(self, axis: int, rank: int) -> int:
        """Return an axis counted from either end."""
        return axis - rank if self.rng.random() < 0.4 else axis

    def sizes(self, lowest_rank: int, highest_rank: int, most: int = 5) -> Shape:
        """Return a random shape, in a fifth with a dimension of 16 for aligned parts."""
        rank = self.rng.randint(lowest_rank, highest_rank)
        shape = [self.rng.randint(1, most) for _ in range(rank)]
        if self.rng.random() < 0.2:
            shape[-1] = 16
        return tuple(shape)

    def shape(self, x: int) -> Shape:
        """Return a tensor's shape."""
        return self._shapes[x]

    def add(self, code: str, inputs: Sequence[int], output: int, **options: Any) -> list[int]:
        """Add an operator with one output."""
        self._builder.operator(code, inputs, [output], **options)
        return [output]

    # ------------------------------------------------------------------------------ operators

    def concatenation(self, xs: Sequence[int], axis: int) -> list[int]:
        """Join tensors that are alike but for one dimension."""
        shape = list(self.shape(xs[0]))
        shape[axis] = sum(self.shape(x)[axis] for x in xs)
        y = self.like(xs[0], shape)
        return self.add("CONCATENATION", xs, y, axis=self.signed(axis, len(shape)))

    def pack(self, xs: Sequence[int], axis: int) -> list[int]:
        """Join tensors of one shape along a new dimension."""
        shape = self.shape(xs[0])
        y = self.like(xs[0], (*shape[:axis], len(xs), *shape[axis:]))
        axis = self.signed(axis, len(shape) + 1)
        return self.add("PACK", xs, y, axis=axis, valuesCount=len(xs))

    def unpack(self, x: int, axis: int) -> list[int]:
        """Take a dimension apart."""
        shape = self.shape(x)
        rest = (*shape[:axis], *shape[axis + 1 :])
        ys = [self.like(x, rest) for _ in range(shape[axis])]
        axis = self.signed(axis, len(shape))
        self._builder.operator("UNPACK", [x], ys, axis=axis, num=len(ys))
        return ys

    def split(self, x: int, axis: int, sizes: Sequence[int]) -> list[int]:
        """Cut along a dimension; SPLIT where that can be."""
        shape = self.shape(x)
        ys = [self.like(x, (*shape[:axis], size, *shape[axis + 1 :])) for size in sizes]
        at = self._int32([self.signed(axis, len(shape))])
        if len(set(sizes)) == 1 and self.rng.random() < 0.7:
            self._builder.operator("SPLIT", [at, x], ys, numSplits=len(ys))
        else:
            listed = list(sizes)
            self._builder.operator("SPLIT_V", [x, self._int32(listed), at], ys, numSplits=len(ys))
        return ys

    def slice(self, x: int) -> list[int]:
        """Take a box."""
        begins, sizes, counts = [], [], []
        for size in self.shape(x):
            begin = self.rng.randint(0, size - 1)
            count = self.rng.randint(1, size - begin)
            to_end = self.rng.random() < 0.2
            begins.append(begin)
            counts.append(size - begin if to_end else count)
            sizes.append(-1 if to_end else count)
        y = self.like(x, counts)
        return self.add("SLICE", [x, self._int32(begins), self._int32(sizes)], y)

    def strided_slice(self, x: int) -> list[int]:
        """Take every n-th element, forwards or backwards, with all masks that TFLM knows."""
        rng, shape = self.rng, self.shape(x)
        begins, ends, steps, kept = [], [], [], []
        masks = {"beginMask": 0, "endMask": 0, "shrinkAxisMask": 0}
        for axis, size in enumerate(shape):
            step = rng.choice([1, 1, 1, 2, 3, -1, -2])
            picked = sorted(rng.sample(range(size + 1), 2))
            begin, end = picked if step > 0 else (picked[1] - 1, picked[0] - 1)
            if step > 0 and rng.random() < 0.2:
                masks["shrinkAxisMask"] |= 1 << axis
                step, end = 1, begin + 1
            else:
                if rng.random() < 0.3:
                    masks["beginMask"] |= 1 << axis
                    first = 0 if step > 0 else size - 1
                else:
                    first = begin
                if rng.random() < 0.3 or end < 0:
                    masks["endMask"] |= 1 << axis
                    last = size if step > 0 else -1
                else:
                    last = end
                kept.append(len(range(first, last, step)))
            begins.append(begin - size if rng.random() < 0.3 and 0 <= begin < size else begin)
            ends.append(end - size if rng.random() < 0.3 and 0 <= end < size else end)
            steps.append(step)
        y = self.like(x, kept)
        operands = [x, *(self._int32(values) for values in (begins, ends, steps))]
        return self.add("STRIDED_SLICE", operands, y, **masks)

    def tile(self, x: int, multiples: Sequence[int]) -> list[int]:
        """Repeat each dimension."""
        y = self.like(x, [n * count for n, count in zip(self.shape(x), multiples, strict=True)])
        return self.add("TILE", [x, self._int32(multiples)], y)

    def transpose(self, x: int) -> list[int]:
        """Permute dimensions."""
        return [self.transposed(x, self.rng.sample(range(len(self.shape(x))), len(self.shape(x))))]

    def transposed(self, x: int, order: Sequence[int]) -> int:
        """Permute dimensions in an order."""
        y = self.like(x, [self.shape(x)[axis] for axis in order])
        self.add("TRANSPOSE", [x, self._int32(list(order))], y)
        return y

    def padded(self, x: int, value: bool) -> list[int]:
        """Pad each dimension, with PADV2 if a value is to be given."""
        pads = [
            [0, 0] if self.rng.random() < 0.4 else [self.rng.randint(0, 3), self.rng.randint(0, 3)]
            for _ in self.shape(x)
        ]
        y = self.like(x, [n + sum(pad) for n, pad in zip(self.shape(x), pads, strict=True)])
        if not value:
            return self.add("PAD", [x, self._int32(pads)], y)
        if x in self.types:
            number = self._builder.tensor((), np.int32, data=np.int32(self.rng.getrandbits(30)))
        else:
            scale, zero_point = self._scales[x], self._zero_points[x]
            data = int8s(self.rng, 1)
            number = self._builder.tensor((1,), scale=scale, zero_point=zero_point, data=data)
        return self.add("PADV2", [x, self._int32(pads), number], y)

    def reshaped(self, x: int) -> list[int]:
        """Give a tensor another shape by one of three operators."""
        shape, rng = self.shape(x), self.rng
        kind = rng.choice(["RESHAPE", "EXPAND_DIMS", "SQUEEZE"])
        if kind == "SQUEEZE" and 1 in shape:
            y = self.like(x, [size for size in shape if size != 1])
            return self.add("SQUEEZE", [x], y)
        if kind == "EXPAND_DIMS" and len(shape) < 5 and x not in self.types:
            axis = rng.randint(0, len(shape))
            y = self.like(x, (*shape[:axis], 1, *shape[axis:]))
            axis = self.signed(axis, len(shape) + 1)
            return self.add("EXPAND_DIMS", [x, self._int32([axis])], y)
        factors = [size for size in shape if size != 1] or [1]
        rng.shuffle(factors)
        return [self.reshape(x, (*factors[:2], math.prod(factors[2:])))]

    def reshape(self, x: int, shape: Shape) -> int:
        """Give a tensor another shape."""
        y, target = self.like(x, shape), np.asarray(shape, np.int32)
        return self.add("RESHAPE", [x, self._int32(target)], y, newShape=target)[0]

    def space_to_depth(self, x: int, block: int) -> list[int]:
        """Bring blocks of pixels into channels."""
        n, h, w, c = self.shape(x)
        y = self.like(x, (n, h // block, w // block, c * block * block))
        return self.add("SPACE_TO_DEPTH", [x], y, blockSize=block)

    def depth_to_space(self, x: int, block: int) -> list[int]:
        """Bring channels into blocks of pixels."""
        n, h, w, c = self.shape(x)
        y = self.like(x, (n, h * block, w * block, c // (block * block)))
        return self.add("DEPTH_TO_SPACE", [x], y, blockSize=block)

    def space_to_batch(self, x: int, blocks: Sequence[int], pads: Any) -> list[int]:
        """Bring the phases of images into batches."""
        shape = self.shape(x)
        inner = [
            (size + sum(pair)) // block
            for size, pair, block in zip(shape[1:-1], pads, blocks, strict=True)
        ]
        y = self.like(x, (shape[0] * math.prod(blocks), *inner, shape[-1]))
        return self.add("SPACE_TO_BATCH_ND", [x, self._int32(blocks), self._int32(pads)], y)

    def batch_to_space(self, x: int, blocks: Sequence[int], crops: Any) -> list[int]:
        """Bring batches together as the phases of images."""
        shape = self.shape(x)
        inner = [
            size * block - sum(pair)
            for size, pair, block in zip(shape[1:-1], crops, blocks, strict=True)
        ]
        y = self.like(x, (shape[0] // math.prod(blocks), *inner, shape[-1]))
        return self.add("BATCH_TO_SPACE_ND", [x, self._int32(blocks), self._int32(crops)], y)

    def resize_nearest(self, x: int, height: int, width: int) -> list[int]:
        """Repeat or drop pixels."""
        n, _, _, c = self.shape(x)
        y = self.like(x, (n, height, width, c))
        aligned, centred = self.rng.choice([(False, False), (True, False), (False, True)])
        return self.add(
            "RESIZE_NEAREST_NEIGHBOR",
            [x, self._int32([height, width])],
            y,
            alignCorners=aligned,
            halfPixelCenters=centred,
        )

    # ------------------------------------------------------------------------------- networks

    def any_step(self, x: int, pool: Sequence[int]) -> list[int]:
        """Add an operator of any kind that can read ``x``."""
        rng, shape = self.rng, self.shape(x)
        rank = len(shape)
        if not rank or math.prod(shape) > 4000:
            return self.reshaped(x) if rank else [x]
        axis = rng.randrange(rank)
        steps: dict[str, Callable[[], list[int]]] = {
            "slice": lambda: self.slice(x),
            "join": lambda: self.any_join(x, rng.choice([0, axis]), pool),
            "split": lambda: self.split(x, axis, cut(rng, shape[axis])),
            "reshape": lambda: self.reshaped(x),
            "elementwise": lambda: [self.elementwise(rng.choice(["ADD", "SUB", "MUL"]), x, x)],
            "pad": lambda: self.padded(x, rng.random() < 0.4),
            "transpose": lambda: self.transpose(x),
            "strided": lambda: self.strided_slice(x),
            "conv": lambda: [self.conv(x, channels=rng.choice([None, 16]))],
            "image": lambda: self.any_image(x),
            "pool": lambda: [self.pool("MAX_POOL_2D", x)],
            "pack": lambda: self.any_pack(x, pool),
            "unpack": lambda: self.unpack(x, min(range(rank), key=lambda k: shape[k])),
        }
        kinds = ["slice", "join", "split", "reshape", "elementwise"]
        kinds += ["pad", "transpose", "strided"] if rank <= 4 else []
        kinds += ["conv", "conv", "image", "pool"] if rank == 4 else []
        kinds += ["pack"] if 1 < rank < 5 else []
        kinds += ["unpack"] if 1 < rank and min(shape) < 7 else []
        return steps[rng.choice(kinds)]()

    def any_join(self, x: int, axis: int, pool: Sequence[int]) -> list[int]:
        """Concatenate a tensor with others, or with itself."""
        others = [t for t in pool if self._joins(x, t, axis)]
        xs = [x, *self.rng.sample(others, min(len(others), 2)), x]
        return self.concatenation(xs[:3], axis)

    def any_pack(self, x: int, pool: Sequence[int]) -> list[int]:
        """Pack a tensor with others."""
        others = [t for t in pool if self._joins(x, t, -1)]
        xs = [x, *self.rng.sample(others, min(len(others), 2))]
        return self.pack(xs, self.rng.randint(0, len(self.shape(x))))

    def any_image(self, x: int) -> list[int]:
        """Add an operator on images."""
        rng = self.rng
        n, h, w, c = self.shape(x)
        if h % 2 == w % 2 == 0 and rng.random() < 0.4:
            return self.space_to_depth(x, 2)
        if c % 4 == 0 and rng.random() < 0.4:
            return self.depth_to_space(x, 2)
        if n % 4 == 0 and rng.random() < 0.5:
            return self.batch_to_space(x, [2, 2], [[0, 0], [0, 0]])
        if h % 2 == w % 3 == 0 and rng.random() < 0.4:
            return self.space_to_batch(x, [2, 3], [[0, 0], [0, 0]])
        return self.resize_nearest(x, rng.randint(1, 9), rng.randint(1, 9))

    def _joins(self, x: int, other: int, axis: int) -> bool:
        a, b = list(self.shape(x)), list(self.shape(other))
        if len(a) != len(b) or other == x:
            return False
        if 0 <= axis < len(a):
            a[axis] = b[axis] = 0
        same_scale = (self._scales[x], self._zero_points[x]) == (
            self._scales[other],
            self._zero_points[other],
        )
        return a == b and same_scale


def cut(rng: random.Random, size: int) -> list[int]:
    """Return sizes of parts."""
    if size % 2 == 0 and rng.random() < 0.5:
        return [size // 2] * 2
    cuts = sorted(rng.sample(range(1, size), min(rng.randint(0, 2), size - 1)))
    return [b - a for a, b in zip([0, *cuts], [*cuts, size], strict=True)]
