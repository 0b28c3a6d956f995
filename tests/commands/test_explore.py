"""``kiwicha explore``."""

import csv
import json
import re
from collections.abc import Callable
from concurrent.futures import Executor, Future
from pathlib import Path
from typing import Any

import pytest

from kiwicha.boards.capacity import COUNTED
from kiwicha.boards.family import Family
from kiwicha.contract.configs import ENGINE_FAMILY, Config
from kiwicha.explore import confirm as confirmation
from kiwicha.explore import pool
from kiwicha.explore.points import Measures
from tests.support.commands.command_line import Command
from tests.support.models.two_heads import two_heads
from tests.support.requirements import module


@pytest.fixture
def model(tmp_path: Path) -> Path:
    module("optuna", "optuna")
    path = tmp_path / "heads.tflite"
    path.write_bytes(two_heads())
    return path


def test_explore_shows_the_front_and_writes_all_points(
    kiwicha: Command, model: Path, tmp_path: Path
) -> None:
    table, study = tmp_path / "points.csv", tmp_path / "study.json"
    words = ["--trials", 6, "--study", tmp_path / "s.journal", "--csv", table, "--json", study]
    code, out, _ = kiwicha("explore", model, *words, "--workers", 1)
    assert code == 0
    assert re.search(r"^6 configurations tried, of \d{3}; ", out, re.MULTILINE)
    rows = list(csv.DictReader(table.read_text().splitlines()))
    assert len(rows) == 6
    best = [row["config"] for row in rows if row["is_on_front"] == "1"]
    found = json.loads(study.read_text())
    assert found["models"] == ["heads"]
    assert {c["config"] for c in found["configurations"] if c["front"]} == set(best)


@pytest.mark.parametrize(
    ("objective", "what", "chosen"),
    [
        ("cycles,bram", "the fastest", "128"),
        ("bram,cycles", "the fastest", "128"),
        ("bram,lut", "the least bram", "32"),
    ],
)
@pytest.mark.parametrize("board", [None, "arty_a7_35", "ulx3s_85f"])
def test_explore_names_commands_for_its_choice(
    kiwicha: Command,
    model: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    objective: str,
    what: str,
    chosen: str,
    board: str | None,
) -> None:
    found = module("kiwicha.explore.search", "optuna")
    points = [
        found.Point(number, ENGINE_FAMILY[name], Measures(cycles, (cycles,), lut, 9, bram))
        for number, (name, cycles, lut, bram) in enumerate([
            ("64", 100, 2_000, 20),
            ("128", 50, 3_000, 30),
            ("32", 200, 1_000, 10),
        ])
    ]
    monkeypatch.setattr(found, "search", lambda *_, **__: points)
    words = ["--study", tmp_path / "s.journal", "--objective", objective]
    code, out, err = kiwicha("explore", model, *words, *(["--board", board] if board else []))
    assert code == 0, err
    lines = out.splitlines()
    option = f" --board {board}" if board else ""
    assert f"{what}: kiwicha bench {model} --config {chosen}{option}" in lines
    build = [line for line in lines if line.startswith("to build it")]
    assert build == ([f"to build it: kiwicha build {board} --config {chosen}"] if board else [])


@pytest.mark.parametrize(
    ("board", "family", "bram_kbit"),
    [(None, "xc7", 36), ("arty_a7_100", "xc7", 36), ("ecpix5_85f", "ecp5", 18)],
)
def test_explore_sets_what_was_confirmed_beside_the_prediction(
    kiwicha: Command,
    model: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    board: str | None,
    family: str,
    bram_kbit: int,
) -> None:
    asked = []

    def confirm(
        models: list[bytes], configs: list[Config], executor: Executor, family: Family
    ) -> Any:
        asked.extend(config.name for config in configs)
        counts = dict(zip(COUNTED[family], (1234.0, 5.0, 6.5), strict=True))
        return {name: confirmation.Confirmed((4_000_000,), True, counts) for name in asked}

    monkeypatch.setattr(confirmation, "confirm", confirm)
    study = tmp_path / "study.json"
    words = ["--trials", 4, "--study", tmp_path / "s.journal", "--json", study, "--confirm", 1]
    words += ["--board", board] if board else []
    code, out, err = kiwicha("explore", model, *words, "--workers", 1)
    assert code == 0, err
    assert "4,000,000" in out
    assert f"BRAM{bram_kbit}" in out
    assert "1,234" in out
    assert "confirmed in" in out
    found = json.loads(study.read_text())
    assert (found["family"], found["bram_kbit"]) == (family, bram_kbit)
    points = found["configurations"]
    (point,) = (point for point in points if "confirmed" in point)
    assert [point["config"]] == asked
    assert point["confirmed"]["cycles"] == [4_000_000]


class Stopped(Executor):
    """Measures a number of points, then the user stops the search."""

    def __init__(self, points: int) -> None:
        self._left = points

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        """Return what is done already."""
        if not self._left:
            raise KeyboardInterrupt
        self._left -= 1
        future: Future[Any] = Future()
        future.set_result(fn(*args, **kwargs))
        return future


def test_explore_tells_what_an_interrupt_leaves(
    kiwicha: Command, model: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    study = tmp_path / "s.journal"
    kept = []
    for points in (2, 1, 0):
        monkeypatch.setattr(pool, "LocalPool", lambda workers, n=points: Stopped(n))
        code, out, err = kiwicha("explore", model, "--study", study, "--workers", 1)
        assert (code, out) == (130, "")
        line = err.splitlines()[-1].removeprefix("kiwicha: interrupted; kept: ")
        number, end = line.split(" ", 1)
        assert end == f"of 200 points in {study}; run the same command again to continue"
        kept.append(int(number))
    assert 2 <= kept[0] < kept[1] <= kept[2]


def test_explore_names_what_is_wrong(kiwicha: Command, model: Path, tmp_path: Path) -> None:
    words = ["--study", tmp_path / "s.journal"]
    assert kiwicha.error("explore", model, "--objective", "cycles,luts", *words) == (
        "objectives must be different ones of cycles, lut, dsp, bram, not 'cycles,luts'"
    )
    assert kiwicha.error("explore", model, "--board", "arty", *words) == (
        "board must be arty_a7_35 or arty_a7_100 or ecpix5_85f or ulx3s_85f, not 'arty'"
    )


def test_explore_names_the_model_that_is_wrong(
    kiwicha: Command, model: Path, tmp_path: Path
) -> None:
    short, study = tmp_path / "short.tflite", tmp_path / "s.journal"
    short.write_bytes(model.read_bytes()[:200])
    text = kiwicha.error("explore", model, short, "--study", study)
    assert text.startswith(f"{short}: the file must be a whole .tflite model, ")
    assert not study.exists()
