"""The command line of results: what is listed, renewed and asked of a release."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from kiwicha.errors import UsageError
from tools.results import __main__ as command
from tools.results import present
from tools.results.catalogue import catalogue
from tools.results.planned import GALLERY, planned
from tools.results.result import Fingerprint, Kind, Result

NOW: dict[str, str] = {}


def recorded(contents: Any) -> Fingerprint:
    return {"all": contents.get("inputs", {})}


def now(contents: Any) -> Fingerprint:
    if contents["is_lost"]:
        raise UsageError("model must be here")
    return {"all": dict(NOW)}


KIND = Kind(
    "area", lambda path, _: f"kiwicha area --json {path}", recorded, now, lambda one: one["seconds"]
)


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Give a project of three results: one fresh, one stale, one without its model."""
    NOW.update(hardware="1", options="2")
    monkeypatch.chdir(tmp_path)
    folder = tmp_path / "docs" / "results" / "area"
    folder.mkdir(parents=True)
    files = {"fresh": dict(NOW), "stale": {**NOW, "hardware": "0"}, "lost": dict(NOW)}
    for name, inputs in files.items():
        contents = {"inputs": inputs, "seconds": 90, "is_lost": name == "lost"}
        (folder / f"{name}.json").write_text(json.dumps(contents))

    def own(_: Path) -> list[Result]:
        return [
            Result(KIND, path.relative_to(tmp_path).as_posix(), json.loads(path.read_text()))
            for path in sorted(folder.glob("*.json"))
        ]

    monkeypatch.setattr(command, "catalogue", own)
    monkeypatch.setattr(command, "update", lambda _, *, is_check: ["page.md"])
    monkeypatch.setattr(command, "missed", lambda _: [])
    monkeypatch.setattr(command, "planned", lambda _: [])
    return tmp_path


def rows(out: str) -> dict[str, str]:
    lines = [line.split("│") for line in out.splitlines() if "│" in line]
    return {line[1].strip(): "|".join(cell.strip() for cell in line[3:5]) for line in lines}


def test_each_result_is_listed_with_why_it_is_stale_and_its_time(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert command.main([]) == 0
    captured = capsys.readouterr()
    found = rows(captured.out)
    assert found["area/fresh"] == "fresh|90 s"
    assert found["area/stale"] == "changed: hardware|90 s"
    assert found["area/lost"] == "cannot be told: model must be here|90 s"
    assert found["all"] == "2 of 3 to renew|3 min"
    assert "page.md written" in captured.err
    assert present.read(project) == {name: {"all": NOW} for name in ("area/fresh", "area/stale")}


def test_one_result_leaves_what_is_known_of_others(project: Path) -> None:
    old = {"area/stale": {"all": {"hardware": "9"}}, "area/gone": {"all": {"hardware": "9"}}}
    present.write(project, old)
    assert command.main(["area/fresh"]) == 0
    assert present.read(project) == {
        "area/fresh": {"all": NOW},
        "area/stale": {"all": {"hardware": "9"}},
    }


def test_what_is_planned_is_listed_until_it_is_measured(
    project: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(command, "planned", planned)
    assert command.main([]) == 0
    assert rows(capsys.readouterr().out)["bench/gallery"] == "has no hashes|not recorded"
    assert "bench/gallery" not in present.read(project)
    path = project / GALLERY
    path.parent.mkdir()
    path.write_text("[]")
    assert command.main([]) == 0
    assert "bench/gallery" not in rows(capsys.readouterr().out)


@pytest.mark.parametrize(
    ("words", "wanted"),
    [([], ["lost", "stale"]), (["area/fresh"], ["fresh"]), (["area/stale"], ["stale"])],
)
def test_renewing_runs_the_commands_of_what_is_stale_or_named(
    project: Path, monkeypatch: pytest.MonkeyPatch, words: list[str], wanted: list[str]
) -> None:
    ran = []

    def runner(arguments: Sequence[str]) -> int:
        path = Path(arguments[-1])
        ran.append((list(arguments[:-1]), path.stem))
        path.write_text(json.dumps({"inputs": NOW, "seconds": 5, "is_lost": False}))
        return 0

    monkeypatch.setattr(command, "_RUNNERS", {"kiwicha": runner})
    assert command.main(["--renew", *words]) == 0
    assert ran == [(["area", "--json"], name) for name in wanted]
    for name in wanted:
        assert present.read(project)[f"area/{name}"] == {"all": NOW}


@pytest.mark.parametrize(("code", "status"), [(0, 0), (1, 0), (2, 2), (130, 2)])
def test_a_command_that_fails_ends_renewing(
    project: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    code: int,
    status: int,
) -> None:
    monkeypatch.setattr(command, "_RUNNERS", {"kiwicha": lambda _: code})
    assert command.main(["--renew", "area/stale"]) == status
    assert ("(area/stale)" in capsys.readouterr().err) == (status == 2)


def test_a_release_asks_for_fresh_results_bars_and_pages(
    project: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert command.main(["--check", "area/stale"]) == 1
    assert "area/stale" in capsys.readouterr().err.splitlines()
    assert not (project / "docs" / "results" / "present.json").exists(), "a check writes nothing"
    assert command.main(["--check", "area/fresh"]) == 0
    for name in ("stale", "lost"):
        (project / "docs" / "results" / "area" / f"{name}.json").unlink()
    assert command.main(["--check"]) == 1, "nobody wrote the pages"
    assert command.main([]) == 0
    assert command.main(["--check"]) == 0
    monkeypatch.setattr(command, "missed", lambda _: ["area/fresh must take less"])
    assert command.main(["--check"]) == 1
    assert "area/fresh must take less" in capsys.readouterr().err


def test_check_and_renew_exclude_each_other(capsys: pytest.CaptureFixture[str]) -> None:
    assert command.main(["--check", "--renew"]) == 2
    assert "--renew must come without --check" in capsys.readouterr().err


def test_the_catalogue_is_that_of_the_project() -> None:
    assert command.catalogue is catalogue
