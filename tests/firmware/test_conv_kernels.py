"""Convolution kernels, portable and with custom instructions, against sums in numpy."""

from typing import Any

import numpy as np
import pytest

from kiwicha.contract.layout import Ref
from kiwicha.contract.program import Kernel
from kiwicha.kernels.conv import Conv
from tests.support.programs.steps import ConvCase, ProgramBuilder, int8s, random_scales


def make_case(rng: np.random.Generator, *, is_depthwise: bool = False, **sizes: Any) -> ConvCase:
    """Fill in sizes that are not given, and random data."""
    p: dict[str, Any] = {
        "batches": int(rng.integers(1, 3)),
        "input_height": int(rng.integers(1, 9)),
        "input_width": int(rng.integers(1, 12)),
        "input_channels": int(rng.integers(1, 10)),
        "kernel_height": int(rng.integers(1, 5)),
        "kernel_width": int(rng.integers(1, 5)),
        "stride_height": int(rng.integers(1, 4)),
        "stride_width": int(rng.integers(1, 4)),
        "dilation_height": int(rng.integers(1, 3)),
        "dilation_width": int(rng.integers(1, 3)),
        "pad_top": int(rng.integers(0, 3)),
        "pad_left": int(rng.integers(0, 3)),
        "depth_multiplier": 1,
        "tile_pixels": int(rng.choice([4, 8, 20, 64])),
        "input_offset": int(rng.choice([-127, 128, int(rng.integers(-127, 129))])),
        "weight_offset": int(rng.choice([0, 0, -127, 127, int(rng.integers(-127, 128))])),
        "output_offset": int(rng.choice([-128, 127, int(rng.integers(-128, 128))])),
    } | sizes
    for size, pad, stride in (("height", "top", "height"), ("width", "left", "width")):
        most = (p[f"input_{size}"] + p[f"pad_{pad}"] - 1) // p[f"stride_{stride}"] + 1
        p.setdefault(f"output_{size}", int(max(most - rng.integers(0, 2), 1)))
    taps = p["kernel_height"], p["kernel_width"]
    if is_depthwise:
        p["output_channels"] = p["input_channels"] * p["depth_multiplier"]
        weights_shape: tuple[int, ...] = (1, *taps, p["output_channels"])
        window = taps[0] * taps[1]
    else:
        p.setdefault("output_channels", int(rng.integers(1, 14)))
        weights_shape = (p["output_channels"], *taps, p["input_channels"])
        window = taps[0] * taps[1] * p["input_channels"]
    largest = 255 * 255 * window
    multiplier, shift = random_scales(rng, p["output_channels"], largest)
    bias = rng.integers(-largest, largest, p["output_channels"])
    if rng.random() < 0.2:
        bias[0] = rng.choice([-(2**31), 2**31 - 1])
    low, high = sorted(rng.integers(-128, 128, 2)) if rng.random() < 0.5 else (-128, 127)
    return ConvCase(
        params=Conv(*[Ref()] * 7, **p, activation_min=int(low), activation_max=int(high)),
        is_depthwise=is_depthwise,
        input=int8s(rng, (p["batches"], p["input_height"], p["input_width"], p["input_channels"])),
        weights=int8s(rng, weights_shape),
        bias=bias,
        multiplier=multiplier,
        shift=shift,
    )


def check(run_steps: Any, case: ConvCase, *kernels: Kernel) -> None:
    """Run one layer with several kernels in one Program."""
    builder = ProgramBuilder("simd" if kernels[-1] >= Kernel.SIMD_CONV_1X1 else "baseline")
    source = builder.input(case.input)
    for kernel in kernels:
        case.add_to(builder, kernel, source)
    expected = case.expected()
    for kernel, actual in zip(kernels, run_steps(builder), strict=True):
        np.testing.assert_array_equal(actual, expected, err_msg=f"{kernel.name} {case.params}")


@pytest.mark.parametrize("seed", range(30))
def test_conv(run_steps: Any, seed: int) -> None:
    case = make_case(np.random.default_rng(seed))
    check(run_steps, case, Kernel.CONV, Kernel.SIMD_CONV)


@pytest.mark.parametrize("seed", range(20))
def test_conv_whose_windows_stay_in_place(run_steps: Any, seed: int) -> None:
    rng = np.random.default_rng(seed)
    case = make_case(rng, input_channels=int(rng.choice([4, 8, 20])), dilation_width=1)
    check(run_steps, case, Kernel.CONV, Kernel.SIMD_CONV)


@pytest.mark.parametrize("seed", range(20))
def test_conv_1x1(run_steps: Any, seed: int) -> None:
    rng = np.random.default_rng(seed)
    ones = ("kernel_height", "kernel_width", "stride_height", "stride_width")
    ones += ("dilation_height", "dilation_width")
    height, width = (int(rng.integers(1, 8)) for _ in range(2))
    case = make_case(
        rng,
        **dict.fromkeys(ones, 1),
        **dict.fromkeys(("pad_top", "pad_left"), 0),
        input_channels=int(rng.choice([4, 12, 16, 36])),
        input_height=height,
        input_width=width,
        output_height=height,
        output_width=width,
    )
    check(run_steps, case, Kernel.CONV, Kernel.SIMD_CONV, Kernel.SIMD_CONV_1X1)


@pytest.mark.parametrize("seed", range(20))
def test_fully_connected(run_steps: Any, seed: int) -> None:
    rng = np.random.default_rng(seed)
    ones = ("kernel_height", "kernel_width", "stride_height", "stride_width", "input_height")
    ones += ("dilation_height", "dilation_width", "input_width", "output_height", "output_width")
    inputs = int(rng.choice([1, 3, 4, 16, 60]))
    case = make_case(
        rng,
        **dict.fromkeys(ones, 1),
        **dict.fromkeys(("pad_top", "pad_left"), 0),
        input_channels=inputs,
        batches=int(rng.integers(1, 12)),
    )
    kernels = [Kernel.FULLY_CONNECTED, Kernel.SIMD_CONV]
    if inputs % 4 == 0:
        kernels.append(Kernel.SIMD_FULLY_CONNECTED)
    check(run_steps, case, *kernels)


@pytest.mark.parametrize("seed", range(15))
def test_portable_depthwise_conv(run_steps: Any, seed: int) -> None:
    rng = np.random.default_rng(seed)
    case = make_case(rng, is_depthwise=True, depth_multiplier=int(rng.integers(1, 4)))
    check(run_steps, case, Kernel.DEPTHWISE_CONV)


@pytest.mark.parametrize("seed", range(20))
def test_depthwise_conv(run_steps: Any, seed: int) -> None:
    rng = np.random.default_rng(seed)
    case = make_case(rng, is_depthwise=True, input_channels=int(rng.choice([4, 8, 24])))
    check(run_steps, case, Kernel.DEPTHWISE_CONV, Kernel.SIMD_DEPTHWISE_CONV)


@pytest.mark.parametrize("stride", [1, 2, 3])
@pytest.mark.parametrize("seed", range(12))
def test_depthwise_conv_3x3(run_steps: Any, stride: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    case = make_case(
        rng,
        is_depthwise=True,
        input_channels=int(rng.choice([4, 8, 24])),
        input_width=int(rng.integers(1, 20)),
        kernel_height=3,
        kernel_width=3,
        stride_width=stride,
        dilation_height=1,
        dilation_width=1,
    )
    check(run_steps, case, Kernel.DEPTHWISE_CONV, Kernel.SIMD_DEPTHWISE_CONV)


@pytest.mark.parametrize("kernel", [Kernel.CONV, Kernel.SIMD_CONV])
def test_sums_wrap(run_steps: Any, kernel: Kernel) -> None:
    """255 * -128 * 70,000 needs 33 bits."""
    rng = np.random.default_rng(0)
    sizes = ("batches", "input_height", "input_width", "stride_height", "stride_width")
    sizes += ("dilation_height", "dilation_width", "output_height", "output_width")
    case = make_case(
        rng,
        **dict.fromkeys((*sizes, "kernel_height", "kernel_width"), 1),
        **dict.fromkeys(("pad_top", "pad_left"), 0),
        input_channels=70_000,
        output_channels=2,
        input_offset=128,
        tile_pixels=4,
    )
    case.input[:] = 127
    case.weights[:] = -128
    check(run_steps, case, kernel)
