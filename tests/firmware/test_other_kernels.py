"""Pooling, element-wise, reducing and softmax kernels against numpy."""

import dataclasses
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from kiwicha.contract.layout import Ref
from kiwicha.contract.program import Kernel
from kiwicha.kernels.arg_max import ArgMax
from kiwicha.kernels.elementwise import Elementwise
from kiwicha.kernels.l2_normalization import L2Normalization
from kiwicha.kernels.lookup import Lookup, Quantize
from kiwicha.kernels.mean import Mean
from kiwicha.kernels.pool import Pool
from kiwicha.kernels.softmax import Softmax
from kiwicha.numerics import float_edges as floats
from kiwicha.numerics import requantization as numerics
from tests.support.programs.steps import (
    ProgramBuilder,
    elementwise_output,
    int8s,
    padded_shape,
    pool_output,
    random_scale,
    whole_copy,
)


def random_limits(rng: np.random.Generator) -> tuple[int, int]:
    """Give a clamp, often the whole range."""
    low, high = sorted(int(x) for x in rng.integers(-128, 128, 2))
    return (low, high) if rng.random() < 0.5 else (-128, 127)


def make_pool(rng: np.random.Generator, channels: int) -> Pool:
    """Give random sizes whose windows all touch the input."""
    sizes: dict[str, int] = {}
    for size, pad in (("height", "top"), ("width", "left")):
        extent, kernel, stride = (int(rng.integers(1, most)) for most in (9, 5, 4))
        before = int(rng.integers(0, kernel))
        sizes[f"input_{size}"] = extent
        sizes[f"kernel_{size}"] = kernel
        sizes[f"stride_{size}"] = stride
        sizes[f"pad_{pad}"] = before
        sizes[f"output_{size}"] = (extent + before - 1) // stride + 1
    low, high = random_limits(rng)
    return Pool(
        Ref(),
        Ref(),
        batches=int(rng.integers(1, 3)),
        channels=channels,
        offset=0,
        activation_min=low,
        activation_max=high,
        **sizes,
    )


def run_pool(run_steps: Any, p: Pool, image: NDArray[np.int8], *kernels: Kernel) -> None:
    builder = ProgramBuilder()
    source = builder.input(image)
    expected = []
    for kernel in kernels:
        is_average = kernel is Kernel.AVERAGE_POOL
        expected.append(pool_output(p, image, is_average=is_average))
        target = builder.output(expected[-1].shape)
        builder.step(kernel, dataclasses.replace(p, input=source, output=target))
    for kernel, actual, wanted in zip(kernels, run_steps(builder), expected, strict=True):
        np.testing.assert_array_equal(actual, wanted, err_msg=f"{kernel.name} {p}")


@pytest.mark.parametrize("seed", range(15))
def test_pools(run_steps: Any, seed: int) -> None:
    rng = np.random.default_rng(seed)
    kernels = [Kernel.AVERAGE_POOL, Kernel.MAX_POOL]
    channels = int(rng.integers(1, 13))
    if channels % 4 == 0:
        kernels.append(Kernel.SIMD_MAX_POOL)
    p = make_pool(rng, channels)
    image = int8s(rng, (p.batches, p.input_height, p.input_width, p.channels))
    run_pool(run_steps, p, image, *kernels)


@pytest.mark.parametrize("seed", range(10))
def test_simd_max_pool(run_steps: Any, seed: int) -> None:
    rng = np.random.default_rng(seed)
    p = make_pool(rng, int(rng.choice([4, 8, 20])))
    image = int8s(rng, (p.batches, p.input_height, p.input_width, p.channels))
    run_pool(run_steps, p, image, Kernel.MAX_POOL, Kernel.SIMD_MAX_POOL)


def test_average_rounds_half_away_from_zero(run_steps: Any) -> None:
    p = Pool(Ref(), Ref(), 1, 1, 2, 4, 1, 1, 1, 2, 1, 1, 0, 0, 0, -128, 127)
    image = np.array([1, -1, -128, 5, 2, -2, -127, 5], np.int8).reshape(1, 1, 2, 4)
    # Means 1.5, -1.5, -127.5 and 5.
    np.testing.assert_array_equal(pool_output(p, image, is_average=True).ravel(), [2, -2, -128, 5])
    run_pool(run_steps, p, image, Kernel.AVERAGE_POOL)


def strides(shape: tuple[int, ...], tensor: tuple[int, ...]) -> tuple[int, ...]:
    """Give row-major strides of ``tensor`` in elements, 0 where it is broadcast to ``shape``."""
    result, stride = [], 1
    for size, own in zip(reversed(shape), reversed(tensor), strict=True):
        result.append(0 if own == 1 and size != 1 else stride)
        stride *= own
    return tuple(reversed(result))


def make_elementwise(
    rng: np.random.Generator, shape: tuple[int, ...], a: tuple[int, ...], b: tuple[int, ...]
) -> Elementwise:
    """Give random scales, as TFLite's for ADD and SUB; they suit MUL as well."""
    low, high = random_limits(rng)
    multiplier_1, shift_1 = numerics.quantize_multiplier(float(rng.uniform(0.01, 1)))
    multiplier_2, shift_2 = numerics.quantize_multiplier(float(rng.uniform(0.01, 1)))
    output_multiplier, output_shift = random_scale(rng, 255 << 19)
    return Elementwise(
        Ref(),
        Ref(),
        Ref(),
        shape=shape,
        strides_1=strides(shape, a),
        strides_2=strides(shape, b),
        offset_1=int(rng.integers(-127, 129)),
        offset_2=int(rng.integers(-127, 129)),
        output_offset=int(rng.integers(-128, 128)),
        left_shift=20,
        multiplier_1=multiplier_1,
        shift_1=shift_1,
        multiplier_2=multiplier_2,
        shift_2=shift_2,
        output_multiplier=output_multiplier,
        output_shift=output_shift,
        activation_min=low,
        activation_max=high,
    )


def run_elementwise(run_steps: Any, rng: np.random.Generator, *kernels: Kernel) -> None:
    rank = int(rng.integers(1, 6))
    shape = padded_shape([int(rng.integers(1, 6)) for _ in range(rank)])
    is_plain = kernels[-1] is Kernel.SIMD_ADD
    keeps = rng.random((2, len(shape))) < (2 if is_plain else 0.6)
    keeps[1] |= ~keeps[0]
    a, b = (tuple(np.where(keep, shape, 1).tolist()) for keep in keeps)
    p = make_elementwise(rng, shape, a, b)
    values_a, values_b = int8s(rng, a), int8s(rng, b)
    builder = ProgramBuilder()
    source_1, source_2 = builder.input(values_a), builder.input(values_b)
    expected = []
    for kernel in kernels:
        own = p
        if kernel in {Kernel.MINIMUM, Kernel.MAXIMUM}:
            own = dataclasses.replace(p, offset_1=0, offset_2=0, output_offset=0)
        if kernel in {Kernel.MUL, Kernel.PRELU}:
            multiplier, shift = random_scale(rng, 255 * 255)
            own = dataclasses.replace(
                p, left_shift=0, output_multiplier=multiplier, output_shift=shift
            )
        plain = Kernel.ADD if kernel is Kernel.SIMD_ADD else kernel
        expected.append(elementwise_output(own, plain, values_a, values_b))
        refs = {"input_1": source_1, "input_2": source_2, "output": builder.output(shape)}
        builder.step(kernel, dataclasses.replace(own, **refs))
    # Six dimensions are the most that a tensor's description holds; all of them are used here.
    for kernel, actual, wanted in zip(kernels, run_steps(builder), expected, strict=True):
        np.testing.assert_array_equal(actual, wanted, err_msg=f"{kernel.name} {p}")


@pytest.mark.parametrize("seed", range(15))
def test_elementwise(run_steps: Any, seed: int) -> None:
    rng = np.random.default_rng(seed)
    run_elementwise(run_steps, rng, Kernel.ADD, Kernel.SUB, Kernel.MUL)


@pytest.mark.parametrize("seed", range(15))
def test_comparisons_and_prelu(run_steps: Any, seed: int) -> None:
    rng = np.random.default_rng(seed)
    run_elementwise(run_steps, rng, Kernel.MINIMUM, Kernel.MAXIMUM, Kernel.PRELU)


@pytest.mark.parametrize("seed", range(10))
def test_simd_add(run_steps: Any, seed: int) -> None:
    run_elementwise(run_steps, np.random.default_rng(seed), Kernel.ADD, Kernel.SIMD_ADD)


@pytest.mark.parametrize("seed", range(15))
def test_reductions(run_steps: Any, seed: int) -> None:
    rng = np.random.default_rng(seed)
    shape = padded_shape([int(rng.integers(1, 6)) for _ in range(int(rng.integers(1, 6)))])
    is_reduced = rng.random(len(shape)) < 0.5
    values = int8s(rng, shape)
    axes = tuple(np.flatnonzero(is_reduced).tolist())
    count = int(np.prod([shape[axis] for axis in axes]))
    multiplier, shift = random_scale(rng, 255 * count)
    input_offset, output_offset = int(rng.integers(-127, 129)), int(rng.integers(-128, 128))
    sums = (values.astype(np.int64) + input_offset).sum(axes)
    expected = numerics.requantize(sums, multiplier, shift, output_offset, -128, 127)
    builder = ProgramBuilder()
    source = builder.input(values)
    target = builder.output(sums.shape or (1,))
    flags = (*is_reduced.astype(int).tolist(), 0, 0)
    offsets = input_offset, output_offset
    builder.step(Kernel.MEAN, Mean(source, target, shape, flags, *offsets, multiplier, shift))
    largest = builder.output(sums.shape or (1,))
    builder.step(Kernel.REDUCE_MAX, Mean(source, largest, shape, flags, 0, 0, 0, 0))
    actual, maxima = run_steps(builder)
    np.testing.assert_array_equal(actual, expected.reshape(actual.shape))
    np.testing.assert_array_equal(maxima, values.max(axes).reshape(maxima.shape))


@pytest.mark.parametrize("is_in_place", [False, True])
def test_lookup(run_steps: Any, is_in_place: bool) -> None:
    rng = np.random.default_rng(0)
    values, table = rng.permutation(256).astype(np.uint8), rng.permutation(256) - 128
    builder = ProgramBuilder()
    source = builder.input(values.view(np.int8))
    middle = source if is_in_place else builder.arena(values.size)
    builder.step(Kernel.LOOKUP, Lookup(source, middle, builder.constant(table, np.int8)))
    builder.step(Kernel.COPY, whole_copy(middle, builder.output(values.shape)))
    (actual,) = run_steps(builder)
    np.testing.assert_array_equal(actual, table[values])


def test_lookup_of_words(run_steps: Any) -> None:
    rng = np.random.default_rng(0)
    values, table = rng.permutation(256).astype(np.uint8), rng.random(256, np.float32)
    builder = ProgramBuilder()
    source, target = builder.input(values.view(np.int8)), builder.output((4 * 256,))
    builder.step(Kernel.LOOKUP, Lookup(source, target, builder.constant(table, np.float32)))
    (actual,) = run_steps(builder)
    np.testing.assert_array_equal(actual.view(np.float32), table[values])


@pytest.mark.parametrize(("scale", "zero_point"), [(0.5, 0), (1e-3, -128), (20.0, 127)])
def test_quantize(run_steps: Any, scale: float, zero_point: int) -> None:
    rng = np.random.default_rng(0)
    rounded = float(np.float32(scale))
    x = (np.concatenate([np.arange(-300, 300) / 2, rng.uniform(-200, 200, 400)])) * rounded
    x = np.concatenate([x, [np.inf, -np.inf, 0.0, -0.0, 1e30]]).astype(np.float32)
    builder = ProgramBuilder()
    source, target = builder.input(x.view(np.int8)), builder.output(x.shape)
    limits = builder.constant(floats.thresholds(rounded, zero_point))
    builder.step(Kernel.QUANTIZE, Quantize(source, target, limits))
    (actual,) = run_steps(builder)
    np.testing.assert_array_equal(actual, floats.quantized(x, rounded, zero_point))


@pytest.mark.parametrize("shape", [(1, 1, 1), (3, 7, 1), (2, 5, 4), (1, 300, 2)])
def test_arg_max(run_steps: Any, shape: tuple[int, int, int]) -> None:
    """Few values: equal ones are frequent."""
    values = np.random.default_rng(0).integers(-2, 2, shape).astype(np.int8)
    builder = ProgramBuilder()
    source, target = builder.input(values), builder.output((4 * shape[0] * shape[2],))
    builder.step(Kernel.ARG_MAX, ArgMax(source, target, *shape, 0, 1))
    (actual,) = run_steps(builder)
    np.testing.assert_array_equal(actual.view(np.int32), values.argmax(axis=1).reshape(-1))


@pytest.mark.parametrize("early_bits", [0, 7])
def test_numbers_as_long_as_their_row(run_steps: Any, early_bits: int) -> None:
    """The largest outputs are limited; none is too small."""
    numbers = np.arange(-128, 128, dtype=np.int8)
    rows = np.zeros((2 * numbers.size, 6), np.int8)
    rows[:, 1] = np.tile(numbers, 2)
    rows[numbers.size :, 3] = 1
    builder = ProgramBuilder()
    source, target = builder.input(rows), builder.output(rows.shape)
    params = L2Normalization(source, target, *rows.shape, 0, early_bits)
    builder.step(Kernel.L2_NORMALIZATION, params)
    (actual,) = run_steps(builder)
    lengths = np.sqrt((rows.astype(float) ** 2).sum(axis=1, keepdims=True))
    expected = np.clip(np.round(128.0 * rows / np.maximum(lengths, 1)), -128, 127)
    assert np.abs(actual - expected).max() <= 1
    assert set(actual[rows[:, 1] > 60, 1].tolist()) == {127}
    assert set(actual[rows[:, 1] < -60, 1].tolist()) == {-128}


def softmax_output(values: NDArray[np.int8], table: NDArray[np.int64]) -> NDArray[np.int8]:
    """Divide exponentials by their sum, in TFLite's fixed point."""
    result = np.empty(values.shape, np.int8)
    for row, logits in enumerate(values.astype(np.int64)):
        exponentials = table[logits.max() - logits]
        total = int(numerics.rounding_divide_by_pot(exponentials, 12).sum())
        scale, bits_over_unit = numerics.softmax_reciprocal(total)
        exponent = bits_over_unit + 31 - 8
        products = numerics.saturating_rounding_doubling_high_mul(scale, exponentials)
        parts = numerics.rounding_divide_by_pot(products, exponent) if exponent <= 31 else 0
        result[row] = np.clip(np.asarray(parts) - 128, -128, 127)
    return result


def run_softmax(
    run_steps: Any, values: NDArray[np.int8], scale: float, table: NDArray[np.int64] | None = None
) -> NDArray[np.int8]:
    table = numerics.softmax_exponentials(scale, 1.0) if table is None else table
    builder = ProgramBuilder()
    source, exponentials = builder.input(values), builder.constant(table)
    target = builder.output(values.shape)
    builder.step(Kernel.SOFTMAX, Softmax(source, target, exponentials, *values.shape, -128, Ref()))
    (actual,) = run_steps(builder)
    np.testing.assert_array_equal(actual, softmax_output(values, table))
    return np.asarray(actual)


@pytest.mark.parametrize("scale", [1e-9, 0.02, 0.1, 0.8])
@pytest.mark.parametrize("depth", [1, 2, 7, 12, 260, 511])
def test_softmax(run_steps: Any, depth: int, scale: float) -> None:
    values = int8s(np.random.default_rng(depth), (3, depth))
    actual = run_softmax(run_steps, values, scale)
    assert scale < 0.8 or depth > 2 or abs(int((actual.astype(int) + 128).sum(1)[0]) - 256) <= 2


def exponentials_rounded_twice(output: int) -> list[int]:
    """Return exponentials whose probability, beside 1, is below a half step but for a rounding."""
    near = round(2**31 * (output - 0.5) / (256.5 - output))
    found = []
    for exponential in range(near - 1000, near + 1000):
        total = 2**19 + int(numerics.rounding_divide_by_pot(exponential, 12))
        scale, bits_over_unit = numerics.softmax_reciprocal(total)
        exponent = bits_over_unit + 31 - 8
        half = 1 << (exponent - 1)
        floor, rounded = (scale * exponential + x >> 31 for x in (0, 1 << 30))
        if floor + half >> exponent != rounded + half >> exponent:
            found.append(exponential)
    return found


def test_softmax_is_rounded_twice(run_steps: Any) -> None:
    found = [x for output in range(127, 60, -16) for x in exponentials_rounded_twice(output)]
    assert found
    falling = sorted(found, reverse=True)
    table = np.array([2**31 - 1, *falling, *[0] * (255 - len(falling))])
    pairs = [[0, -1 - k] for k in range(len(falling))]
    run_softmax(run_steps, np.array(pairs, np.int8), 0, table)


@pytest.mark.parametrize("depth", [512, 600, 4095])
def test_softmax_of_a_sum_beyond_512(run_steps: Any, depth: int) -> None:
    """All equal: probabilities of 1 / 512 and less round to nothing."""
    actual = run_softmax(run_steps, np.full((1, depth), 127, np.int8), 0.1)
    assert depth == 512 or set(actual.ravel()) == {-128}
