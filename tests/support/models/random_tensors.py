"""Random tensors, weights and windows: what random models are made of."""

import math
import random
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kiwicha.tflite_writer.builder import ACTIVATIONS, PADDINGS
from tests.support.models.tflite_builder import ModelBuilder
from tests.support.oracle.oracle import Case, Interpreter

__all__ = ["RandomTensors", "Shape", "int8s"]

FUSED = ("NONE", "NONE", "RELU", "RELU6", "RELU_N1_TO_1")
Shape = tuple[int, ...]


def int8s(rng: random.Random, *shape: int) -> NDArray[np.int8]:
    """Give random bytes, in one array of eight only extremes."""
    generator = np.random.default_rng(rng.getrandbits(64))
    if rng.random() < 0.125:
        return generator.choice(np.array([-128, 127], np.int8), shape)
    return generator.integers(-128, 128, shape, np.int8)


class RandomTensors:
    """Adds random tensors, which are known by their indices.

    Of the output channels of layers with weights, ``dead_share`` have none but zeros. Numbers are
    those of int8 tensors; where the model is of uint8, all of them are 128 more in the file. Where
    inputs are fixed, what would be an input of the model is a constant. The case has
    ``interpreter``.
    """

    def __init__(
        self,
        rng: random.Random,
        dead_share: float = 0,
        *,
        is_unsigned: bool = False,
        has_fixed_inputs: bool = False,
        interpreter: Interpreter | None = None,
        has_bias: bool = False,
    ) -> None:
        self.rng = rng
        self._is_unsigned = is_unsigned
        self._interpreter = interpreter
        self._has_bias = has_bias
        self._has_fixed_inputs = has_fixed_inputs
        self._dead_share = dead_share
        self._builder = ModelBuilder()
        self._shapes: dict[int, Shape] = {}
        self._scales: dict[int, float] = {}
        self._zero_points: dict[int, int] = {}
        self._inputs: list[int] = []
        self._values: list[NDArray[Any]] = []
        self._last = 0

    def case(self, outputs: Sequence[int] | None = None) -> Case:
        """Return the model with these outputs; with its last tensor unless given."""
        model = self._builder.build(self._inputs, outputs or [self._last])
        return Case(model, tuple(self._values), self._interpreter)

    # ------------------------------------------------------------------------------- tensors

    def _tensor(self, shape: Shape, scale: float, zero_point: int, data: Any = None) -> int:
        index = self._bytes(shape, scale=scale, zero_point=zero_point, data=data)
        self._shapes[index] = shape
        self._scales[index] = float(np.float32(scale))
        self._zero_points[index] = zero_point
        self._last = index
        return index

    def _bytes(
        self, shape: Shape, zero_point: int = 0, data: Any = None, **quantization: Any
    ) -> int:
        dtype = np.uint8 if self._is_unsigned else np.int8
        return self._builder.tensor(
            shape,
            dtype,
            zero_point=zero_point + (128 if self._is_unsigned else 0),
            data=None if data is None else self._stored(data),
            **quantization,
        )

    def _stored(self, values: NDArray[np.int8]) -> NDArray[Any]:
        return values.view(np.uint8) ^ np.uint8(128) if self._is_unsigned else values

    def _zero_point(self) -> int:
        rng = self.rng
        return rng.choice([-128, 127, 0, rng.randint(-128, 127), *(rng.randint(-30, 30),) * 4])

    def _scale(self) -> float:
        return float(10 ** self.rng.uniform(-3, 0.5))

    def input(self, shape: Shape) -> int:
        """Add an input of the model and its value; a constant where inputs are fixed."""
        return self.constant(shape) if self._has_fixed_inputs else self.variable(shape)

    def variable(self, shape: Shape) -> int:
        """Add an input of the model and its value."""
        index = self._tensor(shape, self._scale(), self._zero_point())
        self._inputs.append(index)
        self._values.append(self._stored(int8s(self.rng, *shape)))
        return index

    def constant(self, shape: Shape) -> int:
        """Add a constant."""
        return self._tensor(shape, self._scale(), self._zero_point(), int8s(self.rng, *shape))

    def channels(self, x: int) -> int:
        """Return the size of a tensor's last dimension."""
        return self._shapes[x][-1]

    def _like(self, x: int, shape: Shape) -> int:
        return self._tensor(shape, self._scales[x], self._zero_points[x])

    def _int32(self, values: Any) -> int:
        array = np.asarray(values, np.int32)
        return self._builder.tensor(array.shape, np.int32, data=array)

    def _activation(self) -> dict[str, int]:
        return {"fusedActivationFunction": ACTIVATIONS[self.rng.choice(FUSED)]}

    # --------------------------------------------------------------------- layers with weights

    def _weights(self, shape: Shape, axis: int, x: int, window: int) -> tuple[list[int], int, Any]:
        """Add weights and bias; return both, their channels, and the scale for the output."""
        rng, channels = self.rng, shape[axis]
        base = 10 ** rng.uniform(-3, -1)
        is_per_channel = rng.random() < 0.6 and not self._is_unsigned
        scales = [base * rng.uniform(0.3, 1.5) for _ in range(channels if is_per_channel else 1)]
        values = int8s(rng, *shape)
        if rng.random() < 0.8:
            values = np.maximum(values, -127)
        if self._dead_share:
            is_dead = [rng.random() < self._dead_share for _ in range(channels)]
            np.moveaxis(values, axis, 0)[is_dead] = 0
        zero_point = self._zero_point() if self._is_unsigned else 0
        weights = self._bytes(shape, zero_point, values, scale=scales, axis=axis)
        spread = 100 * 74 * math.sqrt(window)
        operands = [x, weights]
        if rng.random() < 0.9 or self._has_bias:
            bias = np.array([rng.gauss(0, spread) for _ in range(channels)]).astype(np.int32)
            products = np.float32(self._scales[x]) * np.float32(scales)
            operands.append(self._builder.tensor((channels,), np.int32, scale=products, data=bias))
        elif axis == 0 and rng.random() < 0.5:
            # With depthwise weights, axis 3, the interpreter crashes on an index of -1.
            operands.append(-1)
        return operands, channels, spread * self._scales[x] * base / rng.uniform(10, 150)

    def _window(
        self, x: int, kernel: int | None, is_same: bool, largest_dilation: int
    ) -> tuple[list[int], list[int], dict[str, int]]:
        """Return kernel sizes, output sizes and options."""
        rng = self.rng
        padding = "SAME" if is_same else rng.choice(["SAME", "VALID"])
        sizes, outputs, strides, dilations = [], [], [], []
        for size in self._shapes[x][1:3]:
            stride = 1 if is_same or (kernel == 1 and rng.random() < 0.8) else rng.randint(1, 3)
            dilation = rng.randint(1, largest_dilation)
            extent = kernel or rng.choice([1, 2, 3, 3, 4, 5])
            if padding == "VALID":
                extent = min(extent, (size - 1) // dilation + 1)
                outputs.append((size - (extent - 1) * dilation - 1) // stride + 1)
            else:
                outputs.append(-(-size // stride))
            sizes.append(extent)
            strides.append(stride)
            dilations.append(dilation)
        options = {"padding": PADDINGS[padding], "strideH": strides[0], "strideW": strides[1]}
        if largest_dilation > 1:
            options |= {"dilationHFactor": dilations[0], "dilationWFactor": dilations[1]}
        return sizes, outputs, options

    def other_type(self, x: int) -> int:
        """Add a QUANTIZE from int8 to uint8 or back; what follows is of that type too."""
        self._is_unsigned = not self._is_unsigned
        scale = self._scales[x] * self.rng.choice([1, 1, self.rng.uniform(0.3, 3)])
        zero_point = self.rng.choice([self._zero_points[x], self._zero_point()])
        y = self._tensor(self._shapes[x], scale, zero_point)
        self._builder.operator("QUANTIZE", [x], [y])
        return y

    # ------------------------------------------------------------------------------- inputs

    def image(self, most_channels: int = 20) -> int:
        """Add an input that is one image or two."""
        rng = self.rng
        channels = rng.choice([1, 3, 4, 8, 12, 16, 20, rng.randint(1, most_channels)])
        return self.input((rng.choice([1, 1, 2]), rng.randint(1, 9), rng.randint(1, 9), channels))

    def any_shape(self, most_rank: int, most: int = 6) -> Shape:
        """Give a shape of a few dimensions."""
        return tuple(self.rng.randint(1, most) for _ in range(self.rng.randint(1, most_rank)))
