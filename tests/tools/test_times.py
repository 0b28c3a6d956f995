"""How long users wait."""

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest

from tools import times


def test_a_command_is_timed_with_its_words(tmp_path: Path) -> None:
    found = times.timed(["--version"], tmp_path)
    assert found["command"] == "kiwicha --version"
    assert 0 < found["processor_seconds"] <= 60
    assert found["seconds"] > 0
    with pytest.raises(subprocess.CalledProcessError):
        times.timed(["--nonsense"], tmp_path)


@pytest.mark.parametrize(("seconds", "code"), [(8.0, 0), (8.1, 1)])
def test_a_bar_that_is_missed_is_an_error(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, seconds: float, code: int
) -> None:
    measures: dict[str, Any] = {"demo": lambda _: {"command": "a", "seconds": seconds}}
    monkeypatch.setattr(times, "MEASURES", measures)
    monkeypatch.setattr(times, "fingerprint", lambda: {"program": "1"})
    assert times.main(["--json", str(tmp_path / "a.json")]) == code
    outcome = json.loads((tmp_path / "a.json").read_text())
    assert outcome["times"]["demo"].pop("load") >= 0
    assert outcome["times"]["demo"].pop("took") == outcome["seconds"] == 0
    assert outcome["times"] == {"demo": {"command": "a", "seconds": seconds, "bar": 8}}
    assert outcome["inputs"] == {"program": "1"}


def test_what_is_not_named_is_kept(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    measures: dict[str, Any] = {
        name: lambda _, name=name: {"command": name, "seconds": 1} for name in ("demo", "page")
    }
    monkeypatch.setattr(times, "MEASURES", measures)
    monkeypatch.setattr(times, "fingerprint", dict)
    path = tmp_path / "a.json"
    for names in (["page"], ["demo"]):
        assert times.main(["--json", str(path), *names]) == 0
    assert [*json.loads(path.read_text())["times"]] == ["demo", "page"]
    with pytest.raises(SystemExit):
        times.main(["other"])
    assert "time must be one of demo, page, not other" in capsys.readouterr().err


def test_every_measure_has_a_bar() -> None:
    assert times.MEASURES.keys() == times.BARS.keys()
