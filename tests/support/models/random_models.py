"""Random models of one operator, with inputs for them."""

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
    "operator_on_constants",
    "single_operator",
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


def _fully_connected(model: RandomModel) -> None:
    rng = model.rng
    depth = rng.choice([1, 4, 16, 60, 516, rng.randint(1, 40)])
    batches = rng.randint(1, 3)
    shape = rng.choice([(batches, depth), (batches, 2, depth), (batches, 2, 3, depth)])
    model.fully_connected(model.input(shape), rng.choice([1, 3, 4, 10, rng.randint(1, 40)]))


def _product(model: RandomModel) -> None:
    rng = model.rng
    rows, columns = (rng.choice([1, 3, 4, 8, rng.randint(1, 20)]) for _ in range(2))
    depth = rng.choice([1, 4, 16, 64, rng.randint(1, 40)])
    batches = tuple(rng.randint(1, 3) for _ in range(rng.randint(0, 3)))
    ways = {name: rng.random() < 0.5 for name in ("is_first_adjoint", "is_second_adjoint")}
    shapes = [(rows, depth), (depth, columns)]
    for number, is_adjoint in enumerate(ways.values()):
        repeated = tuple(1 if rng.random() < 0.3 else size for size in batches)
        repeated = repeated[rng.choice([0, 0, rng.randint(0, len(repeated))]) :]
        shapes[number] = (*repeated, *shapes[number][:: -1 if is_adjoint else 1])
    first = model.input(shapes[0])
    second = rng.choice([model.input, model.input, model.constant])(shapes[1])
    model.product(first, second, **ways)


def _elementwise(operator: str) -> Callable[[RandomModel], None]:
    def add(model: RandomModel) -> None:
        rng = model.rng
        shape = _pair_shape(model)
        other = shape if rng.random() < 0.4 else _broadcast(model, shape)
        if rng.random() < 0.2 and len(other) == len(shape):
            # Both are repeated, along different dimensions.
            shape = tuple(
                1 if other[axis] > 1 and rng.random() < 0.4 else size
                for axis, size in enumerate(shape)
            )
        a = model.input(shape)
        if rng.random() < 0.1:
            b = a
        else:
            b = rng.choice([model.input, model.constant])(other)
        operands = (a, b) if rng.random() < 0.5 else (b, a)
        model.elementwise(operator, *operands)

    return add


def _pair_shape(model: RandomModel) -> Shape:
    """Give a shape of a few elements, or of as many as the engine takes."""
    rng = model.rng
    if rng.random() < 0.5:
        return model.any_shape(4)
    return (rng.randint(1, 2), rng.randint(5, 16), rng.randint(5, 16), rng.randint(1, 40))


def _broadcast(model: RandomModel, shape: Shape) -> Shape:
    """Give a shape that broadcasts to another one."""
    rng = model.rng
    other = tuple(1 if rng.random() < 0.4 else size for size in shape)
    return rng.choice([shape, other[rng.randint(0, len(other) - 1) :]])


def _comparison(operator: str) -> Callable[[RandomModel], None]:
    def compare(model: RandomModel) -> None:
        shape = _pair_shape(model)
        model.compare(operator, model.input(shape), _broadcast(model, shape))

    return compare


def _prelu(model: RandomModel) -> None:
    shape = _pair_shape(model)
    model.prelu(model.input(shape), _broadcast(model, shape))


def _reduction(operator: str) -> Callable[[RandomModel], None]:
    return lambda model: _mean(model, operator)


def _mean(model: RandomModel, operator: str = "MEAN") -> None:
    rng = model.rng
    shape = model.any_shape(4, 8)
    if operator.startswith("REDUCE") and rng.random() < 0.4:
        # Of as many bytes as the engine takes.
        shape = (rng.randint(1, 3), rng.randint(5, 12), rng.randint(5, 12), rng.randint(1, 40))
    axes = rng.sample(range(len(shape)), rng.randint(1, max(len(shape) - 1, 1)))
    axes = [axis - len(shape) if rng.random() < 0.3 else axis for axis in axes]
    model.mean(model.input(shape), axes, rng.random() < 0.5 or len(axes) == len(shape), operator)


def _unary(operator: str) -> Callable[[RandomModel], None]:
    return lambda model: model.unary(operator, model.input(model.any_shape(5)))


def _position(operator: str) -> Callable[[RandomModel], None]:
    def find(model: RandomModel) -> None:
        rng = model.rng
        shape = (*model.any_shape(4), rng.choice([1, 2, 10, 40]))
        if rng.random() < 0.4:
            # Of as many bytes as the engine takes.
            shape = (rng.randint(4, 20), rng.randint(7, 20), rng.randint(10, 40))
        axis = rng.randrange(-len(shape), len(shape))
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


SIGNED_OPERATORS = frozenset({
    *("ABS", "BATCH_MATMUL", "ELU", "EXP", "LOG", "RSQRT", "SQUARED_DIFFERENCE")
})
"""Those of which no interpreter has a kernel for uint8."""
LITERT_OPERATORS = frozenset({"EXP", "GELU", "LOG", "RELU_0_TO_1", "RELU_N1_TO_1"})
"""Those for whose int8, too, only LiteRT has one."""
OPERATORS: dict[str, Callable[[RandomModel], Any]] = {
    "CONV_2D": lambda model: model.conv(model.image()),
    "DEPTHWISE_CONV_2D": lambda model: model.depthwise(model.image()),
    "FULLY_CONNECTED": _fully_connected,
    "BATCH_MATMUL": _product,
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
