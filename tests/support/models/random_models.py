"""Random models of one operator, and random networks, with inputs for them."""

import itertools
import math
import random
from collections.abc import Callable
from typing import Any

from tests.support.models.random_layers import FUNCTIONS, UNARIES, RandomModel
from tests.support.models.random_tensors import Shape
from tests.support.oracle.oracle import LITERT, MICRO, Case, Interpreter

__all__ = [
    "LITERT_OPERATORS",
    "OPERATORS",
    "SIGNED_OPERATORS",
    "engine_network",
    "long_sums",
    "network",
    "network_of_types",
    "operator_on_constants",
    "pools",
    "separate_channels",
    "single_operator",
    "transposed",
]


def single_operator(
    operator: str, seed: int, *, is_unsigned: bool = False, has_bias: bool = False
) -> Case:
    """Return a model of one operator and its inputs, always the same for one seed.

    Layers with weights have a bias mostly, and always with ``has_bias``: LiteRT refuses some
    without.
    """
    rng = random.Random(f"{operator}{seed}")
    model = RandomModel(rng, **_type_of(operator, is_unsigned), has_bias=has_bias)
    OPERATORS[operator](model)
    return model.case()


def _type_of(operator: str, is_unsigned: bool) -> dict[str, Any]:
    """Return the type in which an operator exists, the other one if need be, and who defines it."""
    interpreter: Interpreter | None = None
    if operator in SIGNED_OPERATORS:
        is_unsigned, interpreter = False, MICRO
    if operator in LITERT_OPERATORS:
        interpreter = LITERT
    return {"is_unsigned": is_unsigned, "interpreter": interpreter}


def operator_on_constants(operator: str, seed: int, *, is_unsigned: bool = False) -> Case:
    """Return a model of one operator on constants; what it gives is added to an input."""
    rng = random.Random(f"constants{operator}{seed}")
    model = RandomModel(rng, **_type_of(operator, is_unsigned), has_fixed_inputs=True)
    OPERATORS[operator](model)
    model.add_to_input()
    return model.case()


def network(seed: int, *, is_unsigned: bool = False) -> Case:
    """Return a model with branches, as image classifiers have them, and its input."""
    rng = random.Random(f"network{seed}")
    model = RandomModel(rng, is_unsigned=is_unsigned)
    size, channels = rng.randint(5, 20), rng.randint(1, 6)
    x = model.input((1, size, rng.randint(5, 20), channels))
    x = _steps(model, x, rng.randint(2, 6))
    x = model.mean(x, axes=[1, 2], keep=False) if rng.random() < 0.5 else model.flatten(x)
    x = model.fully_connected(x, outputs=rng.randint(2, 12))
    model.softmax(x)
    return model.case()


def network_of_types(seed: int, *, parts: int, is_unsigned: bool) -> Case:
    """Return a model whose parts are of int8 and uint8 in turn, with a QUANTIZE between two.

    The first and the last part are nothing but the model's input and output.
    """
    rng = random.Random(f"types{seed}")
    model = RandomModel(rng, is_unsigned=is_unsigned)
    x = model.input((1, rng.randint(5, 12), rng.randint(5, 12), rng.choice([1, 3, 8])))
    for _ in range(parts - 2):
        x = _steps(model, model.other_type(x), rng.randint(1, 3))
    model.other_type(x)
    return model.case()


def separate_channels(seed: int, *, is_unsigned: bool = False) -> Case:
    """Return a model with a convolution of many channels that are computed apart from each other.

    Of several outputs each, of kernels with more than 8 columns, or in groups; others may follow.
    """
    rng = random.Random(f"separate{seed}")
    model = RandomModel(rng, is_unsigned=is_unsigned)
    channels = rng.choice([32, 48, 96])
    x = model.input((rng.choice([1, 1, 2]), rng.randint(10, 14), rng.randint(10, 14), channels))
    kind = rng.choice(["multiplier", "wide", "groups"])
    if kind == "multiplier":
        x = model.depthwise(x, multiplier=rng.choice([2, 3, 5]), kernel=rng.choice([3, 4]))
    elif kind == "wide":
        x = model.depthwise(x, multiplier=1, kernel=rng.choice([9, 10]))
    else:
        groups = channels // rng.choice([1, 4, 8])
        outputs = groups * rng.choice([4, 8])
        x = model.conv(x, kernel=rng.choice([1, 3, 5]), channels=outputs, groups=groups)
    if rng.random() < 0.3:
        x = model.unary("RELU", x)
    if rng.random() < 0.3:
        model.conv(x, kernel=1, channels=16)
    return model.case()


def long_sums(seed: int, *, is_unsigned: bool = False) -> Case:
    """Return a model with a layer of thousands of products per output; others may be around it."""
    rng = random.Random(f"long{seed}")
    model = RandomModel(rng, is_unsigned=is_unsigned)
    images, outputs = rng.choice([1, 1, 2]), rng.choice([3, 8, 20, 40, 72])
    kind = rng.choice(["rows", "columns", "channels", "groups", "dense", "transposed"])
    size = rng.randint(3, 9), rng.randint(3, 9)
    if kind == "dense":
        x = model.input((images, rng.randint(2049, 7000)))
        model.fully_connected(x, outputs)
        return model.case()
    kernel, low, high = {
        "rows": (3, 230, 420),
        "columns": (rng.choice([3, 5]), 700, 1100),
        "channels": (rng.choice([1, 1, 2]), 2049, 3000),
        "groups": (3, 480, 640),
        "transposed": (3, 600, 1200),
    }[kind]
    channels = rng.randint(low, high) if rng.random() < 0.5 else rng.randint(low, high) // 8 * 8
    channels = channels // 2 * 2
    x = model.input((images, *size, channels))
    if kind == "transposed":
        x = model.transpose_conv(x)
    elif kind == "groups":
        x = model.conv(x, kernel=kernel, channels=-(-outputs // 2) * 2, groups=2)
    else:
        x = model.conv(x, kernel=kernel, channels=outputs)
    if rng.random() < 0.3:
        model.unary("RELU", x)
    return model.case()


def transposed(seed: int, *, is_unsigned: bool = False) -> Case:
    """Return a model with transposed convolutions, behind and in front of others perhaps."""
    rng = random.Random(f"transposed{seed}")
    model = RandomModel(rng, is_unsigned=is_unsigned)
    x = model.input((rng.choice([1, 1, 2]), rng.randint(1, 9), rng.randint(1, 9), 8))
    if rng.random() < 0.5:
        x = model.conv(x, kernel=1, channels=rng.choice([8, 24, 5]))
    x = model.transpose_conv(x)
    if rng.random() < 0.5:
        x = model.conv(x, kernel=rng.choice([1, 3]), channels=8)
    if rng.random() < 0.3:
        model.transpose_conv(x)
    return model.case()


def _steps(model: RandomModel, x: int, count: int) -> int:
    """Add a few layers on images, as image classifiers have them."""
    rng = model.rng
    for _ in range(count):
        kind = rng.choice(["conv", "conv", "depthwise", "residual", "pool", "pad"])
        if kind == "conv":
            x = model.conv(x)
        elif kind == "depthwise":
            x = model.conv(model.depthwise(x), kernel=1)
        elif kind == "residual":
            branch = model.conv(x, kernel=3, is_same=True)
            shortcut = model.conv(x, kernel=1, like=branch)
            x = model.elementwise(rng.choice(["ADD", "SUB", "MUL"]), branch, shortcut)
        elif kind == "pool":
            x = model.pool(rng.choice(["AVERAGE_POOL_2D", "MAX_POOL_2D"]), x)
        else:
            x = model.pad(x)
    return x


def engine_network(seed: int, *, images: int = 1) -> Case:
    """Return a model most of whose layers the engine can do, and its input.

    Between its layers are tensors of any number of channels; it ends with a single pixel of each
    image.
    """
    rng, pools = random.Random(f"engine{seed}"), random.Random(f"engine pools{seed}")
    model = RandomModel(rng, dead_share=rng.choice([0, 0, 0.3, 0.9]))
    are_whole = rng.random() < 0.6

    def channels() -> int:
        return rng.choice([8, 16, 24, 40]) if are_whole else rng.randint(1, 36)

    size = (rng.randint(6, 24), rng.randint(6, 24), rng.choice([1, 3, 8, channels()]))
    x = model.input((images, *size))
    for _ in range(rng.randint(2, 7)):
        kind = rng.choice([
            "conv",
            "conv",
            "depthwise",
            "depthwise",
            "residual",
            "pool",
            "scalar",
            "scales",
            "unary",
        ])
        if kind == "conv":
            x = model.conv(x, kernel=rng.choice([None, 1, 1, 3, 6]), channels=channels())
        elif kind == "depthwise":
            multiplier = rng.choice([1, 1, 1, 2])
            x = model.depthwise(x, multiplier=multiplier, kernel=rng.choice([None, 3, 6, 8]))
        elif kind == "residual":
            branch = model.conv(x, kernel=3, is_same=True, channels=channels())
            shortcut = model.conv(x, kernel=1, like=branch)
            x = model.elementwise(rng.choice(["ADD", "SUB", "MUL"]), branch, shortcut)
        elif kind == "pool":
            x = model.pool(pools.choice(["AVERAGE_POOL_2D", "MAX_POOL_2D"]), x)
        elif kind == "scales":
            x = _scaled_channels(model, x)
        elif kind == "unary":
            x = model.unary(rng.choice(UNARIES), x)
        else:
            operator = rng.choice(["ADD", "SUB", "MUL"])
            shape = (model.channels(x),) if rng.random() < 0.5 else (1,)
            x = model.elementwise(operator, x, model.constant(shape))
    x = model.mean(x, axes=[1, 2], keep=False)
    model.fully_connected(x, outputs=rng.randint(1, 30))
    return model.case()


def pools(seed: int) -> Case:
    """Return a model of pools, and perhaps convolutions between them, of whole groups of 8."""
    rng = random.Random(f"pools{seed}")
    model = RandomModel(rng)
    x = model.input((1, rng.randint(4, 24), rng.randint(4, 24), rng.choice([8, 16, 24])))
    for _ in range(rng.randint(1, 3)):
        x = model.pool(rng.choice(["AVERAGE_POOL_2D", "MAX_POOL_2D"]), x)
        if rng.random() < 0.3:
            x = model.conv(x, kernel=3, is_same=True, channels=rng.choice([8, 16]))
    return model.case()


def _scaled_channels(model: RandomModel, x: int) -> int:
    """Add squeeze and excitation, or something like it."""
    rng = model.rng
    scales = model.mean(x, axes=[1, 2], keep=True)
    scales = model.conv(scales, kernel=1, channels=model.channels(x))
    if rng.random() < 0.5:
        scales = model.unary(rng.choice(UNARIES), scales)
    operands = rng.sample([x, scales], 2)
    return model.elementwise(rng.choice(["ADD", "SUB", "MUL", "MUL"]), *operands)


def _fully_connected(model: RandomModel) -> None:
    rng = model.rng
    depth = rng.choice([1, 4, 16, 60, 516, rng.randint(1, 40)])
    batches = rng.randint(1, 3)
    shape = rng.choice([(batches, depth), (batches, 2, depth), (batches, 2, 3, depth)])
    model.fully_connected(model.input(shape), rng.choice([1, 3, 4, 10, rng.randint(1, 40)]))


def _elementwise(operator: str) -> Callable[[RandomModel], None]:
    def add(model: RandomModel) -> None:
        rng = model.rng
        shape = model.any_shape(4)
        a = model.input(shape)
        other = shape
        if rng.random() < 0.5:
            other = tuple(1 if rng.random() < 0.4 else size for size in shape)
            other = other[rng.randint(0, len(other) - 1) :]
        if rng.random() < 0.1:
            b = a
        else:
            b = rng.choice([model.input, model.constant])(other)
        operands = (a, b) if rng.random() < 0.5 else (b, a)
        model.elementwise(operator, *operands)

    return add


def _broadcast(model: RandomModel, shape: Shape) -> Shape:
    """Give a shape that broadcasts to another one."""
    rng = model.rng
    other = tuple(1 if rng.random() < 0.4 else size for size in shape)
    return rng.choice([shape, other[rng.randint(0, len(other) - 1) :]])


def _comparison(operator: str) -> Callable[[RandomModel], None]:
    def compare(model: RandomModel) -> None:
        shape = model.any_shape(4)
        model.compare(operator, model.input(shape), _broadcast(model, shape))

    return compare


def _prelu(model: RandomModel) -> None:
    shape = model.any_shape(4)
    model.prelu(model.input(shape), _broadcast(model, shape))


def _reduction(operator: str) -> Callable[[RandomModel], None]:
    return lambda model: _mean(model, operator)


def _mean(model: RandomModel, operator: str = "MEAN") -> None:
    rng = model.rng
    shape = model.any_shape(4, 8)
    axes = rng.sample(range(len(shape)), rng.randint(1, max(len(shape) - 1, 1)))
    axes = [axis - len(shape) if rng.random() < 0.3 else axis for axis in axes]
    model.mean(model.input(shape), axes, rng.random() < 0.5 or len(axes) == len(shape), operator)


def _unary(operator: str) -> Callable[[RandomModel], None]:
    return lambda model: model.unary(operator, model.input(model.any_shape(5)))


def _position(operator: str) -> Callable[[RandomModel], None]:
    def find(model: RandomModel) -> None:
        shape = (*model.any_shape(4), model.rng.choice([1, 2, 10, 40]))
        axis = model.rng.randrange(-len(shape), len(shape))
        model.position(operator, model.input(shape), axis)

    return find


def _float_edges(model: RandomModel) -> None:
    shape = model.any_shape(4)
    x = model.quantize_float(shape)
    if model.rng.random() < 0.5:
        x = model.unary(model.rng.choice(UNARIES), x)
    if model.rng.random() < 0.8:
        model.dequantize(x)


def _rows(model: RandomModel) -> int:
    rng = model.rng
    depth = rng.choice([1, 2, 3, 10, 30, 100, rng.randint(1, 300)])
    return model.input((*model.any_shape(3, 4), depth)[-rng.randint(2, 4) :])


def _reshape(model: RandomModel) -> None:
    shape = model.any_shape(4)
    factors = list(itertools.chain.from_iterable([size, 1] for size in shape))
    model.rng.shuffle(factors)
    model.reshape(model.input(shape), (*factors[:2], math.prod(factors[2:])))


SIGNED_OPERATORS = frozenset({"ABS", "ELU", "EXP", "LOG", "RSQRT", "SQUARED_DIFFERENCE"})
"""Those of which no interpreter has a kernel for uint8."""
LITERT_OPERATORS = frozenset({"EXP", "GELU", "LOG", "RELU_0_TO_1", "RELU_N1_TO_1"})
"""Those for whose int8, too, only LiteRT has one."""
OPERATORS: dict[str, Callable[[RandomModel], Any]] = {
    "CONV_2D": lambda model: model.conv(model.image()),
    "DEPTHWISE_CONV_2D": lambda model: model.depthwise(model.image()),
    "FULLY_CONNECTED": _fully_connected,
    "AVERAGE_POOL_2D": lambda model: model.pool("AVERAGE_POOL_2D", model.image()),
    "MAX_POOL_2D": lambda model: model.pool("MAX_POOL_2D", model.image()),
    "ADD": _elementwise("ADD"),
    "SUB": _elementwise("SUB"),
    "MUL": _elementwise("MUL"),
    "SQUARED_DIFFERENCE": _elementwise("SQUARED_DIFFERENCE"),
    "MAXIMUM": _comparison("MAXIMUM"),
    "MINIMUM": _comparison("MINIMUM"),
    "PRELU": _prelu,
    "MEAN": _reduction("MEAN"),
    "REDUCE_MAX": _reduction("REDUCE_MAX"),
    "REDUCE_MIN": _reduction("REDUCE_MIN"),
    "SUM": _reduction("SUM"),
    "PAD": lambda model: model.pad(model.input(model.any_shape(4))),
    "L2_NORMALIZATION": lambda model: model.l2_normalization(model.input(model.any_shape(4, 9))),
    "SOFTMAX": lambda model: model.softmax(_rows(model)),
    "LOG_SOFTMAX": lambda model: model.log_softmax(_rows(model)),
    "RESHAPE": _reshape,
    **{name: _unary(name) for name in (*UNARIES, *FUNCTIONS)},
    "ARG_MAX": _position("ARG_MAX"),
    "ARG_MIN": _position("ARG_MIN"),
    "RESIZE_BILINEAR": lambda model: model.resize_bilinear(model.image()),
    "TRANSPOSE_CONV": lambda model: model.transpose_conv(model.image()),
    "DEQUANTIZE": _float_edges,
}
