"""What a shell proposes."""

import subprocess
import sys
from pathlib import Path

import pytest

from kiwicha.commands import completion


def test_models_are_names_and_files(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "person").mkdir()
    for name in ("person.tflite", "person.onnx", "person.txt", ".person.onnx"):
        (tmp_path / name).touch()
    found = completion.models("person")
    assert found == ["person_detect", "person/", "person.onnx", "person.tflite"]
    (tmp_path / "person" / "a.onnx").touch()
    assert completion.models("person/") == ["person/a.onnx"]
    assert completion.models("person/b") == completion.models("nowhere/") == []
    assert {"demo", "kws", "resnet18", "person.onnx"} <= set(completion.models(""))
    assert ".person.onnx" not in completion.models("")


def test_configurations_are_the_last_of_a_list() -> None:
    assert completion.configs("b") == ["baseline"]
    assert completion.configs("simd,12") == ["simd,128"]
    assert "64-32k-r4" in completion.configs("64-32k")


def test_boards() -> None:
    assert completion.boards("arty") == ["arty_a7_35", "arty_a7_100"]


@pytest.mark.parametrize(
    ("words", "proposed"),
    [
        ("kiwicha dem", ["demo"]),
        ("kiwicha run person_d", ["person_detect"]),
        ("kiwicha bench kws --config si", ["simd"]),
        ("kiwicha compile kws --board ul", ["ulx3s_85f"]),
        ("kiwicha build ecp", ["ecpix5_85f"]),
    ],
)
def test_the_shell_is_answered(words: str, proposed: list[str]) -> None:
    done = subprocess.run(
        [sys.executable, "-c", "from kiwicha.cli import main; main([])"],
        env={
            "_KIWICHA_COMPLETE": "complete_bash",
            "COMP_WORDS": words,
            "COMP_CWORD": str(len(words.split()) - 1),
        },
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.stdout.split() == proposed
