"""Random operators on tensors of a model."""

import math

import numpy as np

from kiwicha.tflite_writer.builder import PADDINGS
from tests.support.models.random_tensors import RandomTensors, Shape, int8s
from tests.support.oracle.oracle import LITERT

__all__ = ["FUNCTIONS", "UNARIES", "RandomModel"]

UNARIES = ("HARD_SWISH", "LEAKY_RELU", "LOGISTIC", "QUANTIZE", "RELU", "RELU6", "TANH")
"""Operators with one input that both interpreters have."""
FUNCTIONS = ("ABS", "ELU", "EXP", "GELU", "LOG", "RELU_0_TO_1", "RELU_N1_TO_1", "RSQRT")
"""Other ones."""


class RandomModel(RandomTensors):
    """Adds random operators; each returns the tensor that it writes."""

    def conv(
        self,
        x: int,
        kernel: int | None = None,
        is_same: bool = False,
        like: int | None = None,
        channels: int | None = None,
        groups: int = 1,
    ) -> int:
        """Add a CONV_2D; ``like`` is the tensor whose channels it gives."""
        shape = self._shapes[x]
        if kernel is None and self.rng.random() < 0.4:
            kernel = 1
        is_same = is_same or like is not None
        sizes, outputs, options = self._window(x, kernel, is_same, 2)
        if like is not None:
            channels = self._shapes[like][3]
        channels = channels or self.rng.randint(1, 20)
        if groups == 1 and self.rng.random() < 0.15:
            groups = self.rng.choice([n for n in range(1, 9) if shape[3] % n == channels % n == 0])
        weights = (channels, *sizes, shape[3] // groups)
        operands, _, scale = self._weights(weights, 0, x, math.prod(weights[1:]))
        y = self._tensor((shape[0], *outputs, channels), scale, self._zero_point())
        self._builder.operator("CONV_2D", operands, [y], **options, **self._activation())
        return y

    def transpose_conv(self, x: int) -> int:
        """Add a TRANSPOSE_CONV of any stride up to 3."""
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
        """Add a RESIZE_BILINEAR to any small size."""
        rng, shape = self.rng, self._shapes[x]
        sizes = [rng.choice([size, 2 * size, rng.randint(1, 20)]) for size in shape[1:3]]
        way = rng.choice([{}, {"alignCorners": True}, {"halfPixelCenters": True}])
        y = self._like(x, (shape[0], *sizes, shape[3]))
        self._builder.operator("RESIZE_BILINEAR", [x, self._int32(sizes)], [y], **way)
        return y

    def depthwise(self, x: int, multiplier: int | None = None, kernel: int | None = None) -> int:
        """Add a DEPTHWISE_CONV_2D."""
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
        """Add a FULLY_CONNECTED."""
        shape = self._shapes[x]
        keeps = len(shape) > 2 and self.rng.random() < 0.5
        depth = shape[-1] if keeps else math.prod(shape[1:])
        operands, _, scale = self._weights((outputs, depth), 0, x, depth)
        y_shape = (*shape[:-1], outputs) if keeps else (shape[0], outputs)
        y = self._tensor(y_shape, scale, self._zero_point())
        options = {"keepNumDims": keeps} | self._activation()
        self._builder.operator("FULLY_CONNECTED", operands, [y], **options)
        return y

    def product(self, x: int, y: int, *, is_first_adjoint: bool, is_second_adjoint: bool) -> int:
        """Add a BATCH_MATMUL of two tensors."""
        first, second = self._shapes[x], self._shapes[y]
        rows, depth = first[-2:][:: -1 if is_first_adjoint else 1]
        columns = second[-2 if is_second_adjoint else -1]
        shape = (*np.broadcast_shapes(first[:-2], second[:-2]), rows, columns)
        z = self._tensor(shape, self._product_scale(x, y, depth), self._zero_point())
        self._builder.operator(
            "BATCH_MATMUL", [x, y], [z], adjX=is_first_adjoint, adjY=is_second_adjoint
        )
        return z

    def connected(self, x: int, weights: int, *, has_bias: bool) -> int:
        """Add a FULLY_CONNECTED whose weights are computed."""
        outputs, depth = self._shapes[weights]
        operands = [x, weights]
        if has_bias:
            scale = self._scales[x] * self._scales[weights]
            data = np.array([self.rng.gauss(0, 9000) for _ in range(outputs)]).astype(np.int32)
            operands.append(self._builder.tensor((outputs,), np.int32, scale=scale, data=data))
        y_shape = (math.prod(self._shapes[x]) // depth, outputs)
        y = self._tensor(y_shape, self._product_scale(x, weights, depth), self._zero_point())
        self._builder.operator("FULLY_CONNECTED", operands, [y], **self._activation())
        return y

    def _product_scale(self, x: int, y: int, depth: int) -> float:
        """Give a scale for sums of products, of which not all are extremes."""
        spread = 128 * 74 * math.sqrt(depth) * self.rng.uniform(0.5, 2)
        return self._scales[x] * self._scales[y] * spread / 128

    # ----------------------------------------------------------------------------- the others

    def pool(self, operator: str, x: int) -> int:
        """Add a pool."""
        shape = self._shapes[x]
        sizes, outputs, options = self._window(x, None, False, 1)
        y = self._like(x, (shape[0], *outputs, shape[3]))
        options |= {"filterHeight": sizes[0], "filterWidth": sizes[1]} | self._activation()
        self._builder.operator(operator, [x], [y], **options)
        return y

    def elementwise(self, operator: str, a: int, b: int) -> int:
        """Add an ADD, SUB, MUL or SQUARED_DIFFERENCE."""
        shape = np.broadcast_shapes(self._shapes[a], self._shapes[b])
        if operator == "MUL":
            scale = self._scales[a] * self._scales[b] * self.rng.uniform(20, 200)
        elif operator == "SQUARED_DIFFERENCE":
            scale = max(self._scales[a], self._scales[b]) ** 2 * self.rng.uniform(20, 200)
        else:
            scale = max(self._scales[a], self._scales[b]) * self.rng.uniform(0.4, 2)
        y = self._tensor(shape, scale, self._zero_point())
        options = {} if operator == "SQUARED_DIFFERENCE" else self._activation()
        self._builder.operator(operator, [a, b], [y], **options)
        return y

    def add_to_input(self) -> None:
        """Add an ADD of an input of the model and the last tensor, if that holds bytes."""
        last = self._last
        if last in self._shapes:
            self.elementwise("ADD", self.variable(self._shapes[last]), last)

    def compare(self, operator: str, a: int, shape: Shape) -> int:
        """Add MINIMUM or MAXIMUM of a tensor and another one with its scale."""
        rng = self.rng
        other = self._like(a, shape)
        if rng.random() < 0.5:
            other = self._tensor(shape, self._scales[a], self._zero_points[a], int8s(rng, *shape))
        else:
            self._inputs.append(other)
            self._values.append(self._stored(int8s(rng, *shape)))
        return self.choose(operator, *rng.sample([a, other], 2))

    def choose(self, operator: str, a: int, b: int) -> int:
        """Add MINIMUM or MAXIMUM of two tensors with one scale."""
        shape = np.broadcast_shapes(self._shapes[a], self._shapes[b])
        y = self._like(a, tuple(shape))
        self._builder.operator(operator, [a, b], [y])
        return y

    def prelu(self, x: int, shape: Shape) -> int:
        """Add a PRELU with a constant of this shape."""
        alpha = self.constant(shape)
        largest = max(1, 128 * self._scales[alpha])
        scale = self._scales[x] * largest * self.rng.uniform(0.1, 2)
        y = self._tensor(self._shapes[x], scale, self._zero_point())
        self._builder.operator("PRELU", [x, alpha], [y])
        return y

    def mean(self, x: int, axes: list[int], keep: bool, operator: str = "MEAN") -> int:
        """Add a MEAN, SUM, REDUCE_MAX or REDUCE_MIN."""
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
        if operator in {"REDUCE_MAX", "REDUCE_MIN"}:
            y = self._like(x, y_shape)
        else:
            y = self._tensor(y_shape, scale, self._zero_point())
        self._builder.operator(operator, [x, self._int32(axes)], [y], keepDims=keep)
        return y

    def pad(self, x: int) -> int:
        """Add a PAD."""
        shape = self._shapes[x]
        pads = [[self.rng.randint(0, 3), self.rng.randint(0, 3)] for _ in shape]
        if len(shape) == 4:
            pads[0] = [0, 0]
        y_shape = tuple(size + sum(pad) for size, pad in zip(shape, pads, strict=True))
        y = self._like(x, y_shape)
        self._builder.operator("PAD", [x, self._int32(pads)], [y])
        return y

    def unary(self, operator: str, x: int) -> int:
        """Add one of `UNARIES` or `FUNCTIONS`."""
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
        if operator in {"EXP", "LOG", "RSQRT"}:
            parameters = 10 ** rng.uniform(-3, 0.5), self._zero_point()
        if operator == "RSQRT" and x in self._inputs:
            # What is below 0 ends an inference of the interpreter.
            values = self._values[self._inputs.index(x)]
            np.maximum(values, self._zero_points[x], out=values)
        if operator == "GELU":
            options["approximate"] = rng.random() < 0.5
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
        """Add a DEQUANTIZE."""
        y = self._builder.tensor(self._shapes[x], np.float32)
        self._builder.operator("DEQUANTIZE", [x], [y])
        self._last = y
        return y

    def position(self, operator: str, x: int, axis: int) -> int:
        """Add an ARG_MAX or ARG_MIN that gives int32, or int64 in the interpreter that can."""
        shape = self._shapes[x]
        positive = axis % len(shape)
        is_long = self.rng.random() < 0.3
        if is_long:
            self._interpreter = LITERT
        kind, code = (np.int64, 4) if is_long else (np.int32, 2)
        y = self._builder.tensor((*shape[:positive], *shape[positive + 1 :]), kind)
        axes = self._int32(axis if self.rng.random() < 0.5 else [axis])
        self._builder.operator(operator, [x, axes], [y], outputType=code)
        self._last = y
        return y

    def l2_normalization(self, x: int) -> int:
        """Add an L2_NORMALIZATION."""
        y = self._tensor(self._shapes[x], 1 / 128, 0)
        self._builder.operator("L2_NORMALIZATION", [x], [y])
        return y

    def softmax(self, x: int) -> int:
        """Add a SOFTMAX."""
        y = self._tensor(self._shapes[x], 1 / 256, -128)
        beta = self.rng.choice([1.0, 1.0, 0.25, 0.7, 2.0, 4.0])
        self._builder.operator("SOFTMAX", [x], [y], beta=beta)
        return y

    def log_softmax(self, x: int) -> int:
        """Add a LOG_SOFTMAX."""
        y = self._tensor(self._shapes[x], 1 / 16, 127)
        self._builder.operator("LOG_SOFTMAX", [x], [y])
        return y

    def reshape(self, x: int, shape: Shape) -> int:
        """Add a RESHAPE."""
        y = self._like(x, shape)
        operands = [x, self._int32(shape)] if self.rng.random() < 0.7 else [x]
        self._builder.operator("RESHAPE", operands, [y], newShape=np.asarray(shape, np.int32))
        return y

    def flatten(self, x: int) -> int:
        """Add a RESHAPE to one row."""
        return self.reshape(x, (1, math.prod(self._shapes[x])))
