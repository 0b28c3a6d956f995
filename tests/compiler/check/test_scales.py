"""Limits of scales: the last that is taken, and the first that is not."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from kiwicha.compiler import read, violations
from tests.support.models.one_operator import POOL, SOFTMAX_OUT, Model, conv, mean, pair, unary

SHORT: dict[str, Any] = {"dtype": np.int16}
LOGARITHMS = {"scale": 1 / 16, "zero_point": 127}


def above(value: float) -> float:
    """Return the next float32."""
    return float(np.nextafter(np.float32(value), np.float32(np.inf)))


def below(value: float) -> float:
    return float(np.nextafter(np.float32(value), np.float32(0)))


def softmax(factor: float) -> bytes:
    """Give a SOFTMAX whose beta times the input's scale is a factor."""
    return unary("SOFTMAX", {"scale": 1.0}, SOFTMAX_OUT, beta=factor)


def probabilities(kind: type[np.generic], scale: float) -> bytes:
    """Give a SOFTMAX that gives int16."""
    zero_point = 0 if kind is np.int16 else -32768
    output = SHORT | {"scale": scale, "zero_point": zero_point}
    return unary("SOFTMAX", {"dtype": kind}, output, beta=1.0)


def biased(scale: float, y: float = 50.0, *, count: int = 1) -> bytes:
    """Give a FULLY_CONNECTED whose bias should have a scale of 1; 1/50 of ``y`` may be wrong."""
    model = Model()
    weights = model.weights((3, 2), scale=1.0 if count == 1 else [1.0] * count)
    operands = [model.activation("x", (4, 2), scale=1.0), weights, model.bias(3, scale=scale)]
    return model.single("FULLY_CONNECTED", operands, model.activation("y", (4, 3), scale=y))


def pool(scale: float) -> bytes:
    return unary("AVERAGE_POOL_2D", {"scale": 2.0**-20}, {"scale": scale}, **POOL)


@pytest.mark.parametrize(
    ("build", "last", "first_broken"),
    [
        (softmax, above(2.0**-26), 2.0**-26),
        (lambda scale: unary("LOG_SOFTMAX", {"scale": scale}, LOGARITHMS), above(2**-25), 2**-25),
        (lambda scale: probabilities(np.int8, scale), 1.0009 / 65536, 1.0011 / 65536),
        (lambda scale: probabilities(np.int8, scale), 0.9991 / 65536, 0.9989 / 65536),
        (lambda scale: probabilities(np.int16, scale), 1.0009 / 32768, 1.0011 / 32768),
        (biased, 2.0, above(2.0)),
        (biased, 0.0, -1e-6),
        (lambda scale: conv(x={"scale": scale}, w={"scale": 512.0}), below(2.0**20), 2.0**20),
        (lambda scale: pair("ADD", {"scale": scale}, {}, {"scale": 1.0}), below(2**19), 2**19),
        (lambda scale: pair("SUB", {}, {"scale": scale}, {"scale": 1.0}), below(2**19), 2**19),
        (
            lambda scale: pair("MUL", {"scale": scale}, {"scale": 1024.0}, {"scale": 1.0}),
            below(2**20),
            2**20,
        ),
        (lambda scale: mean([1, 2], (1, 2), scale=scale), below(2.0**29), 2.0**29),
        (pool, 2.0**-20 + 0.99e-6, 2.0**-20 + 1.01e-6),
    ],
)
def test_last_and_first(build: Callable[[float], bytes], last: float, first_broken: float) -> None:
    assert violations(read(build(last))) == ()
    assert len(violations(read(build(first_broken)))) == 1


def test_other_biases_may_have_any_scale() -> None:
    """Of one weight scale for each channel, and of other operators of int8."""
    assert violations(read(biased(777.0, count=3))) == ()
    assert violations(read(conv(b={"scale": 777.0}))) == ()


def test_zero_points_of_probabilities() -> None:
    sixteen = {"scale": 1 / 32768, "zero_point": 0}
    assert violations(read(unary("SOFTMAX", SHORT, SHORT | sixteen, beta=1.0))) == ()
    shifted = SHORT | sixteen | {"zero_point": 1}
    assert len(violations(read(unary("SOFTMAX", SHORT, shifted, beta=1.0)))) == 1
    off = SHORT | {"zero_point": 3}
    (found,) = violations(read(unary("SOFTMAX", off, SHORT | sixteen, beta=1.0)))
    assert "input's zero point must be 0, not 3" in str(found)
