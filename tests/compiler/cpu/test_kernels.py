"""Kernels and blocking: what instruction-tier kernels demand of every step."""

from collections import Counter

import numpy as np
import pytest

from kiwicha.compiler import compile_model, compile_stages
from kiwicha.compiler.cpu.costs import cpu_cycles
from kiwicha.compiler.cpu.layers import layer_cycles
from kiwicha.contract.configs import CONFIGS
from kiwicha.contract.layout import Ref
from kiwicha.contract.program import Kernel, Where
from kiwicha.kernels.conv import Conv
from kiwicha.kernels.elementwise import Elementwise
from kiwicha.kernels.pool import Pool
from kiwicha.kernels.weight_order import padded_channels, unpack_conv
from kiwicha.program.image import Program
from kiwicha.program.parts import Step
from tests.support.models import random_models, random_networks
from tests.support.models.tflite_builder import ModelBuilder

ALIGNED = ("input", "input_1", "input_2", "output", "weights", "scratch")
DATA_CACHE_BYTES = 4096


def is_pointwise(p: Conv) -> bool:
    return (
        (p.kernel_height, p.kernel_width, p.stride_height, p.stride_width) == (1, 1, 1, 1)
        and (p.pad_top, p.pad_left) == (0, 0)
        and (p.output_height, p.output_width) == (p.input_height, p.input_width)
    )


def check_conv(kernel: Kernel, p: Conv) -> None:
    window = p.kernel_height * p.kernel_width * p.input_channels
    channels = padded_channels(p.output_channels)
    assert p.bias.bytes == p.multiplier.bytes == p.shift.bytes == 4 * channels
    if kernel is Kernel.SIMD_DEPTHWISE_CONV:
        assert p.depth_multiplier == 1
        assert p.input_channels == p.output_channels
        assert p.input_channels % 4 == 0
        assert p.weights.bytes == p.kernel_height * p.kernel_width * p.input_channels
        return
    assert p.depth_multiplier == 1
    assert p.weights.bytes == channels * 4 * -(-window // 4)
    assert p.tile_pixels % 4 == 0
    assert p.tile_pixels >= 4
    if kernel is Kernel.SIMD_CONV:
        assert p.tile_pixels <= 64
        assert p.scratch.bytes >= p.tile_pixels * 4 * -(-window // 4)
    else:
        assert p.input_channels % 4 == 0
        assert p.scratch == Ref()
        # A pass keeps its pixels and one group of weights in the cache, if one pixel fits at all.
        assert p.tile_pixels == 4 or (p.tile_pixels + 4) * window <= DATA_CACHE_BYTES
    if kernel is Kernel.SIMD_CONV_1X1:
        assert is_pointwise(p)
    if kernel is Kernel.SIMD_FULLY_CONNECTED:
        assert p.input_height == p.input_width == p.output_height == p.output_width == 1


def check_step(step: Step) -> None:
    if step.kernel.where is not Where.SIMD:
        return
    for name in ALIGNED:
        assert getattr(step.params, name, Ref()).offset % 4 == 0
    if isinstance(step.params, Conv):
        check_conv(step.kernel, step.params)
    elif isinstance(step.params, Pool):
        assert step.params.channels % 4 == 0
    elif isinstance(step.params, Elementwise):
        sizes = {step.params.input_1.bytes, step.params.input_2.bytes, step.params.output.bytes}
        assert len(sizes) == 1


@pytest.mark.parametrize("seed", range(30))
def test_steps_keep_the_conditions(seed: int) -> None:
    for step in compile_model(random_networks.network(seed).model, "simd").steps:
        check_step(step)


@pytest.mark.parametrize("operator", random_models.OPERATORS)
def test_operators_keep_the_conditions(operator: str) -> None:
    for seed in range(20):
        for step in compile_model(
            random_models.single_operator(operator, seed).model, "simd"
        ).steps:
            check_step(step)


@pytest.mark.parametrize("operator", random_models.OPERATORS)
def test_baseline_is_portable(operator: str) -> None:
    for seed in range(5):
        program = compile_model(random_models.single_operator(operator, seed).model, "baseline")
        assert all(step.kernel.where is Where.CPU for step in program.steps)


@pytest.mark.parametrize("operator", random_models.OPERATORS)
def test_layers_cost_as_much_before_memory_is_allocated(operator: str) -> None:
    """The sizes of tensors count when it is decided who computes a layer."""
    for seed in range(5):
        stages = compile_stages(random_models.single_operator(operator, seed).model, "simd")
        predict = layer_cycles(stages.network, CONFIGS["simd"])
        expected = [0] * len(stages.network.layers)
        for step in stages.program.steps:
            expected[step.layer] += cpu_cycles(step)
        assert [predict(position) for position in range(len(expected))] == expected


def used(program: Program) -> dict[str, int]:
    return dict(Counter(step.kernel.name for step in program.steps))


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        (
            "person_detect",
            {
                "SIMD_CONV": 1,
                "SIMD_DEPTHWISE_CONV": 13,
                "SIMD_CONV_1X1": 14,
                "AVERAGE_POOL": 1,
                "SOFTMAX": 1,
            },
        ),
        (
            "mlperf_pretrainedResnet_quant",
            {
                "SIMD_CONV": 9,
                "SIMD_ADD": 3,
                "AVERAGE_POOL": 1,
                "SIMD_FULLY_CONNECTED": 1,
                "SOFTMAX": 1,
            },
        ),
    ],
)
def test_public_models_use_the_instructions(name: str, expected: dict[str, int], zoo_model) -> None:
    program = compile_model(zoo_model(name), "simd")
    assert used(program) == expected
    for step in program.steps:
        check_step(step)
    assert all(
        s.kernel.where is Where.CPU for s in compile_model(zoo_model(name), "baseline").steps
    )


def test_depthwise_of_one_channel_is_a_convolution() -> None:
    builder = ModelBuilder()
    x = builder.tensor((1, 4, 4, 1), scale=0.5)
    values = np.arange(2 * 3 * 5, dtype=np.int8).reshape(1, 2, 3, 5)
    weights = builder.tensor(values.shape, scale=0.1, data=values)
    y = builder.tensor((1, 4, 4, 5), scale=0.5)
    builder.operator(
        "DEPTHWISE_CONV_2D", [x, weights], [y], depthMultiplier=5, padding=0, strideH=1, strideW=1
    )
    program = compile_model(builder.build([x], [y]), "simd")
    (step,) = program.steps
    assert step.kernel is Kernel.SIMD_CONV
    check_step(step)
    ref = step.params.weights
    packed = np.frombuffer(program.constants, np.int8)[ref.offset : ref.offset + ref.bytes]
    # Output channel c sees values[0, :, :, c].
    assert np.array_equal(unpack_conv(packed, 5, 6), values.reshape(6, 5).T)


def test_strided_pixels_are_not_pointwise() -> None:
    builder = ModelBuilder()
    x, y = builder.tensor((1, 1, 1, 4), scale=0.5), builder.tensor((1, 1, 1, 4), scale=0.5)
    weights = builder.tensor((4, 1, 1, 4), scale=0.1, data=np.ones((4, 1, 1, 4)))
    builder.operator("CONV_2D", [x, weights], [y], padding=0, strideH=2, strideW=2)
    (step,) = compile_model(builder.build([x], [y]), "simd").steps
    assert step.kernel is Kernel.SIMD_CONV
    check_step(step)


def test_configurations_differ_in_kernels_only() -> None:
    model = random_networks.network(3).model
    programs = [compile_model(model, config) for config in CONFIGS]
    assert len({tuple((x.index, x.macs, x.shape) for x in p.layers) for p in programs}) == 1
    assert len({p.config_hash for p in programs}) == len(CONFIGS)
