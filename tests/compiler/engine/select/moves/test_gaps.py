"""Convolutions with odd numbers of channels that others want without gaps between pixels."""

import numpy as np
import pytest

from kiwicha.compiler import compile_stages
from kiwicha.contract.program import Kernel, Where
from kiwicha.sim.reference import executor as reference
from tests.support.models.tflite_builder import ModelBuilder
from tests.support.oracle import oracle

SIZE = 6


def heads(
    channels: tuple[int, ...], seed: int, *, has_one_scale: bool, is_joined: bool
) -> oracle.Case:
    """Give a uint8 model: convolutions of one input, joined along their pixels or not."""
    rng = np.random.default_rng(seed)
    builder = ModelBuilder()
    x = builder.tensor((1, SIZE, SIZE, 8), np.uint8, scale=0.05, zero_point=99)
    parts, outputs = [], []
    for number, count in enumerate(channels):
        weights = rng.integers(0, 256, (count, 1, 1, 8)).astype(np.uint8)
        bias = rng.integers(-900, 900, count).astype(np.int32)
        operands = [
            x,
            builder.tensor(weights.shape, np.uint8, scale=0.01, zero_point=77, data=weights),
            builder.tensor((count,), np.int32, scale=0.05 * 0.01, data=bias),
        ]
        scale = 0.02 if has_one_scale else 0.02 + 0.003 * number
        point = 128 if has_one_scale else 128 - 9 * number
        quantization = {"scale": scale, "zero_point": point}
        y = builder.tensor((1, SIZE, SIZE, count), np.uint8, **quantization)
        builder.operator("CONV_2D", operands, [y], padding=1, strideH=1, strideW=1)
        outputs.append(y)
        shape = (1, SIZE * SIZE * count // channels[0], channels[0])
        parts.append(builder.tensor(shape, np.uint8, **quantization))
        if is_joined:
            new_shape = np.array(shape, np.int32)
            builder.operator("RESHAPE", [y], [parts[-1]], newShape=new_shape)
    if is_joined:
        rows = sum(SIZE * SIZE * count // channels[0] for count in channels)
        joined = builder.tensor((1, rows, channels[0]), np.uint8, scale=0.02, zero_point=128)
        builder.operator("CONCATENATION", parts, [joined], axis=1)
        result = builder.tensor((1, rows, channels[0]), np.uint8, scale=1 / 256, zero_point=0)
        builder.operator("LOGISTIC", [joined], [result])
        outputs = [result]
    image = rng.integers(0, 256, (1, SIZE, SIZE, 8)).astype(np.uint8)
    return oracle.Case(builder.build([x], outputs), (image,))


@pytest.mark.parametrize("is_joined", [True, False], ids=["joined", "apart"])
@pytest.mark.parametrize("has_one_scale", [True, False], ids=["one_scale", "scales"])
@pytest.mark.parametrize("channels", [(5, 10, 15), (9, 18), (8, 16, 24), (13,)], ids=str)
def test_heads(channels: tuple[int, ...], has_one_scale: bool, is_joined: bool) -> None:
    case = heads(channels, len(channels), has_one_scale=has_one_scale, is_joined=is_joined)
    (answer,) = oracle.ask([case], oracle.LITERT)
    assert answer.outputs is not None, answer.error
    for config in ("32", "64", "128"):
        stages = compile_stages(case.model, config)
        where = {layer.operator: layer.where for layer in stages.program.layers}
        assert where["CONV_2D"] is Where.ENGINE
        found = reference.run(stages.program, case.inputs)
        for expected, actual in zip(answer.outputs, found, strict=True):
            np.testing.assert_array_equal(actual, expected)


def test_the_cpu_copies_nothing() -> None:
    case = heads((5, 10, 15), 0, has_one_scale=False, is_joined=True)
    kernels = [step.kernel for step in compile_stages(case.model, "64").program.steps]
    assert set(kernels) == {Kernel.ENGINE}
