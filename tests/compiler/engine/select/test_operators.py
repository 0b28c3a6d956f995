"""The placement that the documents promise: engine for images, CPU for the rest."""

import random
from typing import Any

import numpy as np
import pytest

from kiwicha.compiler import compile_model, compile_stages, supported_operators
from kiwicha.compiler.engine.select.limits import ENGINE_OPERATORS
from kiwicha.compiler.engine.select.recurrent import RECURRENT_OPERATORS
from kiwicha.compiler.engine.select.select import select
from kiwicha.compiler.reasons import engine_refusals
from kiwicha.compiler.tflite.operators import Family, of_family
from kiwicha.compiler.tflite.variables import ASSIGN, READ
from kiwicha.contract.configs import ENGINE_CONFIGS
from kiwicha.contract.program import Where
from tests.support.models import random_models, random_moves
from tests.support.models.random_layers import RandomModel
from tests.support.models.recurrent import RecurrentModel
from tests.support.models.streaming import STREAMING
from tests.support.models.tflite_builder import ModelBuilder

IMAGE = (1, 6, 5, 16)
OUTPUTS = {
    "LOG_SOFTMAX": (1 / 16, 127),
    "LOGISTIC": (1 / 256, -128),
    "SOFTMAX": (1 / 256, -128),
    "TANH": (1 / 128, 0),
}
OPTIONS = {"LEAKY_RELU": {"alpha": 0.1}, "SOFTMAX": {"beta": 1.0}}
"""Of operators on one tensor."""
WINDOW = {"padding": 1, "strideH": 1, "strideW": 1}
WEIGHTS = {"CONV_2D": (8, 3, 3, 16), "DEPTHWISE_CONV_2D": (1, 3, 3, 32), "FULLY_CONNECTED": (8, 16)}
TWO_TENSORS = ("ADD", "SUB", "MUL")
MOVES = tuple(sorted({*of_family(Family.MOVE)} - {*of_family(Family.RESHAPE)}))
VARIABLES = of_family(Family.VARIABLE)
OTHERS = {"BATCH_MATMUL", "DIV", "SVDF"}
"""Of the engine's, with tests of their own."""
ONE_NUMBER = ("ADD", "SUB", "MUL", "MAXIMUM", "MINIMUM", "PRELU", "SQUARED_DIFFERENCE")


class Image:
    """A model of one operator on an image."""

    def __init__(self, operator: str, images: int = 1) -> None:
        self.operator = operator
        self.builder = ModelBuilder()
        self.inputs = [self.builder.tensor((images, *IMAGE[1:]), scale=0.5)]
        self.first: tuple[int, ...] = ()
        """Constants in front of the inputs."""

    def build(self, output: tuple[int, ...] = IMAGE, *operands: int, **options: Any) -> bytes:
        """Add the operator."""
        scale, zero_point = OUTPUTS.get(self.operator, (0.5, 0))
        y = self.builder.tensor(output, scale=scale, zero_point=zero_point)
        if self.operator == "DEQUANTIZE":
            y = self.builder.tensor(output, np.float32)
        self.builder.operator(self.operator, [*self.first, *self.inputs, *operands], [y], **options)
        return self.builder.build(self.inputs, [y])

    def constant(self, shape: tuple[int, ...], **changes: Any) -> int:
        """Add a constant of int8."""
        data = np.random.default_rng(0).integers(-50, 50, shape, np.int8)
        return self.builder.tensor(shape, **{"scale": 0.5, "data": data} | changes)


def transposed(image: Image) -> bytes:
    """Give a model of a TRANSPOSE_CONV to an image of twice as many rows and columns."""
    output = (1, 2 * IMAGE[1], 2 * IMAGE[2], 8)
    size = image.builder.tensor((4,), np.int32, data=np.array(output, np.int32))
    image.first = (size, image.constant((8, 3, 3, 16)))
    return image.build(output, padding=0, strideH=2, strideW=2)


def images(operator: str) -> list[bytes]:
    """Give models of an operator that the documents promise to the engine."""
    image = Image(operator)
    if operator == "TRANSPOSE_CONV":
        return [transposed(image)]
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
    models = []
    if operator == "RESIZE_BILINEAR":
        size = image.builder.tensor((2,), np.int32, data=np.array([12, 10], np.int32))
        models = [image.build((1, 12, 10, 16), size)]
    if operator.endswith("_POOL_2D"):
        kernel = {"filterHeight": 3, "filterWidth": 3}
        same = Image(operator).build((1, 3, 3, 16), padding=0, strideH=2, strideW=2, **kernel)
        models = [image.build((1, 4, 3, 16), **kernel, **WINDOW), same]
    if operator in {"ARG_MAX", "ARG_MIN"}:
        axis = image.builder.tensor((1,), np.int32, data=np.array([3], np.int32))
        y = image.builder.tensor(IMAGE[:3], np.int32)
        image.builder.operator(operator, [*image.inputs, axis], [y], outputType=2)
        models = [image.builder.build(image.inputs, [y])]
    if operator in {"MEAN", "SUM", "REDUCE_MAX", "REDUCE_MIN"}:
        axes = image.builder.tensor((2,), np.int32, data=np.array([1, 2], np.int32))
        models = [image.build((1, 16), axes, keepDims=False)]
    if operator in {"CAST", "REDUCE_ALL", "REDUCE_ANY"}:
        flags = Image(operator)
        flags.inputs = [flags.builder.tensor(IMAGE, np.bool_)]
        axes = flags.builder.tensor((2,), np.int32, data=np.array([1, 2], np.int32))
        is_cast = operator == "CAST"
        kept = flags.builder.tensor(IMAGE if is_cast else (1, 16), np.int8 if is_cast else np.bool_)
        flags.builder.operator(operator, [*flags.inputs, *([] if is_cast else [axes])], [kept])
        models = [flags.builder.build(flags.inputs, [kept])]
    if operator == "QUANTIZE":
        floats = Image(operator)
        floats.inputs = [floats.builder.tensor(IMAGE, np.float32)]
        models = [floats.build(), image.build()]
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
    return models or [image.build(**OPTIONS.get(operator, {}))]


@pytest.mark.parametrize("config", ENGINE_CONFIGS)
@pytest.mark.parametrize(
    "operator",
    sorted({*ENGINE_OPERATORS} - {*MOVES} - {*VARIABLES} - {*RECURRENT_OPERATORS} - OTHERS),
)
def test_images_are_for_the_engine(operator: str, config: str) -> None:
    name = config
    if operator in ("LOG_SOFTMAX", "SOFTMAX") and not ENGINE_CONFIGS[config].has_softmax:
        name += "-softmax"
    for model in images(operator):
        (layer,) = compile_model(model, name).layers
        assert layer.where is Where.ENGINE


@pytest.mark.parametrize("config", ENGINE_CONFIGS)
def test_lstms_are_for_engines_with_steps_of_them(config: str) -> None:
    model = RecurrentModel(random.Random("steps"))
    x = model.tensor((2, 5, 12), scale=0.02)
    y = model.lstm(x, units=9, is_time_major=False)
    raw = model.build([x], [y])
    for name in (config, f"{config}-recurrent"):
        (layer,) = compile_model(raw, name).layers
        assert (layer.where is Where.ENGINE) is (name != config)


@pytest.mark.parametrize("config", ENGINE_CONFIGS)
def test_bytes_divided_by_a_constant_are_for_the_engine(config: str) -> None:
    builder = ModelBuilder("quotients")
    x, y = (builder.tensor(IMAGE, scale=scale) for scale in (0.25, 0.02))
    divisor = builder.tensor((), scale=0.5, data=np.array(25, np.int8))
    builder.operator("DIV", [x, divisor], [y])
    (layer,) = compile_model(builder.build([x], [y]), config).layers
    assert layer.where is Where.ENGINE


@pytest.mark.parametrize("is_constant", [False, True])
@pytest.mark.parametrize("batches", [1, 2])
@pytest.mark.parametrize("config", ENGINE_CONFIGS)
def test_products_are_for_the_engine(config: str, batches: int, is_constant: bool) -> None:
    model = RandomModel(random.Random("products"))
    x = model.input((batches, 25, 32))
    other = (model.constant if is_constant else model.input)((batches, 32, 24))
    model.product(x, other, is_first_adjoint=False, is_second_adjoint=False)
    layers = compile_model(model.case().model, config).layers
    (place,) = {layer.where for layer in layers if layer.operator == "BATCH_MATMUL"}
    assert place is Where.ENGINE


def test_products_are_for_the_cpu_where_it_is_faster() -> None:
    model = RandomModel(random.Random("small products"))
    x, other = model.input((1, 4, 8)), model.input((1, 8, 4))
    model.product(x, other, is_first_adjoint=False, is_second_adjoint=False)
    stages = compile_stages(model.case().model, "64")
    decisions = select(stages.network, stages.config, cpu_cycles=lambda position: 500).decisions
    assert decisions[-1].why_not.startswith("it takes 500 cycles there, and some ")
    decisions = select(stages.network, stages.config, cpu_cycles=lambda position: 5000).decisions
    assert decisions[-1].chosen is not None


@pytest.mark.parametrize("has_shorts", [False, True])
@pytest.mark.parametrize("config", ENGINE_CONFIGS)
def test_filters_of_bytes_are_for_the_engine(config: str, has_shorts: bool) -> None:
    model = RecurrentModel(random.Random("filters"))
    x = model.tensor((1, 40), scale=0.02, zero_point=-7)
    y = model.svdf(x, units=16, rank=1, steps=8, has_shorts=has_shorts)
    layers = compile_model(model.build([x], [y]), config).layers
    places = {layer.where for layer in layers if layer.operator == "SVDF"}
    assert places == {Where.CPU if has_shorts else Where.ENGINE}


@pytest.mark.parametrize("operator", sorted({*random_moves.OPERATORS} & {*MOVES}))
def test_moves_are_for_the_engine(operator: str) -> None:
    """But for what breaks a limit, which is then named."""
    found = 0
    for seed in range(12):
        case = random_moves.single_operator(operator, seed)
        compilation = compile_stages(case.model, "64")
        refused = engine_refusals(compilation)
        for position, layer in enumerate(compilation.program.layers):
            if layer.operator != operator or layer.where is Where.NONE:
                continue
            assert layer.where is Where.ENGINE or refused[position]
            found += layer.where is Where.ENGINE
    assert found


Kernel = tuple[int, int]


def depthwise(
    channels: int, kernel: Kernel, dilation: int = 1, multiplier: int = 1, side: int = 3
) -> bytes:
    """Give a model of a DEPTHWISE_CONV_2D with ``side`` x ``side`` outputs."""
    builder = ModelBuilder()
    sizes = [side + (size - 1) * dilation for size in kernel]
    x = builder.tensor((1, *sizes, channels), scale=0.02)
    outputs = channels * multiplier
    weights = np.random.default_rng(0).integers(-50, 50, (1, *kernel, outputs), np.int8)
    w = builder.tensor(weights.shape, scale=0.01, data=weights)
    y = builder.tensor((1, side, side, outputs), scale=0.05)
    options = {"dilationHFactor": dilation, "dilationWFactor": dilation}
    options |= {"depthMultiplier": multiplier, **WINDOW}
    builder.operator("DEPTHWISE_CONV_2D", [x, w], [y], **options)
    return builder.build([x], [y])


def conv(channels: int, kernel: Kernel, outputs: int, groups: int = 1) -> bytes:
    """Give a model of a CONV_2D with 3 x 3 outputs."""
    builder = ModelBuilder()
    x = builder.tensor((1, *(size + 2 for size in kernel), channels), scale=0.02)
    shape = (outputs, *kernel, channels // groups)
    weights = np.random.default_rng(0).integers(1, 50, shape, np.int8)
    w = builder.tensor(shape, scale=0.01, data=weights)
    bias = builder.tensor((outputs,), np.int32, scale=0.0002, data=np.zeros(outputs, np.int32))
    y = builder.tensor((1, 3, 3, outputs), scale=0.05)
    builder.operator("CONV_2D", [x, w, bias], [y], **WINDOW)
    return builder.build([x], [y])


LIMITS = {
    "dense, 2048 weights": (conv(2048, (1, 1), 16), True),
    "dense, 2056 weights": (conv(2056, (1, 1), 16), True),
    "dense, 2016 weights": (conv(224, (3, 3), 16), True),
    "dense, 2088 weights": (conv(232, (3, 3), 16), True),
    "groups of 16 of 256 channels": (conv(256, (3, 3), 256, groups=16), True),
    "groups of 232 of 464 channels": (conv(464, (3, 3), 16, groups=2), True),
    "255 rows": (conv(8, (255, 1), 8), True),
    "256 rows": (conv(8, (256, 1), 8), True),
    "8 columns": (depthwise(96, (8, 8)), True),
    "9 columns": (depthwise(32, (9, 9)), True),
    "9 columns of 232 channels": (depthwise(232, (1, 9)), True),
    "256 elements": (depthwise(16, (16, 16)), True),
    "272 elements": (depthwise(16, (17, 16)), True),
    "two outputs of 256 channels": (depthwise(256, (3, 3), multiplier=2), True),
    "two outputs of 256 elements": (depthwise(16, (16, 16), multiplier=2), True),
    "two outputs of 272 elements": (depthwise(16, (17, 16), multiplier=2), True),
    "dilated, 960 channels": (depthwise(960, (3, 3), dilation=2), True),
    "dilated, 9 columns of 96 channels": (depthwise(96, (5, 5), dilation=2), True),
    "dilated, more than the scratchpad": (depthwise(960, (3, 3), dilation=4), True),
    "channels that are not whole": (depthwise(100, (5, 5), dilation=2), True),
}
"""Layers on both sides of each limit, and whether they are the engine's."""


@pytest.mark.parametrize("config", ENGINE_CONFIGS)
@pytest.mark.parametrize("name", LIMITS)
def test_limits_of_convolutions(name: str, config: str) -> None:
    model, is_for_engine = LIMITS[name]
    (layer,) = compile_model(model, config).layers
    assert (layer.where is Where.ENGINE) == is_for_engine


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
    assert not any(layer.where is Where.ENGINE for layer in layers)


@pytest.mark.parametrize(("kind", "operator"), [("total", ASSIGN), ("delay", READ)])
def test_variables_are_for_the_engine(kind: str, operator: str) -> None:
    found = [
        layer.where
        for seed in range(6)
        for layer in compile_model(STREAMING[kind](random.Random(f"{seed}")).model, "64").layers
        if layer.operator == operator
    ]
    assert Where.ENGINE in found
    assert {*found} <= {Where.ENGINE, Where.NONE}


def test_the_table_is_about_operators_that_exist() -> None:
    assert {*ENGINE_OPERATORS} < {*supported_operators()}
