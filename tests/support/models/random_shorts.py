"""Random models of one operator on int16, whose weights are int8."""

import math
import random
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kiwicha.compiler.tflite.recurrent import LSTM
from kiwicha.tflite_writer.builder import ACTIVATIONS, PADDINGS
from tests.support.models.recurrent import lstm_of_shorts
from tests.support.models.streaming import sets
from tests.support.models.tflite_builder import ModelBuilder
from tests.support.models.wide_integers import requantized
from tests.support.oracle.oracle import MICRO, Case

__all__ = ["OPERATORS", "single_operator"]

Shape = tuple[int, ...]
_FUSED = ("NONE", "NONE", "RELU", "RELU6", "RELU_N1_TO_1")
_LONG_ALONE = {"DEPTHWISE_CONV_2D", "TRANSPOSE_CONV"}
"""Operators whose sums always have 64 bits."""
_RESCALING = "QUANTIZE"


def single_operator(operator: str, seed: int) -> Case:
    """Return a model of one operator and its inputs, always the same for one seed."""
    rng = random.Random(f"short {operator} {seed}")
    if operator == _RESCALING:
        return Case(*requantized(rng), MICRO)
    if operator == LSTM:
        model = lstm_of_shorts(rng)
        return Case(model.model, sets(model, 1, seed)[0], MICRO)
    made = _Shorts(rng, operator)
    return made.case(_ADDED[operator](made))


class _Shorts:
    """Collects a model of one operator."""

    def __init__(self, rng: random.Random, operator: str) -> None:
        self.rng = rng
        self.operator = operator
        self.builder = ModelBuilder()
        self._generator = np.random.default_rng(rng.getrandbits(64))
        self._inputs: list[int] = []
        self._values: list[NDArray[Any]] = []
        self._has_largest_sums = operator == "FULLY_CONNECTED" and rng.random() < 0.3
        # Results then have bits of terms that are less than a step of the inputs.
        self._is_magnified = operator in {"ADD", "SUB"} and rng.random() < 0.3

    def magnified(self, scale: float) -> float:
        """Return the scale for the output of an ADD or SUB."""
        return scale * 2 ** self.rng.uniform(-12, -9) if self._is_magnified else scale

    def case(self, outputs: list[int]) -> Case:
        """Return the model."""
        return Case(self.builder.build(self._inputs, outputs), tuple(self._values), MICRO)

    def numbers(self, shape: Shape, dtype: Any = np.int16) -> NDArray[Any]:
        """Return random numbers: small ones, all of the range, or nothing but extremes."""
        limits, kind = np.iinfo(dtype), self.rng.random()
        if self._has_largest_sums:
            return np.full(shape, limits.min, dtype)
        if self._is_magnified:
            return self._generator.integers(-9, 10, shape, dtype)
        if kind < 0.1:
            return self._generator.choice(np.array([limits.min, limits.max], dtype), shape)
        most = limits.max >> self.rng.choice([0, 0, 0, 1, 3])
        return self._generator.integers(-most - 1, most, shape, dtype, endpoint=True)

    def scale(self) -> float:
        """Return a random scale."""
        return float(np.float32(10 ** self.rng.uniform(-5, -2)))

    def shape(self, lowest: int = 1, highest: int = 4, most: int = 6) -> Shape:
        """Return a random shape."""
        return tuple(self.rng.randint(1, most) for _ in range(self.rng.randint(lowest, highest)))

    def image(self) -> Shape:
        """Return the shape of an image or two."""
        rng = self.rng
        return (rng.choice([1, 1, 2]), rng.randint(1, 8), rng.randint(1, 8), rng.randint(1, 12))

    def tensor(self, shape: Shape, scale: float, *, is_constant: bool = False) -> int:
        """Add an input of the model, or a constant."""
        values = self.numbers(shape)
        if is_constant:
            return self.builder.tensor(shape, np.int16, scale=scale, data=values)
        index = self.builder.tensor(shape, np.int16, scale=scale)
        self._inputs.append(index)
        self._values.append(values)
        return index

    def output(self, shape: Shape, scale: float) -> int:
        """Add a tensor that is computed."""
        return self.builder.tensor(shape, np.int16, scale=scale)

    def parameters(self, values: Any) -> int:
        """Add a constant of int32."""
        numbers = np.array(values, np.int32)
        return self.builder.tensor(numbers.shape, np.int32, data=numbers)

    def operate(self, inputs: list[int], outputs: list[int], **options: Any) -> list[int]:
        """Add the operator and return its outputs."""
        self.builder.operator(self.operator, inputs, outputs, **options)
        return outputs

    def activation(self) -> dict[str, int]:
        """Return a fused activation."""
        return {"fusedActivationFunction": ACTIVATIONS[self.rng.choice(_FUSED)]}

    def weights(self, shape: Shape, axis: int, scale: float, taps: int) -> tuple[list[int], Any]:
        """Add weights and perhaps a bias; return both, and a scale for the output."""
        rng, channels = self.rng, shape[axis]
        base = 10 ** rng.uniform(-3, -1)
        count = channels if rng.random() < 0.6 else 1
        scales = np.array([base * rng.uniform(0.3, 1.5) for _ in range(count)], np.float32)
        data = np.maximum(self.numbers(shape, np.int8), -127)
        found = [self.builder.tensor(shape, np.int8, scale=scales, axis=axis, data=data)]
        spread = 74 * 2**13 * math.sqrt(taps)
        if rng.random() < 0.85:
            kinds = [np.int64] if self.operator in _LONG_ALONE else [np.int64, np.int32]
            bias = np.array([rng.gauss(0, spread) for _ in range(channels)])
            products = (np.float32(scale) * scales).astype(np.float32)
            dtype = rng.choice(kinds)
            found.append(
                self.builder.tensor((channels,), dtype, scale=products, data=bias.astype(dtype))
            )
        return found, spread * scale * base / rng.uniform(2**12, 2**16)

    def window(self, largest_dilation: int) -> tuple[Shape, Shape, Shape, dict[str, int]]:
        """Return an image, a window on it, what it gives, and options."""
        rng, image = self.rng, self.image()
        padding = rng.choice(["SAME", "VALID"])
        sizes, outputs, strides, dilations = [], [], [], []
        for size in image[1:3]:
            stride, dilation = rng.randint(1, 3), rng.randint(1, largest_dilation)
            extent = rng.choice([1, 1, 2, 3, 3, 5])
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
        return image, (sizes[0], sizes[1]), (image[0], *outputs), options


def _conv(made: _Shorts) -> list[int]:
    image, kernel, size, options = made.window(2)
    channels, scale = made.rng.randint(1, 12), made.scale()
    depth = image[3]
    if made.rng.random() < 0.15:
        depth = made.rng.choice([n for n in range(1, depth + 1) if image[3] % n == 0])
        channels = image[3] // depth * made.rng.randint(1, 3)
    x = made.tensor(image, scale)
    operands, target = made.weights((channels, *kernel, depth), 0, scale, math.prod(kernel) * depth)
    y = made.output((*size, channels), target)
    return made.operate([x, *operands], [y], **options, **made.activation())


def _depthwise(made: _Shorts) -> list[int]:
    image, kernel, size, options = made.window(2)
    multiplier, scale = made.rng.choice([1, 1, 2, 3]), made.scale()
    channels = image[3] * multiplier
    x = made.tensor(image, scale)
    operands, target = made.weights((1, *kernel, channels), 3, scale, math.prod(kernel))
    y = made.output((*size, channels), target)
    options |= {"depthMultiplier": multiplier} | made.activation()
    return made.operate([x, *operands], [y], **options)


def _fully_connected(made: _Shorts) -> list[int]:
    rows, outputs, scale = made.rng.randint(1, 4), made.rng.randint(1, 20), made.scale()
    # Long rows have sums of more than 32 bits.
    depth = made.rng.choice([made.rng.randint(1, 60), 700, 1500])
    x = made.tensor((rows, depth), scale)
    operands, target = made.weights((outputs, depth), 0, scale, depth)
    return made.operate([x, *operands], [made.output((rows, outputs), target)], **made.activation())


def _transpose_conv(made: _Shorts) -> list[int]:
    rng, image, scale = made.rng, made.image(), made.scale()
    channels, padding = rng.randint(1, 9), rng.choice(["SAME", "VALID"])
    kernel, strides, sizes = [], [], []
    for size in image[1:3]:
        stride, extent = rng.randint(1, 3), rng.randint(1, 5)
        smallest = (size - 1) * stride + (extent if padding == "VALID" else 1)
        kernel.append(extent)
        strides.append(stride)
        sizes.append(smallest + rng.randint(0, stride - 1))
    taps = math.prod(kernel) * image[3]
    x = made.tensor(image, scale)
    (weights, *bias), target = made.weights((channels, *kernel, image[3]), 0, scale, taps)
    shape = (image[0], *sizes, channels)
    options = {"padding": PADDINGS[padding], "strideH": strides[0], "strideW": strides[1]}
    operands = [made.parameters(shape), weights, x, *bias]
    return made.operate(operands, [made.output(shape, target)], **options, **made.activation())


def _pool(made: _Shorts) -> list[int]:
    image, kernel, size, options = made.window(1)
    scale = made.scale()
    x, y = made.tensor(image, scale), made.output((*size, image[3]), scale)
    options |= {"filterHeight": kernel[0], "filterWidth": kernel[1]} | made.activation()
    return made.operate([x], [y], **options)


def _pair(made: _Shorts) -> list[int]:
    rng, shape = made.rng, made.shape(highest=5)
    narrow = tuple(1 if rng.random() < 0.3 else size for size in shape)
    narrow = narrow[rng.choice([0, 0, rng.randint(0, len(shape) - 1)]) :]
    scales = made.scale(), made.scale()
    is_constant = rng.random() < 0.3
    operands = [
        made.tensor(shape, scales[0]),
        made.tensor(narrow, scales[1], is_constant=is_constant),
    ]
    if made.operator == "MUL":
        target = scales[0] * scales[1] * 2 ** rng.uniform(10, 16)
    else:
        target = made.magnified(max(scales) * rng.uniform(0.4, 2.5))
    if rng.random() < 0.5:
        operands.reverse()
    return made.operate(operands, [made.output(shape, target)], **made.activation())


def _choice(made: _Shorts) -> list[int]:
    rng, shape, scale = made.rng, made.shape(highest=4), made.scale()
    narrow = tuple(1 if rng.random() < 0.3 else size for size in shape)
    operands = [made.tensor(shape, scale), made.tensor(narrow, scale)]
    if rng.random() < 0.5:
        operands.reverse()
    return made.operate(operands, [made.output(shape, scale)])


def _reduction(made: _Shorts) -> list[int]:
    rng, shape, scale = made.rng, made.shape(highest=4, most=9), made.scale()
    axes = sorted(rng.sample(range(len(shape)), rng.randint(1, len(shape))))
    keeps = rng.random() < 0.5
    kept = tuple(1 if k in axes else n for k, n in enumerate(shape) if keeps or k not in axes)
    x, y = made.tensor(shape, scale), made.output(kept, scale * 2 ** rng.uniform(-1, 3))
    given = [axis - len(shape) if rng.random() < 0.3 else axis for axis in axes]
    return made.operate([x, made.parameters(given)], [y], keepDims=keeps)


def _function(made: _Shorts) -> list[int]:
    rng, shape = made.rng, made.shape(most=9)
    power = rng.choice([2.0**-12, 2.0**-11]) * rng.choice([1, 1.0004])
    scale = rng.choice([power, 10 ** rng.uniform(-5, 0.4)])
    return made.operate([made.tensor(shape, scale)], [made.output(shape, 2.0**-15)])


def _leak(made: _Shorts) -> list[int]:
    rng, shape, scale = made.rng, made.shape(most=9), made.scale()
    options = {}
    target = scale * 2 ** rng.uniform(-2, 2)
    if made.operator == "LEAKY_RELU":
        options = {"alpha": rng.choice([0.1, 0.3, rng.uniform(-2, 2)])}
    elif made.operator == "RELU6":
        scale = target = 10 ** rng.uniform(-3.7, -2)
    return made.operate([made.tensor(shape, scale)], [made.output(shape, target)], **options)


def _softmax(made: _Shorts) -> list[int]:
    rng = made.rng
    shape = (*made.shape(highest=3, most=4), rng.choice([1, 2, 3, 10, 70, 300]))
    scale = 10 ** rng.uniform(-5, -1)
    operands = [made.tensor(shape, scale)]
    return made.operate(operands, [made.output(shape, 2.0**-15)], beta=rng.choice([1.0, 0.5]))


def _reshape(made: _Shorts) -> list[int]:
    shape, scale = made.shape(), made.scale()
    flat = (math.prod(shape),)
    operands = [made.tensor(shape, scale), made.parameters(flat)]
    return made.operate(operands, [made.output(flat, scale)])


def _pad(made: _Shorts) -> list[int]:
    rng, shape, scale = made.rng, made.shape(highest=4), made.scale()
    amounts = [(rng.randint(0, 2), rng.randint(0, 2)) for _ in shape]
    padded = tuple(size + sum(pair) for size, pair in zip(shape, amounts, strict=True))
    operands = [made.tensor(shape, scale), made.parameters(amounts)]
    if made.operator == "PADV2":
        operands.append(made.tensor((1,), scale, is_constant=True))
    return made.operate(operands, [made.output(padded, scale)])


def _concatenation(made: _Shorts) -> list[int]:
    rng, shape, scale = made.rng, made.shape(), made.scale()
    axis = rng.randrange(len(shape))
    sizes = [rng.randint(1, 5) for _ in range(rng.randint(2, 4))]
    parts = [made.tensor((*shape[:axis], n, *shape[axis + 1 :]), scale) for n in sizes]
    y = made.output((*shape[:axis], sum(sizes), *shape[axis + 1 :]), scale)
    return made.operate(parts, [y], axis=axis)


def _transpose(made: _Shorts) -> list[int]:
    shape, scale = made.shape(lowest=2), made.scale()
    order = made.rng.sample(range(len(shape)), len(shape))
    operands = [made.tensor(shape, scale), made.parameters(order)]
    return made.operate(operands, [made.output(tuple(shape[k] for k in order), scale)])


def _split(made: _Shorts) -> list[int]:
    rng, shape, scale = made.rng, made.shape(), made.scale()
    axis, count = rng.randrange(len(shape)), rng.randint(2, 4)
    whole = (*shape[:axis], shape[axis] * count, *shape[axis + 1 :])
    operands = [made.parameters([axis]), made.tensor(whole, scale)]
    return made.operate(operands, [made.output(shape, scale) for _ in range(count)])


def _slice(made: _Shorts) -> list[int]:
    rng, shape, scale = made.rng, made.shape(most=8), made.scale()
    begin = [rng.randrange(size) for size in shape]
    sizes = [rng.randint(1, size - first) for size, first in zip(shape, begin, strict=True)]
    x, y = made.tensor(shape, scale), made.output(tuple(sizes), scale)
    return made.operate([x, made.parameters(begin), made.parameters(sizes)], [y])


def _strided_slice(made: _Shorts) -> list[int]:
    rng, shape, scale = made.rng, made.shape(most=8), made.scale()
    begin = [rng.randrange(size) for size in shape]
    strides = [rng.randint(1, 3) for _ in shape]
    ends = [rng.randint(first + 1, size) for size, first in zip(shape, begin, strict=True)]
    sizes = [-(-(e - b) // s) for b, e, s in zip(begin, ends, strides, strict=True)]
    x, y = made.tensor(shape, scale), made.output(tuple(sizes), scale)
    return made.operate([x, *map(made.parameters, (begin, ends, strides))], [y])


_ADDED: dict[str, Callable[[_Shorts], list[int]]] = {
    "ADD": _pair,
    "AVERAGE_POOL_2D": _pool,
    "CONCATENATION": _concatenation,
    "CONV_2D": _conv,
    "DEPTHWISE_CONV_2D": _depthwise,
    "FULLY_CONNECTED": _fully_connected,
    "LEAKY_RELU": _leak,
    "LOGISTIC": _function,
    "MAXIMUM": _choice,
    "MAX_POOL_2D": _pool,
    "MEAN": _reduction,
    "MINIMUM": _choice,
    "MUL": _pair,
    "PAD": _pad,
    "PADV2": _pad,
    "RELU": _leak,
    "RELU6": _leak,
    "RESHAPE": _reshape,
    "SLICE": _slice,
    "SOFTMAX": _softmax,
    "SPLIT": _split,
    "STRIDED_SLICE": _strided_slice,
    "SUB": _pair,
    "SUM": _reduction,
    "TANH": _function,
    "TRANSPOSE": _transpose,
    "TRANSPOSE_CONV": _transpose_conv,
}
"""What adds each operator."""
OPERATORS = (*_ADDED, _RESCALING, LSTM)
"""The operators that are drawn."""
