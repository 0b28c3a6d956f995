"""Labels that a model's file carries behind it."""

import zipfile
from pathlib import Path

import pytest

from kiwicha import Interpreter
from kiwicha.zoo import models as zoo


def carrying(folder: Path, **files: str) -> Path:
    """Return a copy of the bundled model with files behind it."""
    path = folder / "model.tflite"
    path.write_bytes(zoo.demo_model()[0].read_bytes())
    with zipfile.ZipFile(path, "a") as archive:
        for name, text in files.items():
            archive.writestr(f"{name}.txt", text)
    return path


def test_a_models_own_labels_name_its_outputs(tmp_path: Path) -> None:
    path = carrying(tmp_path, labels="nobody\nsomebody\n")
    assert zoo.labels_within(path) == ("nobody", "somebody")
    assert zoo.resolve(str(path)) == ("model", path, ("nobody", "somebody"))
    interpreter = Interpreter(path)
    interpreter.allocate_tensors()
    interpreter.invoke()
    assert {label for label, _ in interpreter.top()} == {"nobody", "somebody"}


@pytest.mark.parametrize("files", [{}, {"labels": "a\nb", "licence": "free"}])
def test_without_one_file_of_text_there_are_none(tmp_path: Path, files: dict[str, str]) -> None:
    assert zoo.labels_within(carrying(tmp_path, **files)) == ()


def test_a_file_that_is_missing_has_none(tmp_path: Path) -> None:
    assert zoo.labels_within(tmp_path / "nothing") == ()
