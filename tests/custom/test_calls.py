"""Custom operators whose rule or reference raises, or gives something else than it must."""

import dataclasses
import re
import struct
from typing import Any

import numpy as np
import pytest

from kiwicha import custom
from kiwicha.compiler import compile_model
from kiwicha.errors import UsageError
from kiwicha.sim.reference import executor as reference
from tests.support.models.custom_models import IMAGE, NEGATE, SHAPE, model


@pytest.fixture(autouse=True)
def nothing_registered(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(custom.registry, "_registered", {})


def register(**parts: Any) -> None:
    """Register the operator with other parts."""
    custom.register(dataclasses.replace(NEGATE, **parts))


def named(part: str, text: str) -> str:
    """Return the pattern of an error in operator 1, whose line is one of this file."""
    where = f"operator 1 CUSTOM:Negate: {part} of the custom operator"
    return rf"^{where} {text}.*; mend it in {re.escape(__file__)}, line \d+$"


@pytest.mark.parametrize(
    ("part", "function", "text"),
    [
        ("check", lambda node: 1 / 0, "must not raise ZeroDivisionError: division by zero"),
        ("check", lambda node: (1 // k for k in [0]), "must not raise ZeroDivisionError: integer"),
        ("check", lambda node: None, "must give an iterable of str, .*, not None"),
        ("check", lambda node: "wrong", "must give an iterable of str, .*, not 'wrong'"),
        ("check", lambda node: [1], r"must give an iterable of str, .*, not \[1\]"),
        ("parameters", lambda node: "x", "must give bytes, not str"),
        ("parameters", lambda node: {}[3], "must not raise KeyError: 3"),
    ],
)
def test_a_rule_that_gives_something_else_is_named(part: str, function: Any, text: str) -> None:
    register(**{part: function})
    with pytest.raises(UsageError, match=named(part, text)) as caught:
        compile_model(model("CUSTOM:Negate", in_front=1), "baseline")
    assert isinstance(caught.value.__cause__, Exception) == ("raise" in text)


@pytest.mark.parametrize(
    ("function", "text"),
    [
        (lambda inputs, raw: raw[0], "must not raise IndexError: index out of range"),
        (lambda inputs, raw: struct.unpack("<I", raw), "must not raise struct.error: unpack requ"),
        (lambda inputs, raw: None, "must give an array of 180 int8 or uint8 values, not NoneType"),
        (lambda inputs, raw: [0] * 180, "must give an array of 180 int8 .* values, not list"),
        (lambda inputs, raw: inputs[0][1:], r"must give .* 180 int8 .* values, not int8 \[179\]"),
        (
            lambda inputs, raw: inputs[0].reshape(3, 60) * 1.0,
            r"must give .* 180 int8 .* values, not float64 \[3, 60\]",
        ),
        (
            lambda inputs, raw: np.zeros(45, np.int32),
            r"must give .* 180 int8 .* values, not int32 \[45\]",
        ),
    ],
)
def test_a_reference_that_gives_something_else_is_named(function: Any, text: str) -> None:
    register(reference=function)
    program = compile_model(model("CUSTOM:Negate", in_front=1), "baseline")
    with pytest.raises(UsageError, match=named("reference", text)) as caught:
        reference.run(program, [IMAGE])
    assert isinstance(caught.value.__cause__, Exception) == ("raise" in text)


@pytest.mark.parametrize(
    ("given", "text"),
    [
        (np.arange(180, dtype=np.int32).reshape(SHAPE), ""),
        (np.arange(180, dtype=np.int32).view(np.uint8), ""),
        (np.zeros(180, np.float32), r"not float32 \[180\]"),
        (np.zeros(180, np.int8), r"not int8 \[180\]"),
        (np.zeros(90, np.int64), r"not int64 \[90\]"),
    ],
)
def test_an_int32_output_may_be_its_values_or_their_bytes(given: np.ndarray, text: str) -> None:
    register(check=lambda node: (), reference=lambda inputs, raw: given)
    program = compile_model(model("CUSTOM:Negate", dtype=np.int32), "baseline")
    if not text:
        assert np.array_equal(reference.run(program, [IMAGE])[0].reshape(-1), np.arange(180))
        return
    rule = f"must give an array of 180 int32 values, or their 720 bytes as int8 or uint8, {text}; "
    with pytest.raises(UsageError, match=rule):
        reference.run(program, [IMAGE])


def test_a_part_without_lines_is_named_by_its_package() -> None:
    register(parameters=dict)
    with pytest.raises(UsageError, match=r"must not raise TypeError: .*; mend its package$"):
        compile_model(model("CUSTOM:Negate"), "baseline")
