"""Random models of images that are transposed back and forth, with layers of bytes between."""

import random

from tests.support.models.move_model import MoveModel
from tests.support.oracle.oracle import Case

__all__ = ["transposed_images"]

Known = dict[int, str]
"""The dimensions of tensors in their order, such as "hwc"."""
_SIZES = {"h": (2, 4, 6), "w": (3, 4, 5), "c": (8, 16, 24)}


def transposed_images(seed: int) -> Case:
    """Return a model whose tensors are an image in several orders; always the same for one seed."""
    rng = random.Random(f"transposed images {seed}")
    model = MoveModel(rng)
    sizes = {name: rng.choice(values) for name, values in _SIZES.items()}
    known: Known = {}
    for _ in range(rng.randint(1, 2)):
        x = model.input((1, *(sizes[name] for name in "hwc")))
        known[model.conv(x, like=x) if rng.random() < 0.5 else x] = "hwc"
    for _ in range(rng.randint(5, 12)):
        known |= _step(model, known, sizes)
    made = list(known)[1:]
    return model.case(rng.sample(made, min(len(made), rng.randint(1, 2))))


def _step(model: MoveModel, known: Known, sizes: dict[str, int]) -> Known:
    """Add a layer or a few."""
    rng = model.rng
    x = rng.choice(list(known)[-3:])
    order = known[x]
    kind = rng.choice(["turn", "turn", "turn", "table", "number", "channels", "pair", "pair"])
    if kind == "turn":
        to = rng.choice(["hwc", "chw", "hcw", "whc"])
        return {_turned(model, x, order, to): to}
    if kind == "table":
        return {model.unary(rng.choice(["RELU", "LOGISTIC", "ABS"]), x): order}
    operator = rng.choice(["ADD", "SUB", "MUL"])
    if kind == "pair":
        other = rng.choice(list(known))
        if known[other] != order:
            other = _turned(model, other, known[other], order)
        pair = rng.sample([x, other], 2)
        return {other: order, model.elementwise(operator, *pair): order}
    shape = [sizes[name] if name == "c" and kind == "channels" else 1 for name in order]
    constant = model.constant((1, *shape))
    return {model.elementwise(operator, *rng.sample([x, constant], 2)): order}


def _turned(model: MoveModel, x: int, order: str, to: str) -> int:
    """Add a TRANSPOSE, in some models of a tensor with its last two dimensions as one."""
    shape = model.shape(x)
    axes = [order.index(name) for name in to]
    if model.rng.random() < 0.3 and abs(axes[0] - axes[1]) == 1 and axes[0] < axes[1]:
        # The first two dimensions of the result lie together: they move as one.
        sizes = dict(zip(order, shape[1:], strict=True))
        pair = sizes[to[0]] * sizes[to[1]]
        single = sizes[to[2]]
        first = (1, pair, single) if axes[0] == 0 else (1, single, pair)
        swapped = [0, 1, 2] if axes[0] == 0 else [0, 2, 1]
        flat = model.transposed(model.reshape(x, first), swapped)
        return model.reshape(flat, (1, *(sizes[name] for name in to)))
    return model.transposed(x, [0, *(axis + 1 for axis in axes)])
