"""Random networks of functions of two tensors of different shapes, some behind convolutions."""

import random

import numpy as np

from tests.support.models.random_layers import RandomModel
from tests.support.models.random_tensors import int8s
from tests.support.oracle.oracle import LITERT, MICRO, Case

__all__ = ["network"]

_OPERATORS = ("ADD", "SUB", "MUL")


def network(seed: int, *, is_unsigned: bool = False) -> Case:
    """Return a model of layers that repeat operands, always the same for one seed."""
    rng = random.Random(f"broadcasts{seed}")
    model = _Model(rng, is_unsigned=is_unsigned, interpreter=LITERT if is_unsigned else MICRO)
    size = rng.choice([4, 7, 16, 40])
    shape = (1, rng.randint(2, size), rng.randint(1, size), rng.choice([1, 3, 8, 12, 16, 32]))
    x = model.input(shape)
    results = []
    for _ in range(rng.randint(1, 4)):
        if rng.random() < 0.4:
            x = model.conv(x, channels=rng.choice([1, 5, 8, 12, 24]))
        if is_unsigned or rng.random() < 0.6:
            x = model.pair(x)
        else:
            x = model.chosen(x)
        results.append(x)
    return model.case([*rng.sample(results[:-1], min(len(results) - 1, 1)), results[-1]])


class _Model(RandomModel):
    """Adds functions of two tensors of different shapes."""

    def pair(self, x: int) -> int:
        """Add a sum or product of a tensor and another one that is repeated, or that repeats it."""
        shape = self._other_shape(x)
        other = self.constant(shape) if self.rng.random() < 0.4 else self.input(shape)
        return self.elementwise(self.rng.choice(_OPERATORS), *self.rng.sample([x, other], 2))

    def chosen(self, x: int) -> int:
        """Add a PRELU, or the larger or smaller of a tensor and another one; or their square."""
        rng, shape = self.rng, self._other_shape(x)
        whole = np.broadcast_shapes(self._shapes[x], shape)
        if rng.random() < 0.4:
            return self.prelu(x, shape) if whole == self._shapes[x] else x
        y = self.choose(
            rng.choice(["MAXIMUM", "MINIMUM"]), *rng.sample([x, self._like_constant(x, shape)], 2)
        )
        if rng.random() < 0.5 and whole == self._shapes[x]:
            return self.elementwise("SQUARED_DIFFERENCE", *rng.sample([x, y], 2))
        return y

    def _like_constant(self, x: int, shape: tuple[int, ...]) -> int:
        """Add a constant with the scale of a tensor."""
        values = int8s(self.rng, *shape)
        return self._tensor(shape, self._scales[x], self._zero_points[x], values)

    def _other_shape(self, x: int) -> tuple[int, ...]:
        """Return a shape that can meet that of a tensor."""
        rng, whole = self.rng, self._shapes[x]
        shape = tuple(size if rng.random() < 0.5 else 1 for size in whole)
        ones = [axis for axis, size in enumerate(whole) if size == 1 and axis]
        if ones and rng.random() < 0.6:
            axis = rng.choice(ones)
            shape = (*shape[:axis], rng.choice([2, 3, 8, 24]), *shape[axis + 1 :])
        if rng.random() < 0.2:
            shape = shape[1:]
        return shape
