"""Kernels of two tensors, and reductions, in the reference executor against loops."""

import math
import random

import numpy as np
import pytest

from kiwicha.contract.program import MAX_RANK, Kernel
from kiwicha.kernels.elementwise import Elementwise
from kiwicha.kernels.mean import Mean
from kiwicha.kernels.registry import KERNEL_PARAMS
from tests.support.oracle import scalar
from tests.support.programs.images import SHORT_KERNELS
from tests.support.programs.one_step import INT8, OneStep, activation, int8s


def row_major(shape: tuple[int, ...]) -> tuple[int, ...]:
    return tuple(math.prod(shape[k + 1 :]) for k in range(len(shape)))


@pytest.mark.parametrize(
    "kernel",
    [
        kernel
        for kernel in Kernel
        if KERNEL_PARAMS[kernel] is Elementwise and kernel not in SHORT_KERNELS
    ],
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
    is_square = kernel is Kernel.SQUARED_DIFFERENCE
    left_shift = 0 if is_mul or is_comparison else 7 if is_square else 20
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
            a = scalar.multiply(a << left_shift, p.multiplier_1, p.shift_1)
            b = scalar.multiply(b << left_shift, p.multiplier_2, p.shift_2)
            value = (a - b) ** 2 if is_square else a - b if kernel is Kernel.SUB else a + b
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
