"""Measures what steps of the CPU cost on the simulated system, for `kiwicha.kernels`.

``PYTHONPATH=tests python -m support.cpu_costs``, which ``nox -s costs`` runs, prints the `Cost`
of each kernel as it belongs there, with the median of its relative errors.
"""

import dataclasses
import itertools
import sys
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from kiwicha.compiler.cpu.costs import work_of
from kiwicha.compiler.tflite.graph import Options
from kiwicha.compiler.tflite.interpolation import interpolation
from kiwicha.contract.cfu import ENGINE_CONFIGS
from kiwicha.contract.layout import Ref
from kiwicha.contract.program import (
    ArgMax,
    Conv,
    Elementwise,
    Kernel,
    Mean,
    Pool,
    Quantize,
    ResizeBilinear,
    Where,
)
from kiwicha.kernels.kernel import Cost
from kiwicha.kernels.registry import KERNEL_PARAMS
from kiwicha.program.image import Program
from kiwicha.sim.verilator.program_run import run_program
from tests.support.programs.every_kernel import FIRMWARE_KERNELS
from tests.support.programs.steps import ConvCase, ProgramBuilder, int8s, padded_shape

__all__ = ["MEASURED", "UNUSUAL", "fit", "main", "measured", "robust_fit", "steps_of"]

CONFIG = "64"
"""Predictions are those of Programs with an engine, whose firmware is smaller, and slower."""
MEASURED = [
    kernel
    for kernel in FIRMWARE_KERNELS
    if kernel not in {Kernel.SOFTMAX, Kernel.COPY, Kernel.LOOKUP}
]
UNUSUAL = 0.3
"""A step that takes so much longer than predicted, relatively, is left out of the fit."""
_POINTWISE = {
    Kernel.FULLY_CONNECTED,
    Kernel.SIMD_FULLY_CONNECTED,
    Kernel.SIMD_CONV_1X1,
}
_CONNECTED = {Kernel.FULLY_CONNECTED, Kernel.SIMD_FULLY_CONNECTED}
_DEPTHWISE = {Kernel.DEPTHWISE_CONV, Kernel.SIMD_DEPTHWISE_CONV}


def steps_of(kernels: Sequence[Kernel], seed: int, count: int) -> ProgramBuilder:
    """Return a Program of ``count`` steps of each kernel, of random sizes."""
    builder = ProgramBuilder()
    builder.config = ENGINE_CONFIGS[CONFIG]
    for kernel in kernels:
        rng = np.random.default_rng([seed, kernel])
        for number in range(count):
            _add(builder, kernel, rng, number)
    return builder


def _add(builder: ProgramBuilder, kernel: Kernel, rng: np.random.Generator, number: int) -> None:
    params = KERNEL_PARAMS[kernel]
    if params is Conv:
        _add_conv(builder, kernel, rng, number)
        return
    is_simd = kernel.where is Where.SIMD
    height, width = (int(n) for n in rng.integers(4, 14 if is_simd else 8, 2))
    channels = 4 * int(rng.integers(1, 6 if is_simd else 4))
    shape = (1, height, width, channels)
    source = builder.input(int8s(rng, shape))
    if params is Pool:
        kernel_size, stride = int(rng.integers(2, 5)), int(rng.integers(1, 3))
        out = [(size - kernel_size) // stride + 1 for size in shape[1:3]]
        target = builder.output((1, *out, channels))
        window = (kernel_size, kernel_size, stride, stride, 0, 0, 0, -128, 127)
        sizes = (1, height, width, channels, *out)
        builder.step(kernel, Pool(source, target, *sizes, *window))
    elif params is Elementwise:
        other = builder.input(int8s(rng, shape))
        strides = height * width * channels, width * channels, channels, 1
        padded = padded_shape(strides, strides[0])
        shift = 20 if kernel in {Kernel.ADD, Kernel.SUB, Kernel.SIMD_ADD} else 0
        scales = [2**30, 0, 2**30, 0, 2**30, -shift // 2]
        refs = source, other, builder.output(shape)
        numbers = (1, 2, 3, shift, *scales, -128, 127)
        builder.step(kernel, Elementwise(*refs, padded_shape(shape), padded, padded, *numbers))
    elif params is Mean:
        flags = (0, 0, 0, 1, 1, 0, 0, 0) if number % 2 else (0, 0, 0, 0, 0, 1, 0, 0)
        target = builder.output((channels,) if number % 2 else shape[1:3])
        limits = (3, 4, 2**30, -3)
        builder.step(kernel, Mean(source, target, padded_shape(shape), flags, *limits))
    elif params is ArgMax:
        outer, inner = (height * width, 1) if number % 2 else (height, channels)
        depth = channels if number % 2 else width
        target = builder.output((4 * outer * inner,))
        builder.step(kernel, ArgMax(source, target, outer, depth, inner))
    elif params is Quantize:
        words = builder.constant(rng.normal(0, 1, height * width * channels), np.float32)
        stairs = builder.constant(np.linspace(-(2**30), 2**30, 255).astype(np.int32))
        builder.step(kernel, Quantize(words, builder.output((words.bytes // 4,)), stairs))
    else:
        assert params is ResizeBilinear
        is_float = number % 3 == 2
        if is_float:
            height, width, channels = 4, 3, 4
            source = builder.input(int8s(rng, (1, height, width, channels)))
        out = height + int(rng.integers(1, 4)), width + int(rng.integers(1, 4))
        tables = [
            builder.constant(
                interpolation(size, wanted, Options(half_pixel_centers=True)).table(
                    is_float=is_float
                )
            )
            for size, wanted in zip((height, width), out, strict=True)
        ]
        target = builder.output((*out, channels))
        sizes = (1, height, width, channels, *out, 0, int(is_float))
        builder.step(kernel, ResizeBilinear(source, target, *tables, *sizes))


def _add_conv(
    builder: ProgramBuilder, kernel: Kernel, rng: np.random.Generator, number: int
) -> None:
    is_depthwise, is_transposed = kernel in _DEPTHWISE, kernel is Kernel.TRANSPOSE_CONV
    is_whole = kernel not in _POINTWISE
    is_simd = kernel.where is Where.SIMD
    inputs, outputs = (4 * int(n) for n in rng.integers(1, 5 if is_simd else 3, 2))
    if kernel is Kernel.SIMD_CONV and number % 2:
        inputs = int(rng.integers(1, 4))
    outputs = inputs if is_depthwise else outputs
    taps = int(rng.choice((2, 3, 5) if is_simd or is_depthwise else (1, 2, 3))) if is_whole else 1
    stride = int(rng.integers(1, 3)) if is_whole else 1
    height, width = (int(n) for n in rng.integers(3, 11 if is_simd else 5, 2))
    if kernel in _CONNECTED:
        height = width = 1
        inputs, outputs = 4 * inputs, 2 * outputs
    factor = stride if is_transposed else 1
    out = [factor * size if is_transposed else -(-size // stride) for size in (height, width)]
    p: dict[str, int] = {
        "batches": int(rng.choice((1, 1, 4))) if kernel in _CONNECTED else 1,
        **{"input_height": height, "input_width": width, "input_channels": inputs},
        **{"output_height": out[0], "output_width": out[1], "output_channels": outputs},
        **dict.fromkeys(("kernel_height", "kernel_width"), taps),
        **dict.fromkeys(("stride_height", "stride_width"), stride),
        **dict.fromkeys(("dilation_height", "dilation_width", "depth_multiplier"), 1),
        **dict.fromkeys(("pad_top", "pad_left"), (taps - 1) // 2),
        **{"tile_pixels": 16, "input_offset": 5, "weight_offset": 0, "output_offset": -7},
        **{"activation_min": -128, "activation_max": 127},
    }
    image = int8s(rng, (p["batches"], height, width, inputs))
    shape = (1, taps, taps, outputs) if is_depthwise else (outputs, taps, taps, inputs)
    ones = np.ones(outputs, np.int64)
    case = ConvCase(
        params=Conv(*[Ref()] * 7, **p),
        is_depthwise=is_depthwise,
        input=image,
        weights=int8s(rng, shape),
        bias=rng.integers(-999, 999, outputs),
        multiplier=ones * 2**30,
        shift=ones * -6,
    )
    case.add_to(builder, kernel, builder.input(image))


def measured(builder: ProgramBuilder) -> tuple[Program, Sequence[int]]:
    """Return the Program and the cycles of each step.

    Of so many steps each finds the caches as others left them: a second inference is no different.
    """
    program = builder.program()
    result = run_program(program, builder.input_bytes)
    return program, result.step_cycles[-1]


def fit(works: NDArray[np.float64], cycles: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the coefficients, 0 or more, with the least squares of relative errors."""
    best, least = np.zeros(works.shape[1]), np.inf
    for count in range(1, works.shape[1] + 1):
        for chosen in itertools.combinations(range(works.shape[1]), count):
            columns = list(chosen)
            found, *_ = np.linalg.lstsq(works[:, columns] / cycles[:, None], np.ones(len(cycles)))
            if (found < 0).any():
                continue
            error = float(((works[:, columns] @ found / cycles - 1) ** 2).sum())
            if error < least - 1e-12:
                least = error
                best = np.zeros(works.shape[1])
                best[columns] = found
    return best


def robust_fit(works: NDArray[np.float64], cycles: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return what `fit` gives without the steps whose operands meet in the data cache.

    It has one way: where two operands lie at the same place of it, a step takes up to three times
    as long.
    """
    found = fit(works, cycles)
    while True:
        is_usual = works @ found / cycles > 1 - UNUSUAL
        again = fit(works[is_usual], cycles[is_usual])
        if np.allclose(again, found):
            return found
        found = again


def main() -> int:
    """Measure, and print the costs."""
    program, cycles = measured(steps_of(MEASURED, seed=1, count=16))
    for kernel in MEASURED:
        chosen = [k for k, step in enumerate(program.steps) if step.kernel is kernel]
        works = np.array(
            [(1, *dataclasses.astuple(work_of(program.steps[k]))) for k in chosen], float
        )
        spent = np.array([cycles[k] for k in chosen], float)
        found = robust_fit(works, spent)
        cost = Cost(*(float(f"{x:.3g}") for x in found))
        error = np.median(abs(works @ found / spent - 1))
        sys.stdout.write(f"{kernel.name}: {cost}  # median error {error:.0%}\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
