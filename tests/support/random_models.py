"""Random models of one operator, and random networks, with inputs for them."""

import itertools
import math
import random
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from support.oracle import Case
from support.tflite_builder import ACTIVATIONS, PADDINGS, ModelBuilder

__all__ = ["OPERATORS", "RandomModel", "engine_network", "network", "single_operator"]

FUSED = ("NONE", "NONE", "RELU", "RELU6", "RELU_N1_TO_1")
UNARIES = ("HARD_SWISH", "LEAKY_RELU", "LOGISTIC", "QUANTIZE", "RELU", "RELU6", "TANH")
Shape = tuple[int, ...]


def int8s(rng: random.Random, *shape: int) -> NDArray[np.int8]:
    """Give random bytes, in one array of eight only extremes."""
    generator = np.random.default_rng(rng.getrandbits(64))
    if rng.random() < 0.125:
        return generator.choice(np.array([-128, 127], np.int8), shape)
    return generator.integers(-128, 128, shape, np.int8)


def single_operator(operator: str, seed: int, *, is_unsigned: bool = False) -> Case:
    """Return a model of one operator and its inputs, always the same for one seed."""
    rng = random.Random(f"{operator}{seed}")
    model = _Model(rng, is_unsigned=is_unsigned)
    OPERATORS[operator](model)
    return model.case()


def network(seed: int, *, is_unsigned: bool = False) -> Case:
    """Return a model with branches, as image classifiers have them, and its input."""
    rng = random.Random(f"network{seed}")
    model = _Model(rng, is_unsigned=is_unsigned)
    size, channels = rng.randint(5, 20), rng.randint(1, 6)
    x = model.input((1, size, rng.randint(5, 20), channels))
    for _ in range(rng.randint(2, 6)):
        kind = rng.choice(["conv", "conv", "depthwise", "residual", "pool", "pad"])
        if kind == "conv":
            x = model.conv(x)
        elif kind == "depthwise":
            x = model.conv(model.depthwise(x), kernel=1)
        elif kind == "residual":
            branch = model.conv(x, kernel=3, is_same=True)
            shortcut = model.conv(x, kernel=1, like=branch)
            x = model.elementwise(rng.choice(["ADD", "SUB", "MUL"]), branch, shortcut)
        elif kind == "pool":
            x = model.pool(rng.choice(["AVERAGE_POOL_2D", "MAX_POOL_2D"]), x)
        else:
            x = model.pad(x)
    x = model.mean(x, axes=[1, 2], keep=False) if rng.random() < 0.5 else model.flatten(x)
    x = model.fully_connected(x, outputs=rng.randint(2, 12))
    model.softmax(x)
    return model.case()


def engine_network(seed: int) -> Case:
    """Return a model most of whose layers the engine can do, and its input.

    Between its layers are tensors of any number of channels; it ends with a single pixel.
    """
    rng = random.Random(f"engine{seed}")
    model = _Model(rng, dead_share=rng.choice([0, 0, 0.3, 0.9]))
    are_whole = rng.random() < 0.6

    def channels() -> int:
        return rng.choice([8, 16, 24, 40]) if are_whole else rng.randint(1, 36)

    x = model.input((1, rng.randint(6, 24), rng.randint(6, 24), rng.choice([1, 3, 8, channels()])))
    for _ in range(rng.randint(2, 7)):
        kind = rng.choice([
            "conv",
            "conv",
            "depthwise",
            "depthwise",
            "residual",
            "pool",
            "scalar",
            "unary",
        ])
        if kind == "conv":
            x = model.conv(x, kernel=rng.choice([None, 1, 1, 3, 6]), channels=channels())
        elif kind == "depthwise":
            multiplier = rng.choice([1, 1, 1, 2])
            x = model.depthwise(x, multiplier=multiplier, kernel=rng.choice([None, 3, 6, 8]))
        elif kind == "residual":
            branch = model.conv(x, kernel=3, is_same=True, channels=channels())
            shortcut = model.conv(x, kernel=1, like=branch)
            x = model.elementwise(rng.choice(["ADD", "SUB"]), branch, shortcut)
        elif kind == "pool":
            x = model.pool("AVERAGE_POOL_2D", x)
        elif kind == "unary":
            x = model.unary(rng.choice(UNARIES), x)
        else:
            operator = rng.choice(["ADD", "SUB", "MUL"])
            shape = (model.channels(x),) if operator == "MUL" and rng.random() < 0.5 else (1,)
            x = model.elementwise(operator, x, model.constant(shape))
    x = model.mean(x, axes=[1, 2], keep=False)
    model.fully_connected(x, outputs=rng.randint(1, 30))
    return model.case()


class _Model:
    """Adds random operators; a tensor is known by its index.

    Of the output channels of layers with weights, ``dead_share`` have none but zeros. Numbers are
    those of int8 tensors; where the model is of uint8, all of them are 128 more in the file.
    """

    def __init__(
        self, rng: random.Random, dead_share: float = 0, *, is_unsigned: bool = False
    ) -> None:
        self.rng = rng
        self._is_unsigned = is_unsigned
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
        return Case(model, tuple(self._values))

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
        index = self._tensor(shape, self._scale(), self._zero_point())
        self._inputs.append(index)
        self._values.append(self._stored(int8s(self.rng, *shape)))
        return index

    def constant(self, shape: Shape) -> int:
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
        if rng.random() < 0.9:
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

    def conv(
        self,
        x: int,
        kernel: int | None = None,
        is_same: bool = False,
        like: int | None = None,
        channels: int | None = None,
    ) -> int:
        shape = self._shapes[x]
        if kernel is None and self.rng.random() < 0.4:
            kernel = 1
        is_same = is_same or like is not None
        sizes, outputs, options = self._window(x, kernel, is_same, 2)
        if like is not None:
            channels = self._shapes[like][3]
        channels = channels or self.rng.randint(1, 20)
        groups = 1
        if self.rng.random() < 0.15:
            groups = self.rng.choice([n for n in range(1, 9) if shape[3] % n == channels % n == 0])
        weights = (channels, *sizes, shape[3] // groups)
        operands, _, scale = self._weights(weights, 0, x, math.prod(weights[1:]))
        y = self._tensor((shape[0], *outputs, channels), scale, self._zero_point())
        self._builder.operator("CONV_2D", operands, [y], **options, **self._activation())
        return y

    def transpose_conv(self, x: int) -> int:
        rng, shape = self.rng, self._shapes[x]
        channels, padding = rng.randint(1, 9), rng.choice(["SAME", "VALID"])
        kernel, strides, sizes = [], [], []
        for size in shape[1:3]:
            stride, extent = rng.randint(1, 3), rng.randint(1, 5)
            smallest = (size - 1) * stride + (extent if padding == "VALID" else 1)
            kernel.append(extent)
            strides.append(stride)
            sizes.append(smallest + rng.randint(0, stride - 1))
        weights = (channels, *kernel, shape[3])
        operands, _, scale = self._weights(weights, 0, x, math.prod(weights[1:]))
        y_shape = (shape[0], *sizes, channels)
        y = self._tensor(y_shape, scale, self._zero_point())
        _, w, *bias = operands
        inputs = [self._int32(y_shape), w, x, *(index for index in bias if index >= 0)]
        options = {"padding": PADDINGS[padding], "strideH": strides[0], "strideW": strides[1]}
        self._builder.operator("TRANSPOSE_CONV", inputs, [y], **options, **self._activation())
        return y

    def resize_bilinear(self, x: int) -> int:
        rng, shape = self.rng, self._shapes[x]
        sizes = [rng.choice([size, 2 * size, rng.randint(1, 20)]) for size in shape[1:3]]
        way = rng.choice([{}, {"alignCorners": True}, {"halfPixelCenters": True}])
        y = self._like(x, (shape[0], *sizes, shape[3]))
        self._builder.operator("RESIZE_BILINEAR", [x, self._int32(sizes)], [y], **way)
        return y

    def depthwise(self, x: int, multiplier: int | None = None, kernel: int | None = None) -> int:
        shape = self._shapes[x]
        sizes, outputs, options = self._window(x, kernel, False, 2)
        multiplier = multiplier or self.rng.choice([1, 1, 1, 1, 2, 3])
        weights = (1, *sizes, shape[3] * multiplier)
        operands, channels, scale = self._weights(weights, 3, x, math.prod(sizes))
        y = self._tensor((shape[0], *outputs, channels), scale, self._zero_point())
        options |= {"depthMultiplier": multiplier} | self._activation()
        self._builder.operator("DEPTHWISE_CONV_2D", operands, [y], **options)
        return y

    def fully_connected(self, x: int, outputs: int) -> int:
        shape = self._shapes[x]
        keeps = len(shape) > 2 and self.rng.random() < 0.5
        depth = shape[-1] if keeps else math.prod(shape[1:])
        operands, _, scale = self._weights((outputs, depth), 0, x, depth)
        y_shape = (*shape[:-1], outputs) if keeps else (shape[0], outputs)
        y = self._tensor(y_shape, scale, self._zero_point())
        options = {"keepNumDims": keeps} | self._activation()
        self._builder.operator("FULLY_CONNECTED", operands, [y], **options)
        return y

    # ----------------------------------------------------------------------------- the others

    def pool(self, operator: str, x: int) -> int:
        shape = self._shapes[x]
        sizes, outputs, options = self._window(x, None, False, 1)
        y = self._like(x, (shape[0], *outputs, shape[3]))
        options |= {"filterHeight": sizes[0], "filterWidth": sizes[1]} | self._activation()
        self._builder.operator(operator, [x], [y], **options)
        return y

    def elementwise(self, operator: str, a: int, b: int) -> int:
        shape = np.broadcast_shapes(self._shapes[a], self._shapes[b])
        if operator == "MUL":
            scale = self._scales[a] * self._scales[b] * self.rng.uniform(20, 200)
        else:
            scale = max(self._scales[a], self._scales[b]) * self.rng.uniform(0.4, 2)
        y = self._tensor(shape, scale, self._zero_point())
        self._builder.operator(operator, [a, b], [y], **self._activation())
        return y

    def compare(self, operator: str, a: int, shape: Shape) -> int:
        """Add MINIMUM or MAXIMUM of a tensor and another one with its scale."""
        rng = self.rng
        other = self._like(a, shape)
        if rng.random() < 0.5:
            other = self._tensor(shape, self._scales[a], self._zero_points[a], int8s(rng, *shape))
        else:
            self._inputs.append(other)
            self._values.append(self._stored(int8s(rng, *shape)))
        y = self._like(a, tuple(np.broadcast_shapes(self._shapes[a], shape)))
        self._builder.operator(operator, rng.sample([a, other], 2), [y])
        return y

    def prelu(self, x: int, shape: Shape) -> int:
        alpha = self.constant(shape)
        largest = max(1, 128 * self._scales[alpha])
        scale = self._scales[x] * largest * self.rng.uniform(0.1, 2)
        y = self._tensor(self._shapes[x], scale, self._zero_point())
        self._builder.operator("PRELU", [x, alpha], [y])
        return y

    def mean(self, x: int, axes: list[int], keep: bool, operator: str = "MEAN") -> int:
        shape = self._shapes[x]
        reduced = {axis % len(shape) for axis in axes}
        y_shape = tuple(
            1 if axis in reduced else size
            for axis, size in enumerate(shape)
            if keep or axis not in reduced
        )
        scale = self._scales[x] * self.rng.choice([1, self.rng.uniform(0.1, 2)])
        if operator == "SUM":
            scale *= math.sqrt(math.prod(shape) / math.prod(y_shape))
        if operator == "REDUCE_MAX":
            y = self._like(x, y_shape)
        else:
            y = self._tensor(y_shape, scale, self._zero_point())
        self._builder.operator(operator, [x, self._int32(axes)], [y], keepDims=keep)
        return y

    def pad(self, x: int) -> int:
        shape = self._shapes[x]
        pads = [[self.rng.randint(0, 3), self.rng.randint(0, 3)] for _ in shape]
        if len(shape) == 4:
            pads[0] = [0, 0]
        y_shape = tuple(size + sum(pad) for size, pad in zip(shape, pads, strict=True))
        y = self._like(x, y_shape)
        self._builder.operator("PAD", [x, self._int32(pads)], [y])
        return y

    def unary(self, operator: str, x: int) -> int:
        rng, scale = self.rng, self._scales[x]
        options = {}
        if operator == "LOGISTIC":
            parameters = 1 / 256, -128
        elif operator == "TANH":
            parameters = 1 / 128, 0
        elif operator == "RELU6":
            parameters = scale, self._zero_points[x]
        else:
            parameters = scale * rng.choice([1, rng.uniform(0.05, 4)]), self._zero_point()
        if operator == "LEAKY_RELU":
            options["alpha"] = rng.choice([0.01, 0.1, 0.3, 1.5, -0.7, 0.0])
        y = self._tensor(self._shapes[x], *parameters)
        self._builder.operator(operator, [x], [y], **options)
        return y

    def quantize_float(self, shape: Shape) -> int:
        """Add a float32 input and its QUANTIZE."""
        rng = self.rng
        scale, zero_point = self._scale(), self._zero_point()
        x = self._builder.tensor(shape, np.float32)
        self._inputs.append(x)
        generator = np.random.default_rng(rng.getrandbits(64))
        # Some values lie on the border between two outputs, some far outside.
        steps = generator.integers(-160, 160, shape) + generator.choice([0.0, 0.5, 0.3], shape)
        far = np.where(generator.random(shape) < 0.05, 1e6, 1.0)
        self._values.append((steps * np.float32(scale) * far).astype(np.float32))
        y = self._tensor(shape, scale, zero_point)
        self._builder.operator("QUANTIZE", [x], [y])
        return y

    def dequantize(self, x: int) -> int:
        y = self._builder.tensor(self._shapes[x], np.float32)
        self._builder.operator("DEQUANTIZE", [x], [y])
        self._last = y
        return y

    def arg_max(self, x: int, axis: int) -> int:
        shape = self._shapes[x]
        positive = axis % len(shape)
        y = self._builder.tensor((*shape[:positive], *shape[positive + 1 :]), np.int32)
        axes = self._int32(axis if self.rng.random() < 0.5 else [axis])
        self._builder.operator("ARG_MAX", [x, axes], [y], outputType=2)
        self._last = y
        return y

    def softmax(self, x: int) -> int:
        y = self._tensor(self._shapes[x], 1 / 256, -128)
        beta = self.rng.choice([1.0, 1.0, 0.25, 0.7, 2.0, 4.0])
        self._builder.operator("SOFTMAX", [x], [y], beta=beta)
        return y

    def reshape(self, x: int, shape: Shape) -> int:
        y = self._like(x, shape)
        operands = [x, self._int32(shape)] if self.rng.random() < 0.7 else [x]
        self._builder.operator("RESHAPE", operands, [y], newShape=np.asarray(shape, np.int32))
        return y

    def flatten(self, x: int) -> int:
        return self.reshape(x, (1, math.prod(self._shapes[x])))

    # ----------------------------------------------------------------- models of one operator

    def image(self, most_channels: int = 20) -> int:
        rng = self.rng
        channels = rng.choice([1, 3, 4, 8, 12, 16, 20, rng.randint(1, most_channels)])
        return self.input((rng.choice([1, 1, 2]), rng.randint(1, 9), rng.randint(1, 9), channels))

    def any_shape(self, most_rank: int, most: int = 6) -> Shape:
        return tuple(self.rng.randint(1, most) for _ in range(self.rng.randint(1, most_rank)))


RandomModel = _Model
"""For models of other families of operators."""


def _fully_connected(model: _Model) -> None:
    rng = model.rng
    depth = rng.choice([1, 4, 16, 60, 516, rng.randint(1, 40)])
    batches = rng.randint(1, 3)
    shape = rng.choice([(batches, depth), (batches, 2, depth), (batches, 2, 3, depth)])
    model.fully_connected(model.input(shape), rng.choice([1, 3, 4, 10, rng.randint(1, 40)]))


def _elementwise(operator: str) -> Callable[[_Model], None]:
    def add(model: _Model) -> None:
        rng = model.rng
        shape = model.any_shape(4)
        a = model.input(shape)
        other = shape
        if rng.random() < 0.5:
            other = tuple(1 if rng.random() < 0.4 else size for size in shape)
            other = other[rng.randint(0, len(other) - 1) :]
        if rng.random() < 0.1:
            b = a
        else:
            b = rng.choice([model.input, model.constant])(other)
        operands = (a, b) if rng.random() < 0.5 else (b, a)
        model.elementwise(operator, *operands)

    return add


def _broadcast(model: _Model, shape: Shape) -> Shape:
    """Give a shape that broadcasts to another one."""
    rng = model.rng
    other = tuple(1 if rng.random() < 0.4 else size for size in shape)
    return rng.choice([shape, other[rng.randint(0, len(other) - 1) :]])


def _comparison(operator: str) -> Callable[[_Model], None]:
    def compare(model: _Model) -> None:
        shape = model.any_shape(4)
        model.compare(operator, model.input(shape), _broadcast(model, shape))

    return compare


def _prelu(model: _Model) -> None:
    shape = model.any_shape(4)
    model.prelu(model.input(shape), _broadcast(model, shape))


def _reduction(operator: str) -> Callable[[_Model], None]:
    return lambda model: _mean(model, operator)


def _mean(model: _Model, operator: str = "MEAN") -> None:
    rng = model.rng
    shape = model.any_shape(4, 8)
    axes = rng.sample(range(len(shape)), rng.randint(1, max(len(shape) - 1, 1)))
    axes = [axis - len(shape) if rng.random() < 0.3 else axis for axis in axes]
    model.mean(model.input(shape), axes, rng.random() < 0.5 or len(axes) == len(shape), operator)


def _unary(operator: str) -> Callable[[_Model], None]:
    return lambda model: model.unary(operator, model.input(model.any_shape(5)))


def _arg_max(model: _Model) -> None:
    shape = (*model.any_shape(4), model.rng.choice([1, 2, 10, 40]))
    model.arg_max(model.input(shape), model.rng.randrange(-len(shape), len(shape)))


def _float_edges(model: _Model) -> None:
    shape = model.any_shape(4)
    x = model.quantize_float(shape)
    if model.rng.random() < 0.5:
        x = model.unary(model.rng.choice(UNARIES), x)
    if model.rng.random() < 0.8:
        model.dequantize(x)


def _softmax(model: _Model) -> None:
    rng = model.rng
    depth = rng.choice([1, 2, 3, 10, 30, 100, rng.randint(1, 300)])
    model.softmax(model.input((*model.any_shape(3, 4), depth)[-rng.randint(2, 4) :]))


def _reshape(model: _Model) -> None:
    shape = model.any_shape(4)
    factors = list(itertools.chain.from_iterable([size, 1] for size in shape))
    model.rng.shuffle(factors)
    model.reshape(model.input(shape), (*factors[:2], math.prod(factors[2:])))


OPERATORS: dict[str, Callable[[_Model], Any]] = {
    "CONV_2D": lambda model: model.conv(model.image()),
    "DEPTHWISE_CONV_2D": lambda model: model.depthwise(model.image()),
    "FULLY_CONNECTED": _fully_connected,
    "AVERAGE_POOL_2D": lambda model: model.pool("AVERAGE_POOL_2D", model.image()),
    "MAX_POOL_2D": lambda model: model.pool("MAX_POOL_2D", model.image()),
    "ADD": _elementwise("ADD"),
    "SUB": _elementwise("SUB"),
    "MUL": _elementwise("MUL"),
    "MAXIMUM": _comparison("MAXIMUM"),
    "MINIMUM": _comparison("MINIMUM"),
    "PRELU": _prelu,
    "MEAN": _reduction("MEAN"),
    "REDUCE_MAX": _reduction("REDUCE_MAX"),
    "SUM": _reduction("SUM"),
    "PAD": lambda model: model.pad(model.input(model.any_shape(4))),
    "SOFTMAX": _softmax,
    "RESHAPE": _reshape,
    **{name: _unary(name) for name in UNARIES},
    "ARG_MAX": _arg_max,
    "RESIZE_BILINEAR": lambda model: model.resize_bilinear(model.image()),
    "TRANSPOSE_CONV": lambda model: model.transpose_conv(model.image()),
    "DEQUANTIZE": _float_edges,
}
