"""``kiwicha evaluate``."""

import json
import shutil
from pathlib import Path

import numpy as np
import pytest

from kiwicha.zoo import models as zoo
from tests.support.commands.command_line import Command


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """Give the bundled pictures, one of them as what it is not."""
    astronaut, shuttle = (picture.path for picture in zoo.demo_pictures())
    for name, path, number in (
        ("face", astronaut, 0),
        ("face", astronaut, 1),
        ("face", shuttle, 2),
        ("no_face", shuttle, 0),
    ):
        (tmp_path / "data" / name).mkdir(parents=True, exist_ok=True)
        shutil.copy(path, tmp_path / "data" / name / f"{number}.png")
    return tmp_path / "data"


def test_accuracy_and_confusion_are_shown(kiwicha: Command, data: Path, tmp_path: Path) -> None:
    code, out, err = kiwicha("evaluate", "demo", data, "--json", tmp_path / "a.json")
    assert code == 0
    assert out.splitlines()[-1].startswith("accuracy of demo: 75.00 % (3 of 4), ")
    assert "no face (1)" in out
    assert "evaluating demo on 4 examples" in err
    facts = json.loads((tmp_path / "a.json").read_text())
    assert (facts["correct"], facts["accuracy"]) == (3, 0.75)
    assert facts["labels"] == ["no face", "face"]
    assert facts["confusion"] == [[1, 0], [1, 2]]


def test_json_alone_goes_to_standard_output(kiwicha: Command, data: Path) -> None:
    code, out, _ = kiwicha("evaluate", "demo", data, "--limit", 1, "--json", "-")
    assert code == 0
    assert json.loads(out)["examples"] == 2


@pytest.mark.parametrize("threads", [1, 3])
def test_answers_are_those_of_the_reference_executor(
    kiwicha: Command, zoo_model, tmp_path: Path, threads: int
) -> None:
    model = zoo_model("mlperf_kws_ref_model")
    x = np.random.default_rng(1).integers(-128, 128, (7, 49, 10, 1), np.int8)
    right = []
    for value in x:
        (tmp_path / "in").write_bytes(value.tobytes())
        words = ["--input", tmp_path / "in", "--output", tmp_path / "out"]
        assert kiwicha.reference(model, *words)[0] == 0
        right.append(int(np.frombuffer((tmp_path / "out").read_bytes(), np.int8).argmax()))
    np.savez(tmp_path / "a.npz", x=x, y=right)
    words = ("evaluate", model, tmp_path / "a.npz", "--threads", threads)
    assert " 100.00 % (7 of 7, " in kiwicha(*words)[1]
    np.savez(tmp_path / "a.npz", x=x, y=[(k + 1) % 12 for k in right])
    assert " 0.00 % (0 of 7, " in kiwicha(*words)[1]


def test_a_model_without_classes_is_refused(kiwicha: Command, adder: Path, tiny: Path) -> None:
    assert kiwicha.error("evaluate", adder, ".").startswith("model must have one input and ")
    line = kiwicha.error("evaluate", tiny, ".")
    assert line == "model must have an output for each of its classes, not 1x2x2x1"


def test_labels_must_be_as_many_as_outputs(kiwicha: Command, data: Path, tmp_path: Path) -> None:
    (tmp_path / "labels").write_text("a\n")
    line = kiwicha.error("evaluate", "demo", data, "--labels", tmp_path / "labels")
    assert line == f"labels must have 2 lines, not 1 ({tmp_path / 'labels'})"
