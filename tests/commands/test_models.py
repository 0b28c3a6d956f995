"""``kiwicha models``."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.support.commands.command_line import Command


def test_models_list_shows_every_name(kiwicha: Command) -> None:
    code, out, _ = kiwicha("models", "list", "--json", "-")
    names = [model["name"] for model in json.loads(out)]
    assert code == 0
    _, table, _ = kiwicha("models", "list")
    assert all(name in table for name in ["demo", *names])


def test_models_verify(kiwicha: Command, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("KIWICHA_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("KIWICHA_MODELS", str(tmp_path))
    code, out, _ = kiwicha("models", "verify")
    assert code == 0
    assert "kws: not here\n" in out
    assert kiwicha("models", "verify", "kws")[0] == 1
    bad = tmp_path / "mlperf_kws_ref_model.tflite"
    bad.write_bytes(b"other")
    code, out, _ = kiwicha("models", "verify")
    assert code == 1
    assert f"kws: sha256 differs ({bad})" in out.replace("\n", " ").replace("  ", " ")


def test_models_fetch_takes_what_is_here_and_refuses_unknown_names(
    kiwicha: Command, monkeypatch: pytest.MonkeyPatch, zoo_model: Any
) -> None:
    path = zoo_model("hello_world_int8")
    monkeypatch.setenv("KIWICHA_MODELS", str(path.parent))
    code, _, err = kiwicha("models", "fetch", "hello_world")
    assert (code, err) == (0, f"hello_world: {path}\n")
    assert "nearest is 'hello_world'" in kiwicha.error("models", "fetch", "hello_wrld")
