"""Random networks of sums and products of tensors of different shapes, some behind convolutions."""

import random

from tests.support.models.random_layers import RandomModel
from tests.support.oracle.oracle import LITERT, MICRO, Case

__all__ = ["network"]

_OPERATORS = ("ADD", "SUB", "MUL")


def network(seed: int, *, is_unsigned: bool = False) -> Case:
    """Return a model of sums and products that repeat operands, always the same for one seed."""
    rng = random.Random(f"broadcasts{seed}")
    model = _Model(rng, is_unsigned=is_unsigned, interpreter=LITERT if is_unsigned else MICRO)
    size = rng.choice([4, 7, 16, 40])
    shape = (1, rng.randint(2, size), rng.randint(1, size), rng.choice([1, 3, 8, 12, 16, 32]))
    x = model.input(shape)
    results = []
    for _ in range(rng.randint(1, 4)):
        if rng.random() < 0.4:
            x = model.conv(x, channels=rng.choice([1, 5, 8, 12, 24]))
        x = model.pair(x)
        results.append(x)
    return model.case([*rng.sample(results[:-1], min(len(results) - 1, 1)), results[-1]])


class _Model(RandomModel):
    """Adds sums and products of tensors of different shapes."""

    def pair(self, x: int) -> int:
        """Add a sum or product of a tensor and another one that is repeated, or that repeats it."""
        rng, whole = self.rng, self._shapes[x]
        shape = tuple(size if rng.random() < 0.5 else 1 for size in whole)
        ones = [axis for axis, size in enumerate(whole) if size == 1 and axis]
        if ones and rng.random() < 0.6:
            axis = rng.choice(ones)
            shape = (*shape[:axis], rng.choice([2, 3, 8, 24]), *shape[axis + 1 :])
        if rng.random() < 0.2:
            shape = shape[1:]
        other = self.constant(shape) if rng.random() < 0.4 else self.input(shape)
        return self.elementwise(rng.choice(_OPERATORS), *rng.sample([x, other], 2))
