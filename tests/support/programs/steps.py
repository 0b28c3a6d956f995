"""Programs made by hand, of single kernels, with the outputs that numpy gives for them."""

import dataclasses
import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, DTypeLike, NDArray

from kiwicha.contract import cfu
from kiwicha.contract.configs import find_config
from kiwicha.contract.layout import Ref, Struct
from kiwicha.contract.program import MAX_RANK, DType, Kernel, Where
from kiwicha.kernels import weight_order as packing
from kiwicha.kernels.conv import Conv
from kiwicha.kernels.copy import Copy
from kiwicha.kernels.elementwise import Elementwise
from kiwicha.kernels.pool import Pool
from kiwicha.numerics import requantization as numerics
from kiwicha.program.image import Program
from kiwicha.program.parts import IoTensor, Layer, Step

__all__ = [
    "ConvCase",
    "ProgramBuilder",
    "elementwise_output",
    "int8s",
    "padded_shape",
    "pool_output",
    "random_scale",
    "random_scales",
    "whole_copy",
]

Array = NDArray[Any]
Ints = NDArray[np.int64]


def int8s(rng: np.random.Generator, shape: Sequence[int]) -> NDArray[np.int8]:
    """Give random bytes, a quarter of them -128 or 127."""
    values = rng.integers(-128, 128, shape)
    extremes = rng.choice([-128, 127], shape)
    return np.where(rng.random(shape) < 0.25, extremes, values).astype(np.int8)


def random_scale(rng: np.random.Generator, largest: int) -> tuple[int, int]:
    """Give a multiplier and a shift that bring sums up to ``largest`` near the int8 range."""
    multiplier, shift = numerics.quantize_multiplier(float(rng.uniform(50, 400)) / largest)
    return multiplier, max(shift, -31)


def random_scales(rng: np.random.Generator, count: int, largest: int) -> tuple[Ints, Ints]:
    """Give ``count`` scales, the extremes of both ranges among them."""
    pairs = [random_scale(rng, largest) for _ in range(count)]
    for extreme in ((2**31 - 1, 30), (2**31 - 1, -31), (0, 0)):
        if rng.random() < 0.1:
            pairs[int(rng.integers(count))] = extreme
    multipliers, shifts = np.array(pairs, np.int64).T
    return multipliers, shifts


def whole_copy(source: Ref, target: Ref) -> Copy:
    """Give the copy of all bytes of one reference to another."""
    ones, zeros = (1,) * MAX_RANK, (0,) * MAX_RANK
    return Copy(source, target, ones, zeros, zeros, 0, source.bytes)


def padded_shape(shape: Sequence[int], value: int = 1) -> tuple[int, ...]:
    """Add leading dimensions up to `MAX_RANK`."""
    return (value,) * (MAX_RANK - len(shape)) + tuple(shape)


class ProgramBuilder:
    """Collects constants, tensors and steps."""

    def __init__(self, config: str = "simd") -> None:
        self.config = find_config(config)
        self.constants = b""
        self.arena_bytes = 0
        self.inputs: list[IoTensor] = []
        self.input_bytes: list[bytes] = []
        self.outputs: list[IoTensor] = []
        self.steps: list[Step] = []

    def constant(self, values: ArrayLike, dtype: DTypeLike = np.int32) -> Ref:
        """Store a constant."""
        raw = np.ascontiguousarray(values, dtype).tobytes()
        ref = Ref(len(self.constants), len(raw), is_constant=True)
        self.constants += raw + bytes(-len(raw) % cfu.ALIGNMENT_BYTES)
        return ref

    def arena(self, size: int) -> Ref:
        """Reserve bytes of the arena; the last reservation ends exactly with it."""
        start = self.arena_bytes + -self.arena_bytes % cfu.ALIGNMENT_BYTES
        self.arena_bytes = start + size
        return Ref(start, size)

    def input(self, values: NDArray[np.int8]) -> Ref:
        """Add an input of the model."""
        ref = self.arena(values.size)
        name = f"input {len(self.inputs)}"
        self.inputs.append(IoTensor(name, ref, DType.INT8, values.shape, 0.5, 3))
        self.input_bytes.append(values.tobytes())
        return ref

    def output(self, shape: Sequence[int]) -> Ref:
        """Add an output of the model."""
        ref = self.arena(int(np.prod(shape)))
        name = f"output {len(self.outputs)}"
        self.outputs.append(IoTensor(name, ref, DType.INT8, tuple(shape), 0.5, -3))
        return ref

    def step(self, kernel: Kernel, params: Struct) -> None:
        """Add a step."""
        self.steps.append(Step(kernel, 0, params))

    def program(self) -> Program:
        """Give the Program."""
        layer = Layer(0, "TEST", (1,), 0, Where.CPU)
        return Program(
            config_hash=self.config.hash,
            arena_bytes=self.arena_bytes,
            inputs=tuple(self.inputs),
            outputs=tuple(self.outputs),
            layers=(layer,),
            steps=tuple(self.steps),
            constants=self.constants,
        )


@dataclass(frozen=True)
class ConvCase:
    """A convolution or fully connected layer with its data.

    Parameters
    ----------
    params : Conv
        Sizes and limits; references are empty.
    is_depthwise : bool
        Weights are int8 [1, H, W, C], not [O, H, W, I].
    """

    params: Conv
    is_depthwise: bool
    input: NDArray[np.int8]
    weights: NDArray[np.int8]
    bias: Ints
    multiplier: Ints
    shift: Ints

    @property
    def output_shape(self) -> tuple[int, ...]:
        """NHWC."""
        p = self.params
        return p.batches, p.output_height, p.output_width, p.output_channels

    def expected(self) -> NDArray[np.int8]:
        """Sum the taps of the zero-padded input."""
        p = self.params
        taps_y = np.arange(p.kernel_height) * p.dilation_height
        taps_x = np.arange(p.kernel_width) * p.dilation_width
        ys = np.arange(p.output_height) * p.stride_height
        xs = np.arange(p.output_width) * p.stride_width
        beyond_y = max(int(ys[-1] + taps_y[-1]) + 1 - p.pad_top - p.input_height, 0)
        beyond_x = max(int(xs[-1] + taps_x[-1]) + 1 - p.pad_left - p.input_width, 0)
        margins = ((0, 0), (p.pad_top, beyond_y), (p.pad_left, beyond_x), (0, 0))
        image = np.pad(self.input.astype(np.int64) + p.input_offset, margins)
        weights = self.weights.astype(np.int64) + p.weight_offset
        sums = np.zeros(self.output_shape, np.int64)
        for ky, kx in itertools.product(range(p.kernel_height), range(p.kernel_width)):
            seen = image[:, ys + taps_y[ky]][:, :, xs + taps_x[kx]]
            if self.is_depthwise:
                sums += np.repeat(seen, p.depth_multiplier, axis=3) * weights[0, ky, kx]
            else:
                sums += seen @ weights[:, ky, kx].T
        sums = numerics.wrap_int32(sums + self.bias)
        limits = p.output_offset, p.activation_min, p.activation_max
        return numerics.requantize(sums, self.multiplier, self.shift, *limits).astype(np.int8)

    def add_to(self, builder: ProgramBuilder, kernel: Kernel, source: Ref) -> None:
        """Add a step with this kernel, and its output."""
        p = self.params
        is_simd = kernel >= Kernel.SIMD_CONV_1X1
        padding = -p.output_channels % cfu.LANES if is_simd else 0
        tables = {
            name: builder.constant(np.pad(getattr(self, name), (0, padding)))
            for name in ("bias", "multiplier", "shift")
        }
        weights: Array = self.weights
        scratch = Ref()
        if kernel is Kernel.SIMD_DEPTHWISE_CONV:
            weights = packing.pack_depthwise(weights)
        elif is_simd:
            weights = packing.pack_conv(weights)
        if kernel is Kernel.SIMD_CONV:
            window = p.kernel_height * p.kernel_width * p.input_channels
            scratch = builder.arena(p.tile_pixels * -(-window // 4) * 4)
        filled = dataclasses.replace(
            p,
            input=source,
            weights=builder.constant(weights, np.int8),
            scratch=scratch,
            output=builder.output(self.output_shape),
            **tables,
        )
        builder.step(kernel, filled)


def pool_output(p: Pool, image: NDArray[np.int8], *, is_average: bool) -> NDArray[np.int8]:
    """Reduce every window's elements inside the input."""
    result = np.empty((p.batches, p.output_height, p.output_width, p.channels), np.int64)
    for oy, ox in itertools.product(range(p.output_height), range(p.output_width)):
        y, x = oy * p.stride_height - p.pad_top, ox * p.stride_width - p.pad_left
        rows = slice(max(y, 0), y + p.kernel_height)
        columns = slice(max(x, 0), x + p.kernel_width)
        window = image[:, rows, columns].astype(np.int64)
        if is_average:
            total, count = window.sum((1, 2)), window.shape[1] * window.shape[2]
            result[:, oy, ox] = np.sign(total) * ((abs(total) + count // 2) // count)
        else:
            result[:, oy, ox] = window.max((1, 2))
    return np.clip(result, p.activation_min, p.activation_max).astype(np.int8)


def elementwise_output(
    p: Elementwise, kernel: Kernel, a: NDArray[np.int8], b: NDArray[np.int8]
) -> NDArray[np.int8]:
    """Combine two tensors that numpy can broadcast."""
    rescale = numerics.multiply_by_quantized_multiplier
    x, y = a.astype(np.int64) + p.offset_1, b.astype(np.int64) + p.offset_2
    limits = p.output_offset, p.activation_min, p.activation_max
    if kernel in {Kernel.MINIMUM, Kernel.MAXIMUM}:
        best = np.minimum(a, b) if kernel is Kernel.MINIMUM else np.maximum(a, b)
        return np.clip(best, p.activation_min, p.activation_max).astype(np.int8)
    if kernel in {Kernel.MUL, Kernel.PRELU}:
        total: Ints = x * y
    else:
        x = rescale(x << p.left_shift, p.multiplier_1, p.shift_1)
        y = rescale(y << p.left_shift, p.multiplier_2, p.shift_2)
        total = numerics.wrap_int32(x - y if kernel is Kernel.SUB else x + y)
    results = numerics.requantize(total, p.output_multiplier, p.output_shift, *limits)
    if kernel is Kernel.PRELU:
        kept = numerics.requantize(x, p.multiplier_1, p.shift_1, *limits)
        results = np.where(x >= 0, kept, results)
    return results.astype(np.int8)
