"""What commands print and write of a model that is not supported."""

import json
from pathlib import Path

import pytest

from kiwicha.errors import UnsupportedModelError
from tests.support.commands.command_line import Command
from tests.support.models.tflite_builder import ModelBuilder

OPERATORS = 40


@pytest.fixture(scope="module")
def refused(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Make a model in which each operator's output has a wrong size of its own."""
    builder = ModelBuilder()
    tensors = [builder.tensor((1, 4 + number), scale=0.5) for number in range(OPERATORS + 1)]
    for number in range(OPERATORS):
        builder.operator("RELU", tensors[number : number + 1], tensors[number + 1 : number + 2])
    path = tmp_path_factory.mktemp("models") / "refused.tflite"
    path.write_bytes(builder.build(inputs=tensors[:1], outputs=tensors[-1:]))
    return path


@pytest.mark.parametrize("command", ["compile", "run", "bench"])
def test_a_refusal_fits_a_screen(kiwicha: Command, refused: Path, command: str) -> None:
    code, out, err = kiwicha(command, refused)
    head, first, *_, last = err.splitlines()
    assert (code, out) == (2, "")
    assert head == f"kiwicha: {refused}: the model is not supported"
    assert first == "  RELU #0 (t1): output must be [1, 4], not [1, 5]"
    assert last.startswith(f"  and {OPERATORS - (len(err.splitlines()) - 2)} more lines: --verbose")
    assert len(err.splitlines()) < UnsupportedModelError.SCREEN[0]


@pytest.mark.parametrize("words", [["--verbose", "compile"], ["compile", "--verbose"]])
def test_verbose_shows_all(kiwicha: Command, refused: Path, words: list[str]) -> None:
    code, out, err = kiwicha(*words, refused)
    assert (code, out) == (2, "")
    assert len(err.splitlines()) == 1 + OPERATORS


@pytest.mark.parametrize("command", ["compile", "run", "bench"])
def test_json_has_all(kiwicha: Command, refused: Path, tmp_path: Path, command: str) -> None:
    path = tmp_path / "refusal.json"
    assert kiwicha(command, refused, "--json", path)[0] == 2
    found = json.loads(path.read_text())
    assert found["model"] == str(refused)
    assert [item["operator"] for item in found["violations"]] == list(range(OPERATORS))
    assert {item["rule"] for item in found["violations"]} != {""}


def test_json_goes_to_standard_output(kiwicha: Command, refused: Path) -> None:
    code, out, err = kiwicha("compile", refused, "--json", "-")
    assert code == 2
    assert len(json.loads(out)["violations"]) == OPERATORS
    assert err.startswith("kiwicha: ")
