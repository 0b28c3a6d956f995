"""Random networks with SOFTMAX or LOG_SOFTMAX inside, among layers of every kind."""

import random

from tests.support.models.move_model import MoveModel
from tests.support.oracle.oracle import Case

__all__ = ["softmax_network"]

_DEPTHS = (2, 2, 3, 5, 8, 16, 21, 40)


def softmax_network(seed: int) -> Case:
    """Return a model of an image with one to three such layers and others, and its input."""
    rng = random.Random(f"softmax{seed}")
    model = MoveModel(rng)
    sizes = rng.randint(4, 24), rng.randint(4, 24)
    x = model.input((rng.choice([1, 1, 2]), *sizes, rng.choice(_DEPTHS)))
    outputs = []
    for _ in range(rng.randint(1, 3)):
        x = _before(model, x)
        x = model.log_softmax(x) if rng.random() < 0.4 else model.softmax(x)
        outputs.append(x)
        x = _behind(model, x)
    return model.case([x] if rng.random() < 0.8 else [*dict.fromkeys([*outputs, x])])


def _before(model: MoveModel, x: int) -> int:
    """Add what gives logits."""
    rng = model.rng
    kind = rng.choice(["conv", "conv", "transpose", "reshape", "sum", "none"])
    if kind == "conv":
        return model.conv(x, kernel=rng.choice([1, 3]), channels=rng.choice(_DEPTHS), is_same=True)
    if kind == "transpose":
        return _exchanged(model, x)
    if kind == "reshape":
        images, height, width, channels = model.shape(x)
        return model.reshape(x, (images, width, height, channels))
    return model.elementwise("ADD", x, x) if kind == "sum" else x


def _behind(model: MoveModel, x: int) -> int:
    """Add what reads probabilities."""
    rng = model.rng
    kind = rng.choice(["conv", "function", "limit", "transpose", "product", "none"])
    if kind == "conv":
        return model.conv(x, kernel=1, channels=rng.choice(_DEPTHS), is_same=True)
    if kind == "function":
        return model.unary(rng.choice(["LOGISTIC", "RELU", "QUANTIZE", "HARD_SWISH"]), x)
    if kind == "limit":
        return model.compare(rng.choice(["MINIMUM", "MAXIMUM"]), x, (1,))
    if kind == "transpose":
        return _exchanged(model, x)
    return model.elementwise("MUL", x, x) if kind == "product" else x


def _exchanged(model: MoveModel, x: int) -> int:
    """Add a TRANSPOSE."""
    (x,) = model.transpose(x)
    return x
