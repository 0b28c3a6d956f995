"""The text of refusals: what is grouped, what fits a screen, what JSON has."""

import pickle
import re
from typing import Any

import pytest

from kiwicha import errors
from kiwicha.errors import UnsupportedModelError, Violation

TYPE = "output must be int8, not float32"


def broken(number: int | None, name: str = "RELU", text: str = TYPE, tensor: str = "") -> Violation:
    return Violation(number, name, tensor, "A rule.", text)


def lines(*violations: Violation) -> list[str]:
    head, *found = UnsupportedModelError(violations).text().splitlines()
    assert head == "the model is not supported"
    return [line.removeprefix("  ") for line in found]


def test_the_same_reason_is_said_once() -> None:
    assert lines(broken(3), broken(4, "ADD"), broken(7), broken(9)) == [
        f"RELU #3, #7, #9: {TYPE}",
        f"ADD #4: {TYPE}",
    ]


def test_an_operator_has_one_line() -> None:
    found = [broken(k, "CONV_2D", text) for k in (0, 5) for text in ("weights", "bias")]
    assert lines(*found, broken(6, "CONV_2D", "bias", "b")) == [
        "CONV_2D #0, #5: weights",
        "CONV_2D #0, #5, #6: bias",
    ]
    assert lines(*found) == ["CONV_2D #0, #5: weights; bias"]


def test_tensors_are_named_where_there_is_one() -> None:
    assert lines(broken(1, tensor="a"), broken(2, tensor="b")) == [f"RELU #1, #2: {TYPE}"]
    assert lines(broken(1, tensor="a" * 99)) == [f"RELU #1 ({'a' * 57}...): {TYPE}"]
    assert lines(broken(None, "model", TYPE, "a")) == [f"model (a): {TYPE}"]


def test_many_operators_are_counted() -> None:
    (line,) = lines(*map(broken, range(20)))
    assert line == f"RELU #0, #1, #2, #3, #4, #5, #6, #7 and 12 more: {TYPE}"


@pytest.mark.parametrize("screen", [(24, 80), (10, 40), (60, 200), (8, 40)])
def test_the_text_fits_the_screen(screen: tuple[int, int]) -> None:
    violations = [broken(k, text=f"{k} must be {'long ' * (k % 9)}") for k in range(100)]
    error = UnsupportedModelError(violations, ["do this"])
    text = f"kiwicha: {error.text(screen)}"
    shown = text.splitlines()
    assert shown[1] == "  remedy: do this"
    assert sum(-(-len(line) // screen[1]) for line in shown) < screen[0]
    match = re.fullmatch(r"  and (\d+) more lines: --verbose shows all, .*", shown[-1])
    assert match is not None
    assert int(match[1]) == len(violations) - (len(shown) - 3)
    assert len(error.text().splitlines()) == 2 + len(violations)


def test_str_fits_a_small_terminal() -> None:
    error = UnsupportedModelError([broken(k, text=f"{k}") for k in range(100)])
    assert len(str(error).splitlines()) == UnsupportedModelError.SCREEN[0] - 1


def test_all_of_it_comes_back_from_another_process() -> None:
    error = UnsupportedModelError([broken(1)], ["do this"])
    error.add_place("m.tflite")
    again = pickle.loads(pickle.dumps(error))
    assert str(again) == str(error)
    assert str(error).startswith("m.tflite: the model is not supported\n")
    assert again.violations == error.violations


def test_json_has_everything() -> None:
    error = UnsupportedModelError([broken(k, text=f"{k}") for k in range(100)], ["do this"])
    found = error.to_json()
    assert found["remedies"] == ["do this"]
    assert [Violation(**item) for item in found["violations"]] == list(error.violations)


@pytest.mark.parametrize(
    ("kind", "python"),
    [
        (errors.UsageError, ValueError),
        (errors.ModelError, ValueError),
        (errors.UnsupportedModelError, ValueError),
        (errors.CapacityError, ValueError),
        (errors.ProgramError, ValueError),
        (errors.ToolError, RuntimeError),
        (errors.SimulationError, RuntimeError),
        (errors.BoardError, RuntimeError),
        (errors.NotReadyError, (ValueError, RuntimeError)),
    ],
)
def test_errors_are_pythons_too(kind: type[Exception], python: Any) -> None:
    for other in python if isinstance(python, tuple) else (python,):
        assert issubclass(kind, other)
        assert issubclass(kind, errors.KiwichaError)
