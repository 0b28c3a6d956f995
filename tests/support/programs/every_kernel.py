"""A Program with one step of every kernel of the firmware."""

import dataclasses

import numpy as np

from kiwicha.contract.layout import Ref, Struct
from kiwicha.contract.program import Kernel, Where
from kiwicha.kernels.arg_max import ArgMax
from kiwicha.kernels.conv import Conv
from kiwicha.kernels.copy import Copy
from kiwicha.kernels.elementwise import Elementwise
from kiwicha.kernels.lookup import Lookup, Quantize
from kiwicha.kernels.mean import Mean
from kiwicha.kernels.pool import Pool
from kiwicha.kernels.registry import KERNEL_PARAMS
from kiwicha.kernels.softmax import Softmax
from kiwicha.numerics import requantization as numerics
from tests.support.programs.cases import add_step, can_compute
from tests.support.programs.images import SHORT_KERNELS
from tests.support.programs.steps import ConvCase, ProgramBuilder, int8s, padded_shape, whole_copy

__all__ = ["FIRMWARE_KERNELS", "every_kernel"]

FIRMWARE_KERNELS = [
    kernel
    for kernel in Kernel
    if kernel.where in {Where.CPU, Where.SIMD} and kernel is not Kernel.CUSTOM
]
"""Kernels that are C code of the firmware."""


def conv_case(rng: np.random.Generator, *, is_depthwise: bool = False, **sizes: int) -> ConvCase:
    """Give a small layer."""
    p: dict[str, int] = {
        "batches": 1,
        **dict.fromkeys(("input_height", "input_width", "output_height", "output_width"), 3),
        **dict.fromkeys(("input_channels", "output_channels"), 4),
        **dict.fromkeys(("kernel_height", "kernel_width"), 3),
        **dict.fromkeys(("stride_height", "stride_width", "depth_multiplier"), 1),
        **dict.fromkeys(("dilation_height", "dilation_width", "pad_top", "pad_left"), 1),
        "tile_pixels": 4,
        "input_offset": 5,
        "weight_offset": 0,
        "output_offset": -7,
        "activation_min": -128,
        "activation_max": 127,
    } | sizes
    taps = p["kernel_height"], p["kernel_width"]
    weights = (1, *taps, 4) if is_depthwise else (p["output_channels"], *taps, 4)
    return ConvCase(
        params=Conv(*[Ref()] * 7, **p),
        is_depthwise=is_depthwise,
        input=int8s(rng, (p["batches"], p["input_height"], p["input_width"], 4)),
        weights=int8s(rng, weights),
        bias=rng.integers(-999, 999, p["output_channels"]),
        multiplier=np.full(p["output_channels"], 2**30),
        shift=np.full(p["output_channels"], -6),
    )


def _kernels_for(params: Struct) -> list[Kernel]:
    """List the kernels that can compute a step on bytes."""
    kind = type(params)
    return [
        k
        for k in Kernel
        if KERNEL_PARAMS[k] is kind and k not in SHORT_KERNELS and can_compute(k, params)
    ]


def every_kernel() -> ProgramBuilder:
    """Build a Program with one step of every kernel; of those that are not named here, random."""
    rng = np.random.default_rng(0)
    builder = ProgramBuilder("simd")
    plain = conv_case(rng)
    source = builder.input(plain.input)
    ones = ("kernel_height", "kernel_width", "dilation_height", "dilation_width")
    small = {**dict.fromkeys(ones, 1), "pad_top": 0, "pad_left": 0}
    single = dict.fromkeys(("input_height", "input_width", "output_height", "output_width"), 1)
    depthwise = conv_case(rng, is_depthwise=True)
    pointwise = conv_case(rng, **small)
    connected = conv_case(rng, **small, **single, batches=9)
    for case, kernels in (
        (plain, (Kernel.CONV, Kernel.SIMD_CONV, Kernel.TRANSPOSE_CONV)),
        (depthwise, (Kernel.DEPTHWISE_CONV, Kernel.SIMD_DEPTHWISE_CONV)),
        (pointwise, (Kernel.SIMD_CONV_1X1,)),
        (connected, (Kernel.FULLY_CONNECTED, Kernel.SIMD_FULLY_CONNECTED)),
    ):
        for kernel in kernels:
            case.add_to(builder, kernel, source)
    pool = Pool(source, Ref(), 1, 3, 3, 4, 2, 2, 2, 2, 2, 2, 1, 1, 0, -128, 127)
    for kernel in _kernels_for(pool):
        builder.step(kernel, dataclasses.replace(pool, output=builder.output((1, 2, 2, 4))))
    shape = padded_shape((3, 3, 4))
    row_major = (36, 36, 36, 12, 4, 1)
    scales = [2**30, 0] * 3
    numbers = (1, 2, 3, 0, *scales, -128, 127)
    pair = Elementwise(source, source, Ref(), shape, row_major, row_major, *numbers)
    for kernel in _kernels_for(pair):
        left_shift = 20 if kernel in {Kernel.ADD, Kernel.SUB, Kernel.SIMD_ADD} else 0
        output = builder.output((3, 3, 4))
        builder.step(kernel, dataclasses.replace(pair, output=output, left_shift=left_shift))
    flags = (0, 0, 0, 1, 1, 0, 0, 0)
    reduction = Mean(source, Ref(), shape, flags, 3, 4, 2**30, -3)
    for kernel in _kernels_for(reduction):
        builder.step(kernel, dataclasses.replace(reduction, output=builder.output((4,))))
    table = builder.constant(numerics.softmax_exponentials(0.1, 1.0))
    builder.step(Kernel.SOFTMAX, Softmax(source, builder.output((9, 4)), table, 9, 4, -128, Ref()))
    words = builder.constant(rng.permutation(256))
    builder.step(Kernel.LOOKUP, Lookup(source, builder.output((4 * 36,)), words))
    builder.step(Kernel.COPY, whole_copy(source, builder.output((36,))))
    # Rows 2 and 0, columns backwards, channels as they are.
    shape, strides = (1, 1, 1, 1, 2, 3), (0, 0, 0, 0, -24, -4)
    target = builder.output((2, 3, 4))
    builder.step(Kernel.COPY, Copy(source, target, shape, strides, (0, 0, 0, 0, 12, 4), 32, 4))
    table = builder.constant(rng.permutation(256) - 128, np.int8)
    builder.step(Kernel.LOOKUP, Lookup(source, builder.output((36,)), table))
    staircase = builder.constant(np.sort(rng.integers(-(2**31), 2**31, 255)))
    words_in = dataclasses.replace(source, bytes=32)
    builder.step(Kernel.QUANTIZE, Quantize(words_in, builder.output((8,)), staircase))
    builder.step(Kernel.ARG_MAX, ArgMax(source, builder.output((4 * 12,)), 3, 3, 4, 0, 1))
    present = {step.kernel for step in builder.steps}
    for kernel in FIRMWARE_KERNELS:
        if kernel not in present:
            add_step(builder, kernel, rng, 0)
    return builder
