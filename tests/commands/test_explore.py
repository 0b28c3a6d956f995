"""``kiwicha explore``."""

import csv
import json
from pathlib import Path

import pytest
from support.command_line import Command
from support.requirements import module
from support.two_heads import two_heads


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
    assert "6 trials, " in out
    rows = list(csv.DictReader(table.read_text().splitlines()))
    assert len(rows) == 6
    best = [row["config"] for row in rows if row["is_on_front"] == "1"]
    assert f"the fastest: kiwicha bench {model} --config " in out
    found = json.loads(study.read_text())
    assert found["models"] == ["heads"]
    assert {c["config"] for c in found["configurations"] if c["front"]} == set(best)


def test_explore_names_what_is_wrong(kiwicha: Command, model: Path, tmp_path: Path) -> None:
    words = ["--study", tmp_path / "s.journal"]
    assert kiwicha.error("explore", model, "--objective", "cycles,luts", *words) == (
        "objective must be different ones of cycles, lut, dsp, bram, not 'cycles,luts'"
    )
    assert kiwicha.error("explore", model, "--board", "arty", *words) == (
        "board must be arty_a7_35 or arty_a7_100, not 'arty'"
    )
