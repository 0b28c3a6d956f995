"""Checking a model: types, several violations at once, what is accepted."""

from typing import Any

import numpy as np
import pytest

from kiwicha.compiler import (
    compile_model,
    read,
    violations,
)
from kiwicha.errors import UnsupportedModelError
from tests.support.models.one_operator import (
    POOL,
    Model,
    connected,
    conv,
    depthwise,
    mean,
    pair,
    unary,
)


@pytest.mark.parametrize(
    ("dtype", "name"), [(np.float32, "float32"), (np.bool_, "bool"), (np.int16, "int16")]
)
def test_refuses_other_types(dtype: Any, name: str) -> None:
    model = unary("ABS", {"dtype": dtype}, {"dtype": dtype})
    with pytest.raises(UnsupportedModelError) as refusal:
        compile_model(model, "simd")
    assert list(map(str, refusal.value.violations)) == [
        f"operator 0 ABS (x): input must be int8 or uint8, not {name}",
        f"operator 0 ABS (y): output must be int8 or uint8, not {name}",
    ]


def test_refuses_int64_bias() -> None:
    model = conv(b={"dtype": np.int64, "data": np.zeros(3, np.int64)})
    with pytest.raises(UnsupportedModelError, match="bias must be int32, not int64"):
        compile_model(model, "simd")


def test_reports_everything_at_once() -> None:
    model = Model()
    names = ["a", "b", "c", "d"]
    a, b, c, d = (model.activation(name, (1, 8)) for name in names)
    model.tensors[b].type = 7  # int16
    model.operator("FLOOR", [a], [b])
    model.operator("SQUARED_DIFFERENCE", [b, b], [c])
    model.operator("SOFTMAX", [c], [d], beta=1.0)
    found = violations(read(model.build([a], [d])))
    assert [(v.operator, v.name, v.tensor) for v in found] == [
        (0, "FLOOR", ""),
        (1, "SQUARED_DIFFERENCE", "b"),
        (2, "SOFTMAX", "d"),
    ]
    assert found[1].rule.startswith("Activations are int8 or uint8; ")
    with pytest.raises(UnsupportedModelError) as refusal:
        compile_model(model.build([a], [d]), "simd")
    assert refusal.value.violations == found


def test_accepts_what_the_rules_allow() -> None:
    for model in (
        conv(),
        conv(x={"shape_signature": (-1, 4, 4, 2)}),
        conv(fusedActivationFunction=2),
        depthwise((1, 3, 3, 4), 4, depthMultiplier=2),
        connected((2, 2, 4), (3, 4), (4, 3)),
        pair("MUL", {"shape": (3,)}, {"shape": (2, 1)}, {"shape": (2, 3)}),
        mean([1, -2], (1, 1, 1, 2)),
        unary("AVERAGE_POOL_2D", {}, {"scale": 0.5000005}, **POOL),
    ):
        assert violations(read(model)) == ()
