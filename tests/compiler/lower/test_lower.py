"""Lowering: what becomes of operators."""

import csv

import numpy as np
import pytest

from kiwicha.compiler import compile_stages
from kiwicha.contract import configs
from kiwicha.contract.program import Kernel, Where
from kiwicha.sim.reference import executor as reference
from tests.support import requirements
from tests.support.models.tflite_builder import ModelBuilder


def padded_conv(
    amounts: list[list[int]],
    *,
    kernel: int = 3,
    padding: int = 1,
    is_depthwise: bool = False,
    keeps_padded: bool = False,
) -> bytes:
    """Return PAD followed by a convolution; 1 is VALID."""
    builder = ModelBuilder()
    shape = (1, 6, 5, 4)
    wide = tuple(size + sum(pair) for size, pair in zip(shape, amounts, strict=True))
    x = builder.tensor(shape, name="x", scale=0.5, zero_point=-7)
    table = builder.tensor((4, 2), np.int32, data=np.array(amounts))
    middle = builder.tensor(wide, name="middle", scale=0.5, zero_point=-7)
    channels = wide[3]
    weights_shape = (1, kernel, kernel, channels) if is_depthwise else (3, kernel, kernel, channels)
    values = np.random.default_rng(1).integers(-127, 128, weights_shape, np.int8)
    weights = builder.tensor(weights_shape, scale=0.1, data=values)
    cut = kernel - 1 if padding == 1 else 0
    outputs = (wide[0], wide[1] - cut, wide[2] - cut, channels if is_depthwise else 3)
    y = builder.tensor(outputs, name="y", scale=30.0, zero_point=3)
    options = {"padding": padding, "strideH": 1, "strideW": 1}
    builder.operator("PAD", [x, table], [middle])
    if is_depthwise:
        builder.operator("DEPTHWISE_CONV_2D", [middle, weights], [y], depthMultiplier=1, **options)
    else:
        builder.operator("CONV_2D", [middle, weights], [y], **options)
    return builder.build([x], [y, middle] if keeps_padded else [y])


SPATIAL = [[0, 0], [2, 1], [0, 2], [0, 0]]


def kernels(model: bytes, config: str = "baseline") -> list[Kernel]:
    return [step.kernel for step in compile_stages(model, config).program.steps]


@pytest.mark.parametrize("config", configs.CONFIGS)
@pytest.mark.parametrize("is_depthwise", [False, True])
def test_pad_folds_into_the_convolution(is_depthwise: bool, config: str) -> None:
    folded = compile_stages(padded_conv(SPATIAL, is_depthwise=is_depthwise), config)
    (step,) = folded.program.steps
    assert (step.params.pad_top, step.params.pad_left) == (2, 0)
    assert (step.params.input_height, step.params.input_width) == (6, 5)
    assert [layer.where is Where.NONE for layer in folded.program.layers] == [True, False]
    # The same model with PAD as a step of its own, because its result is an output, too.
    whole = compile_stages(
        padded_conv(SPATIAL, is_depthwise=is_depthwise, keeps_padded=True), config
    )
    assert whole.program.steps[0].kernel is Kernel.COPY
    values = np.random.default_rng(2).integers(-128, 128, (1, 6, 5, 4), np.int8)
    (got,) = reference.run(folded.program, [values])
    expected, _ = reference.run(whole.program, [values])
    assert np.array_equal(got, expected)
    assert len(np.unique(got)) > 10


@pytest.mark.parametrize(
    "model",
    [
        padded_conv(SPATIAL, keeps_padded=True),
        padded_conv(SPATIAL, padding=0),
        padded_conv([[0, 0], [1, 1], [1, 1], [0, 4]]),
        padded_conv([[1, 0], [1, 1], [1, 1], [0, 0]]),
        padded_conv([[0, 0], [0, 3], [0, 0], [0, 0]]),
    ],
    ids=["is an output", "SAME", "channels", "batch", "wider than the kernel"],
)
def test_other_pads_stay(model: bytes) -> None:
    *before, last = kernels(model)
    assert set(before) == {Kernel.COPY}
    assert last is Kernel.CONV


def reshaped(*, is_constant: bool) -> bytes:
    builder = ModelBuilder()
    x = builder.tensor((1, 6), name="x", scale=0.5)
    source = builder.tensor((2, 3), scale=0.5, data=np.arange(6)) if is_constant else x
    middle = builder.tensor((6, 1), scale=0.5)
    y = builder.tensor((3, 2), name="y", scale=0.5)
    other = builder.tensor((1, 6), name="other", scale=0.5)
    z = builder.tensor((1, 6), name="z", scale=0.5)
    builder.operator("RESHAPE", [source], [middle])
    builder.operator("RESHAPE", [middle], [y])
    builder.operator("ADD", [x, other], [z])
    return builder.build([x, other], [y, z])


def test_reshape_is_no_step() -> None:
    program = compile_stages(reshaped(is_constant=False), "simd").program
    assert [step.kernel for step in program.steps] == [Kernel.SIMD_ADD]
    assert program.outputs[0].ref == program.inputs[0].ref
    assert program.outputs[0].shape == (3, 2)
    y, z = reference.run(program, [np.arange(6, dtype=np.int8)] * 2)
    assert y.ravel().tolist() == [0, 1, 2, 3, 4, 5]
    assert z.ravel().tolist() == [0, 2, 4, 6, 8, 10]


def test_reshape_of_a_constant_output_is_a_copy() -> None:
    program = compile_stages(reshaped(is_constant=True), "simd").program
    assert [step.kernel for step in program.steps] == [Kernel.COPY, Kernel.SIMD_ADD]
    y, _ = reference.run(program, [np.zeros(6, np.int8)] * 2)
    assert y.ravel().tolist() == [0, 1, 2, 3, 4, 5]


def test_missing_bias_is_zero() -> None:
    (step,) = compile_stages(padded_conv(SPATIAL), "baseline").program.steps
    program = compile_stages(padded_conv(SPATIAL), "baseline").program
    ref = step.params.bias
    assert ref.bytes == 12
    assert not any(program.constants[ref.offset : ref.offset + ref.bytes])


def catalogue() -> list[tuple[str, int]]:
    path = requirements.SHARED_MODELS / "models.csv"
    if not path.exists():
        return []
    with path.open(newline="") as file:
        return [
            (row["file"].removesuffix(".tflite"), int(row["macs"]))
            for row in csv.DictReader(file)
            if "INT8 " in row["inputs"] and "UINT8" not in row["inputs"]
        ]


@pytest.mark.parametrize(("name", "macs"), catalogue())
@pytest.mark.parametrize("config", configs.CONFIGS)
def test_macs_of_public_models(name: str, macs: int, config: str, zoo_model) -> None:
    program = compile_stages(zoo_model(name), config).program
    assert sum(layer.macs for layer in program.layers) == macs
