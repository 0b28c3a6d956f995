"""Layers whose weights are int4: two of a byte, the first one in its low bits."""

import dataclasses
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tests.support.models.one_operator import CONV, Model
from tests.support.models.tflite_builder import INT4
from tests.support.oracle.oracle import Case

__all__ = ["LAYERS", "Int4Layer", "packed"]


def packed(values: NDArray[np.int8]) -> bytes:
    """Return the bytes of int4 values; an odd one is followed by zero bits."""
    nibbles = (values.ravel().view(np.uint8) & 15).tolist()
    nibbles += [0] * (len(nibbles) % 2)
    return bytes(low | high << 4 for low, high in zip(nibbles[::2], nibbles[1::2], strict=True))


@dataclasses.dataclass(frozen=True)
class Int4Layer:
    """One operator with int4 weights.

    Parameters
    ----------
    name : str
        The operator.
    source, weights, output : tuple of int
        Shapes.
    is_per_channel : bool
        Each output channel has a scale.
    """

    name: str
    source: tuple[int, ...]
    weights: tuple[int, ...]
    output: tuple[int, ...]
    is_per_channel: bool = True

    def __str__(self) -> str:
        scales = "channels" if self.is_per_channel else "tensor"
        return f"{self.name}-{'x'.join(map(str, self.weights))}-{scales}"

    @property
    def _options(self) -> dict[str, Any]:
        if self.name == "FULLY_CONNECTED":
            return {}
        return CONV | ({"depthMultiplier": 1} if self.name == "DEPTHWISE_CONV_2D" else {})

    def values(self) -> NDArray[np.int8]:
        """Return its weights: all values, the extremes more often."""
        rng = np.random.default_rng(sum(self.weights))
        some = rng.integers(-8, 8, self.weights)
        extreme = rng.choice([-8, 7], self.weights)
        return np.where(rng.random(self.weights) < 0.2, extreme, some).astype(np.int8)

    def model(self, *, is_int8: bool = False) -> bytes:
        """Return the model; with ``is_int8`` the one of the same values in bytes."""
        rng = np.random.default_rng(len(self.name))
        model = Model()
        axis = 3 if self.name == "DEPTHWISE_CONV_2D" else 0
        channels = self.weights[axis]
        scales = rng.uniform(0.02, 0.1, channels) if self.is_per_channel else np.array([0.05])
        values = self.values()
        stored: dict[str, Any] = {"data": values}
        if not is_int8:
            stored = {"type_code": INT4, "data": packed(values)}
        operands = [
            model.activation("x", self.source, scale=0.03, zero_point=-5),
            model.tensor(self.weights, name="w", scale=scales, axis=axis, **stored),
            model.tensor(
                (channels,),
                np.int32,
                name="b",
                scale=0.03 * scales,
                data=rng.integers(-2000, 2000, channels).astype(np.int32),
            ),
        ]
        output = model.activation("y", self.output, scale=0.09, zero_point=3)
        return model.single(self.name, operands, output, **self._options)

    @property
    def has_oracle(self) -> bool:
        """Whether TensorFlow Lite Micro takes it: no FULLY_CONNECTED with several scales."""
        return self.name != "FULLY_CONNECTED" or not self.is_per_channel

    def case(self) -> Case:
        """Return a model for TensorFlow Lite Micro, with int4 weights if it takes them."""
        rng = np.random.default_rng(7)
        values = rng.integers(-128, 128, self.source).astype(np.int8)
        return Case(self.model(is_int8=not self.has_oracle), (values,))


LAYERS = (
    Int4Layer("CONV_2D", (1, 7, 6, 16), (24, 3, 3, 16), (1, 7, 6, 24)),
    # An odd number of weights.
    Int4Layer("CONV_2D", (1, 5, 5, 3), (5, 3, 3, 3), (1, 5, 5, 5)),
    Int4Layer("DEPTHWISE_CONV_2D", (1, 6, 6, 24), (1, 3, 3, 24), (1, 6, 6, 24)),
    Int4Layer("DEPTHWISE_CONV_2D", (1, 5, 4, 3), (1, 3, 3, 3), (1, 5, 4, 3)),
    Int4Layer("FULLY_CONNECTED", (1, 64), (40, 64), (1, 40)),
    Int4Layer("FULLY_CONNECTED", (2, 13), (7, 13), (2, 7), is_per_channel=False),
)
