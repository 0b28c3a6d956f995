"""Every kernel of the reference executor against loops over single values."""

import dataclasses
import itertools
import math
import random
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from support import scalar

from kiwicha import isa, numerics, packing
from kiwicha.errors import ProgramError
from kiwicha.isa_program import (
    KERNEL_PARAMS,
    MAX_RANK,
    Conv,
    DType,
    Elementwise,
    Kernel,
    Lookup,
    Mean,
    Pool,
    Softmax,
)
from kiwicha.layout import Ref
from kiwicha.program import IoTensor, Layer, Program, Step
from kiwicha.sim import reference, reference_kernels

INT8 = (-128, 127)


class OneStep:
    """Builds a Program of one step: constants, inputs, an output."""

    def __init__(self) -> None:
        self.constants = b""
        self.arena_bytes = 0
        self.inputs: list[tuple[IoTensor, NDArray[np.int8]]] = []

    def constant(self, values: Any, dtype: Any = np.int32) -> Ref:
        """Add a constant."""
        raw = np.ascontiguousarray(values, dtype).tobytes()
        ref = Ref(len(self.constants), len(raw), is_constant=True)
        self.constants += raw + bytes(-len(raw) % 16)
        return ref

    def arena(self, size: int) -> Ref:
        """Reserve bytes of the arena."""
        ref = Ref(self.arena_bytes, size)
        self.arena_bytes += size + -size % 16
        return ref

    def input(self, values: NDArray[np.int8]) -> Ref:
        """Add an input of the model with its value."""
        ref = self.arena(values.size)
        tensor = IoTensor(f"in{len(self.inputs)}", ref, DType.INT8, values.shape, 0.0, 0)
        self.inputs.append((tensor, values))
        return ref

    def run(self, kernel: Kernel, params: Any, shape: tuple[int, ...]) -> NDArray[np.int8]:
        """Run one kernel and return what it wrote."""
        program = Program(
            config_hash=isa.CONFIGS["simd"].hash,
            arena_bytes=self.arena_bytes,
            inputs=tuple(tensor for tensor, _ in self.inputs),
            outputs=(IoTensor("out", params.output, DType.INT8, shape, 0.0, 0),),
            layers=(Layer(0, kernel.name, shape, 0, kernel.where),),
            steps=(Step(kernel, 0, params),),
            constants=self.constants,
        )
        (output,) = reference.run(program, [values for _, values in self.inputs])
        return output


def int8s(rng: random.Random, *shape: int) -> NDArray[np.int8]:
    """Give random bytes, a fifth of them extremes."""
    values = [
        rng.choice([-128, 127]) if rng.random() < 0.2 else rng.randint(-128, 127)
        for _ in range(math.prod(shape))
    ]
    return np.array(values, np.int8).reshape(shape)


def scales(rng: random.Random, count: int, largest_sum: int) -> tuple[list[int], list[int]]:
    """Give multipliers and shifts that spread sums over and beyond int8."""
    multipliers = [rng.randint(2**30, 2**31 - 1) for _ in range(count)]
    shifts = [7 - largest_sum.bit_length() + rng.randint(-1, 2) for _ in range(count)]
    return multipliers, shifts


def activation(rng: random.Random) -> tuple[int, int]:
    return rng.choice([INT8, (-10, 90), (-128, 0), (5, 5)])


def make_conv(rng: random.Random, *, is_depthwise: bool, is_simple: bool, lanes: int = 1) -> Any:
    """Give random parameters without references."""
    multiplier = 1 if is_simple or not is_depthwise else rng.randint(1, 3)
    channels = rng.randint(1, 9) * lanes
    kernel = [1, 1] if is_simple and not is_depthwise else [rng.randint(1, 4), rng.randint(1, 4)]
    padded = kernel != [1, 1]
    stride = [1, 1] if is_simple and not is_depthwise else [rng.randint(1, 3), rng.randint(1, 3)]
    return Conv(
        *[Ref()] * 7,
        batches=rng.randint(1, 2),
        input_height=rng.randint(1, 7),
        input_width=rng.randint(1, 7),
        input_channels=channels,
        output_height=0,
        output_width=0,
        output_channels=channels * multiplier if is_depthwise else rng.randint(1, 9),
        kernel_height=kernel[0],
        kernel_width=kernel[1],
        stride_height=stride[0],
        stride_width=stride[1],
        dilation_height=rng.randint(1, 2) if padded else 1,
        dilation_width=rng.randint(1, 2) if padded else 1,
        pad_top=rng.randint(0, 2) if padded else 0,
        pad_left=rng.randint(0, 2) if padded else 0,
        depth_multiplier=multiplier,
        tile_pixels=4,
        input_offset=rng.choice([-127, 128, rng.randint(-127, 128)]),
        weight_offset=rng.choice([0, 0, -127, 127, rng.randint(-127, 127)]),
        output_offset=rng.choice([-128, 127, rng.randint(-128, 127)]),
        activation_min=0,
        activation_max=0,
    )


def with_output_size(p: Any, rng: random.Random) -> Any:
    """Add an output size: as many pixels as start inside the input, or one row or column less."""
    if (p.kernel_height, p.kernel_width, p.stride_height, p.stride_width) == (1, 1, 1, 1):
        return dataclasses.replace(p, output_height=p.input_height, output_width=p.input_width)
    sizes = []
    for size, pad, stride in (
        (p.input_height, p.pad_top, p.stride_height),
        (p.input_width, p.pad_left, p.stride_width),
    ):
        most = (size + pad - 1) // stride + 1
        sizes.append(max(most - rng.randint(0, 1), 1))
    return dataclasses.replace(p, output_height=sizes[0], output_width=sizes[1])


def conv_sum(p: Any, x: Any, weights: Any, n: int, oy: int, ox: int, oc: int) -> int:
    """Sum the taps inside the input; weights are [OC, KH, KW, IC], or [KH, KW, OC] of depthwise."""
    total = 0
    for ky, kx in itertools.product(range(p.kernel_height), range(p.kernel_width)):
        iy = oy * p.stride_height - p.pad_top + ky * p.dilation_height
        ix = ox * p.stride_width - p.pad_left + kx * p.dilation_width
        if not (0 <= iy < p.input_height and 0 <= ix < p.input_width):
            continue
        if weights.ndim == 3:
            value = int(x[n, iy, ix, oc // p.depth_multiplier])
            total += (value + p.input_offset) * int(weights[ky, kx, oc])
            continue
        for ic in range(p.input_channels):
            value = int(x[n, iy, ix, ic])
            total += (value + p.input_offset) * int(weights[oc, ky, kx, ic])
    return total


CONVOLUTIONS = [
    Kernel.CONV,
    Kernel.SIMD_CONV,
    Kernel.SIMD_CONV_1X1,
    Kernel.FULLY_CONNECTED,
    Kernel.SIMD_FULLY_CONNECTED,
    Kernel.DEPTHWISE_CONV,
    Kernel.SIMD_DEPTHWISE_CONV,
]


@pytest.mark.parametrize("kernel", CONVOLUTIONS, ids=lambda kernel: kernel.name)
@pytest.mark.parametrize("seed", range(12))
def test_convolutions(kernel: Kernel, seed: int) -> None:
    rng = random.Random(f"{kernel}{seed}")
    name = kernel.name
    is_depthwise, is_simd = "DEPTHWISE" in name, name.startswith("SIMD")
    is_simple = (is_depthwise and is_simd) or "1X1" in name or "FULLY" in name
    lanes = 4 if is_simd and is_simple else 1
    p = make_conv(rng, is_depthwise=is_depthwise, is_simple=is_simple, lanes=lanes)
    p = with_output_size(p, rng)
    if "FULLY" in name:
        p = dataclasses.replace(p, input_height=1, input_width=1, output_height=1, output_width=1)
    x = int8s(rng, p.batches, p.input_height, p.input_width, p.input_channels)
    if is_depthwise:
        weights = int8s(rng, p.kernel_height, p.kernel_width, p.output_channels)
        packed = packing.pack_depthwise(weights[None]) if is_simd else weights
    else:
        window = (p.kernel_height, p.kernel_width, p.input_channels)
        weights = int8s(rng, p.output_channels, *window)
        packed = packing.pack_conv(weights) if is_simd else weights
    taps = math.prod(weights.shape) if is_depthwise else weights[0].size
    largest = 255 * 128 * taps
    multiplier, shift = scales(rng, p.output_channels, largest)
    bias = [rng.choice([0, 2**31 - 1, rng.randint(-largest, largest)]) for _ in multiplier]
    low, high = activation(rng)
    build = OneStep()
    padding = [0] * (-len(bias) % 4) if is_simd else []
    p = dataclasses.replace(
        p,
        activation_min=low,
        activation_max=high,
        input=build.input(x),
        weights=build.constant(packed, np.int8),
        bias=build.constant(bias + padding),
        multiplier=build.constant(multiplier + padding),
        shift=build.constant(shift + padding),
        output=build.arena(p.batches * p.output_height * p.output_width * p.output_channels),
        scratch=build.arena(64) if is_simd else Ref(),
    )
    shape = (p.batches, p.output_height, p.output_width, p.output_channels)
    actual = build.run(kernel, p, shape)
    expected = np.empty(shape, np.int64)
    for n, oy, ox, oc in np.ndindex(*shape):
        total = conv_sum(p, x, weights.astype(int) + p.weight_offset, n, oy, ox, oc) + bias[oc]
        expected[n, oy, ox, oc] = scalar.requantize(
            total, multiplier[oc], shift[oc], p.output_offset, low, high
        )
    np.testing.assert_array_equal(actual, expected)


def test_sums_of_many_products_are_exact() -> None:
    """258 extreme products fit 24 bits, 259 do not: both sides of the choice of precision.

    259 products of 255 and 255 are an odd sum above 2**24, which single precision cannot hold.
    """
    for depth in (258, 259, 601, 70001):
        for x, weight in ((-128, -128), (-128, 127), (127, -128)):
            offset, weight_offset = (-127 if value < 0 else 128 for value in (x, weight))
            product = (x + offset) * (weight + weight_offset)
            build = OneStep()
            # Accumulators wrap at 32 bits; the scale keeps their low bits visible.
            total = scalar.wrap(depth * product - 1)
            p = dataclasses.replace(
                make_conv(random.Random(0), is_depthwise=False, is_simple=True),
                batches=1,
                input_height=1,
                input_width=1,
                output_height=1,
                output_width=1,
                input_channels=depth,
                output_channels=1,
                input_offset=offset,
                weight_offset=weight_offset,
                output_offset=0,
                activation_min=-128,
                activation_max=127,
                input=build.input(np.full((1, depth), x, np.int8)),
                weights=build.constant(np.full(depth, weight), np.int8),
                bias=build.constant([-1 - total + 77]),
                multiplier=build.constant([2**30]),
                shift=build.constant([1]),
                output=build.arena(1),
            )
            actual = build.run(Kernel.FULLY_CONNECTED, p, (1, 1))
            assert actual == scalar.wrap(depth * product - 1 - total + 77)


def test_no_bias_is_a_bias_of_zero() -> None:
    build = OneStep()
    p = Conv(
        build.input(np.array([[3]], np.int8)),
        build.constant([5], np.int8),
        Ref(),
        build.constant([2**30]),
        build.constant([1]),
        build.arena(1),
        Ref(),
        *[1] * 11,
        *[1, 1, 0, 0, 1, 4],
        input_offset=0,
        weight_offset=0,
        output_offset=0,
        activation_min=-128,
        activation_max=127,
    )
    assert build.run(Kernel.CONV, p, (1,)) == 15


@pytest.mark.parametrize(
    "kernel",
    [
        Kernel.AVERAGE_POOL,
        Kernel.MAX_POOL,
        Kernel.SIMD_MAX_POOL,
    ],
    ids=lambda kernel: kernel.name,
)
@pytest.mark.parametrize("seed", range(15))
def test_pools(kernel: Kernel, seed: int) -> None:
    rng = random.Random(f"{kernel}{seed}")
    low, high = activation(rng)
    kernel_size = (rng.randint(1, 4), rng.randint(1, 4))
    build = OneStep()
    p: Any = Pool(
        Ref(),
        Ref(),
        batches=rng.randint(1, 2),
        input_height=rng.randint(2, 6),
        input_width=rng.randint(2, 6),
        channels=4 * rng.randint(1, 2),
        output_height=0,
        output_width=0,
        kernel_height=kernel_size[0],
        kernel_width=kernel_size[1],
        stride_height=rng.randint(1, 3),
        stride_width=rng.randint(1, 3),
        pad_top=rng.randint(0, kernel_size[0] - 1),
        pad_left=rng.randint(0, kernel_size[1] - 1),
        offset=rng.choice([0, 128]) if kernel is Kernel.AVERAGE_POOL else 0,
        activation_min=low,
        activation_max=high,
    )
    p = with_output_size(p, rng)
    shape = (p.batches, p.output_height, p.output_width, p.channels)
    x = int8s(rng, p.batches, p.input_height, p.input_width, p.channels)
    p = dataclasses.replace(p, input=build.input(x), output=build.arena(math.prod(shape)))
    expected = np.empty(shape, np.int64)
    for n, oy, ox, c in np.ndindex(*shape):
        top, left = oy * p.stride_height - p.pad_top, ox * p.stride_width - p.pad_left
        window = [
            int(x[n, iy, ix, c])
            for iy in range(max(top, 0), min(top + p.kernel_height, p.input_height))
            for ix in range(max(left, 0), min(left + p.kernel_width, p.input_width))
        ]
        value = max(window)
        if kernel is Kernel.AVERAGE_POOL:
            total = sum(window) + len(window) * p.offset
            half = len(window) // 2 if total > 0 else -(len(window) // 2)
            value = scalar.truncated_quotient(total + half, len(window)) - p.offset
        expected[n, oy, ox, c] = scalar.clamp(value, low, high)
    np.testing.assert_array_equal(build.run(kernel, p, shape), expected)


def row_major(shape: tuple[int, ...]) -> tuple[int, ...]:
    return tuple(math.prod(shape[k + 1 :]) for k in range(len(shape)))


@pytest.mark.parametrize(
    "kernel",
    [kernel for kernel in Kernel if KERNEL_PARAMS[kernel] is Elementwise],
    ids=lambda kernel: kernel.name,
)
@pytest.mark.parametrize("seed", range(15))
def test_elementwise(kernel: Kernel, seed: int) -> None:
    rng = random.Random(f"{kernel}{seed}")
    shape = tuple(rng.randint(1, 3) for _ in range(MAX_RANK))
    can_broadcast = kernel is not Kernel.SIMD_ADD
    build = OneStep()
    operands, strides = [], []
    for _ in range(2):
        kept = tuple(1 if can_broadcast and rng.random() < 0.3 else size for size in shape)
        operands.append(int8s(rng, *kept))
        strides.append(
            tuple(s if size > 1 else 0 for s, size in zip(row_major(kept), kept, strict=True))
        )
    is_mul = kernel in {Kernel.MUL, Kernel.PRELU}
    is_comparison = kernel in {Kernel.MINIMUM, Kernel.MAXIMUM}
    left_shift = 0 if is_mul or is_comparison else 20
    low, high = activation(rng)
    p = Elementwise(
        input_1=build.input(operands[0]),
        input_2=build.input(operands[1]),
        output=build.arena(math.prod(shape)),
        shape=shape,
        strides_1=strides[0],
        strides_2=strides[1],
        offset_1=0 if is_comparison else rng.randint(-127, 128),
        offset_2=0 if is_comparison else rng.randint(-127, 128),
        output_offset=0 if is_comparison else rng.randint(-128, 127),
        left_shift=left_shift,
        multiplier_1=rng.randint(2**30, 2**31 - 1),
        shift_1=-rng.randint(0, 3),
        multiplier_2=rng.randint(2**30, 2**31 - 1),
        shift_2=-rng.randint(0, 3),
        output_multiplier=rng.randint(2**30, 2**31 - 1),
        output_shift=-rng.randint(6, 9) if is_mul else -rng.randint(18, 21),
        activation_min=low,
        activation_max=high,
    )
    expected = np.empty(shape, np.int64)
    for index in np.ndindex(*shape):
        a, b = (
            int(x[tuple(min(k, size - 1) for k, size in zip(index, x.shape, strict=True))]) + o
            for x, o in zip(operands, (p.offset_1, p.offset_2), strict=True)
        )
        if is_comparison:
            best = min(a, b) if kernel is Kernel.MINIMUM else max(a, b)
            expected[index] = scalar.clamp(best, low, high)
            continue
        if kernel is Kernel.PRELU and a >= 0:
            expected[index] = scalar.requantize(
                a, p.multiplier_1, p.shift_1, p.output_offset, low, high
            )
            continue
        if is_mul:
            value = a * b
        else:
            a = scalar.multiply(a << 20, p.multiplier_1, p.shift_1)
            b = scalar.multiply(b << 20, p.multiplier_2, p.shift_2)
            value = a - b if kernel is Kernel.SUB else a + b
        expected[index] = scalar.requantize(
            value, p.output_multiplier, p.output_shift, p.output_offset, low, high
        )
    np.testing.assert_array_equal(build.run(kernel, p, shape), expected)


@pytest.mark.parametrize("seed", range(12))
def test_reductions(seed: int) -> None:
    rng = random.Random(seed)
    shape = (1, 1, *(rng.randint(1, 4) for _ in range(4)))
    reduced = tuple(rng.randint(0, 1) for _ in shape)
    kept = tuple(1 if r else size for r, size in zip(reduced, shape, strict=True))
    x = int8s(rng, *shape)
    build = OneStep()
    p = Mean(
        input=build.input(x),
        output=build.arena(math.prod(kept)),
        shape=shape,
        is_reduced=(*reduced, 0, 0),
        input_offset=rng.randint(-127, 128),
        output_offset=rng.randint(-128, 127),
        multiplier=rng.randint(2**30, 2**31 - 1),
        shift=-rng.randint(0, 6),
    )
    sums = np.zeros(kept, np.int64)
    for index in np.ndindex(*shape):
        at = tuple(0 if r else k for r, k in zip(reduced, index, strict=True))
        sums[at] += int(x[index]) + p.input_offset
    expected = [
        scalar.requantize(int(total), p.multiplier, p.shift, p.output_offset, *INT8)
        for total in sums.reshape(-1)
    ]
    assert build.run(Kernel.MEAN, p, (len(expected),)).tolist() == expected
    maxima = np.full(kept, -128, np.int64)
    for index in np.ndindex(*shape):
        at = tuple(0 if r else k for r, k in zip(reduced, index, strict=True))
        maxima[at] = max(maxima[at], x[index])
    found = build.run(Kernel.REDUCE_MAX, p, (len(expected),))
    np.testing.assert_array_equal(found, maxima.reshape(-1))


def test_softmax_of_512_equal_logits_is_the_minimum() -> None:
    for depth, expected in ((511, -127), (512, -128), (4095, -128)):
        build = OneStep()
        p = Softmax(
            build.input(np.zeros((1, depth), np.int8)),
            build.arena(depth),
            build.constant(numerics.softmax_exponentials(0.1, 1.0)),
            rows=1,
            depth=depth,
            output_offset=-128,
        )
        assert set(build.run(Kernel.SOFTMAX, p, (depth,)).tolist()) == {expected}


@pytest.mark.parametrize("seed", range(6))
def test_softmax(seed: int) -> None:
    """Tables of arbitrary numbers, so that every bit of a sum comes to light."""
    rng = random.Random(seed)
    rows, depth = 4, rng.choice([1, 2, 10, 100, 300])
    falling = sorted((rng.getrandbits(rng.randint(1, 31)) for _ in range(255)), reverse=True)
    table = [2**31 - 1, *falling]
    x = int8s(rng, rows, depth)
    build = OneStep()
    p = Softmax(
        build.input(x),
        build.arena(x.size),
        build.constant(table),
        rows=rows,
        depth=depth,
        output_offset=-128,
    )
    expected = [scalar.softmax(row, table) for row in x.tolist()]
    assert build.run(Kernel.SOFTMAX, p, x.shape).tolist() == expected
    unsigned = build.run(Kernel.SOFTMAX, dataclasses.replace(p, output_offset=0), x.shape)
    assert (unsigned.view(np.uint8) - 128.0).tolist() == expected


@pytest.mark.parametrize("seed", range(4))
def test_softmax_is_near_the_real_function(seed: int) -> None:
    rng = random.Random(seed)
    rows, depth = rng.randint(1, 4), rng.randint(1, 40)
    scale = rng.choice([0.01, 0.1, 1.0])
    x = int8s(rng, rows, depth)
    build = OneStep()
    p = Softmax(
        build.input(x),
        build.arena(x.size),
        build.constant(numerics.softmax_exponentials(scale, 1.0)),
        rows=rows,
        depth=depth,
        output_offset=-128,
    )
    powers = np.exp(scale * (x - x.max(axis=1, keepdims=True).astype(np.float64)))
    expected = np.minimum(256 * powers / powers.sum(axis=1, keepdims=True), 255) - 128
    error = np.abs(build.run(Kernel.SOFTMAX, p, x.shape) - expected)
    # Rounded to nearest, from terms of 19 fraction bits.
    assert error.max() < 0.51


@pytest.mark.parametrize("is_in_place", [False, True])
def test_lookup(is_in_place: bool) -> None:
    rng = random.Random(0)
    x, table = int8s(rng, 5, 70), int8s(rng, 256).tolist()
    build = OneStep()
    source = build.input(x)
    target = source if is_in_place else build.arena(x.size)
    p = Lookup(source, target, build.constant(table, np.int8))
    expected = [table[value & 0xFF] for value in x.reshape(-1).tolist()]
    assert build.run(Kernel.LOOKUP, p, (x.size,)).tolist() == expected


def test_lookup_of_another_size_is_refused() -> None:
    build = OneStep()
    x = int8s(random.Random(0), 8)
    p = Lookup(build.input(x), build.arena(7), build.constant(range(256), np.uint8))
    with pytest.raises(ProgramError, match="output must have an entry of the table"):
        build.run(Kernel.LOOKUP, p, (7,))


def test_every_kernel_is_there() -> None:
    assert set(reference_kernels.KERNELS) == set(Kernel) - {
        Kernel.COPY,
        Kernel.CUSTOM,
        Kernel.ENGINE,
    }
