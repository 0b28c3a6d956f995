"""The placement that the documents promise: engine for images, CPU for the rest."""

from typing import Any

import numpy as np
import pytest
from support import random_models, random_moves
from support.tflite_builder import ModelBuilder

from kiwicha.compiler import compile_model, supported_operators
from kiwicha.compiler.engine_operators import ENGINE_OPERATORS
from kiwicha.isa import ENGINE_CONFIGS
from kiwicha.isa_program import Where

IMAGE = (1, 6, 5, 16)
OUTPUTS = {"LOGISTIC": (1 / 256, -128), "TANH": (1 / 128, 0)}
WINDOW = {"padding": 1, "strideH": 1, "strideW": 1}
WEIGHTS = {"CONV_2D": (8, 3, 3, 16), "DEPTHWISE_CONV_2D": (1, 3, 3, 32), "FULLY_CONNECTED": (8, 16)}
TWO_TENSORS = ("ADD", "SUB", "MUL")
ONE_NUMBER = ("ADD", "SUB", "MUL", "MAXIMUM", "MINIMUM", "PRELU")


class Image:
    """A model of one operator on an image."""

    def __init__(self, operator: str, images: int = 1) -> None:
        self.operator = operator
        self.builder = ModelBuilder()
        self.inputs = [self.builder.tensor((images, *IMAGE[1:]), scale=0.5)]

    def build(self, output: tuple[int, ...] = IMAGE, *operands: int, **options: Any) -> bytes:
        """Add the operator."""
        scale, zero_point = OUTPUTS.get(self.operator, (0.5, 0))
        y = self.builder.tensor(output, scale=scale, zero_point=zero_point)
        self.builder.operator(self.operator, [*self.inputs, *operands], [y], **options)
        return self.builder.build(self.inputs, [y])

    def constant(self, shape: tuple[int, ...], **changes: Any) -> int:
        """Add a constant of int8."""
        data = np.random.default_rng(0).integers(-50, 50, shape, np.int8)
        return self.builder.tensor(shape, **{"scale": 0.5, "data": data} | changes)


def images(operator: str) -> list[bytes]:
    """Give models of an operator that the documents promise to the engine."""
    image = Image(operator)
    if operator in WEIGHTS:
        shape = WEIGHTS[operator]
        weights = image.constant(shape)
        if operator == "CONV_2D":
            two = Image(operator, images=2)
            several = two.build((2, 4, 3, 8), two.constant(shape), **WINDOW)
            return [image.build((1, 4, 3, 8), weights, **WINDOW), several]
        if operator == "DEPTHWISE_CONV_2D":
            return [image.build((1, 4, 3, 32), weights, depthMultiplier=2, **WINDOW)]
        return [image.build((30, 8), weights)]
    if operator.endswith("_POOL_2D"):
        kernel = {"filterHeight": 3, "filterWidth": 3}
        same = Image(operator).build((1, 3, 3, 16), padding=0, strideH=2, strideW=2, **kernel)
        return [image.build((1, 4, 3, 16), **kernel, **WINDOW), same]
    if operator in {"MEAN", "SUM"}:
        axes = image.builder.tensor((2,), np.int32, data=np.array([1, 2], np.int32))
        return [image.build((1, 16), axes, keepDims=False)]
    models = []
    if operator in ONE_NUMBER:
        models.append(image.build(IMAGE, image.constant((1,))))
    if operator in TWO_TENSORS:
        pair = Image(operator)
        pair.inputs.append(pair.builder.tensor(IMAGE, scale=0.25, zero_point=3))
        models.append(pair.build())
        pixel = Image(operator)
        pixel.inputs.insert(0, pixel.builder.tensor((1, 1, 1, 16), scale=0.25, zero_point=3))
        models.append(pixel.build())
        channels = Image(operator)
        models.append(channels.build(IMAGE, channels.constant((16,), zero_point=-60)))
    return models or [image.build(alpha=0.1) if operator == "LEAKY_RELU" else image.build()]


@pytest.mark.parametrize("config", ENGINE_CONFIGS)
@pytest.mark.parametrize("operator", ENGINE_OPERATORS)
def test_images_are_for_the_engine(operator: str, config: str) -> None:
    for model in images(operator):
        (layer,) = compile_model(model, config).layers
        assert layer.where is Where.ENGINE


GENERATORS = {
    **dict.fromkeys(random_models.OPERATORS, random_models.single_operator),
    **dict.fromkeys(random_moves.OPERATORS, random_moves.single_operator),
}


@pytest.mark.parametrize("operator", sorted({*GENERATORS} - {*ENGINE_OPERATORS}))
def test_other_operators_are_for_the_cpu(operator: str) -> None:
    layers = [
        layer
        for seed in range(6)
        for layer in compile_model(GENERATORS[operator](operator, seed).model, "64").layers
        if layer.operator not in ENGINE_OPERATORS
    ]
    assert layers
    assert all(layer.where is not Where.ENGINE for layer in layers)


def test_the_table_is_about_operators_that_exist() -> None:
    assert {*ENGINE_OPERATORS} < {*supported_operators()}
