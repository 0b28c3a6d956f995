"""What the page shows, and files that are no runs."""

import json
from pathlib import Path
from typing import Any

import pytest
from support.example_runs import example_run, example_study

from kiwicha.errors import UsageError
from kiwicha.page.data import page_runs, page_study, read_files


def refused(tmp_path: Path, content: Any) -> str:
    path = tmp_path / "run.json"
    path.write_text(content if isinstance(content, str) else json.dumps(content))
    with pytest.raises(UsageError) as caught:
        page_runs(read_files([path])[0])
    return str(caught.value).replace(str(path), "PATH")


def test_files_of_run_and_bench_are_read(tmp_path: Path) -> None:
    one, several = tmp_path / "run.json", tmp_path / "bench.json"
    one.write_text(json.dumps(example_run()))
    several.write_text(json.dumps([example_run(config="32"), example_run(config="128")]))
    assert [run["config"] for run in read_files([one, several])[0]] == ["64", "32", "128"]


def test_other_files_are_refused(tmp_path: Path) -> None:
    wanted = "run must be what kiwicha run --json or kiwicha bench --json wrote (PATH)"
    assert refused(tmp_path, {"resources": {}}) == wanted
    assert refused(tmp_path, [1]) == wanted
    assert refused(tmp_path, []) == "there must be at least one run (PATH)"
    assert refused(tmp_path, "{").startswith("run must be a readable JSON file: ")
    assert refused(tmp_path, {**example_run(), "cycles": None}) == (
        "run must have cycles, not those of --target reference; simulate it with --target sim "
        "(PATH)"
    )
    damaged = example_run()
    damaged["profile"]["layers"].pop()
    assert refused(tmp_path, damaged).startswith("run must be what kiwicha run --json wrote: ")


def test_bars_add_up_to_the_cycles_of_their_layer() -> None:
    (run,) = page_runs([example_run()])
    for layer in run["layers"]:
        parts = [part for part in run["cycles"] if part["label"] == layer["label"]]
        assert sum(part["cycles"] for part in parts) == layer["cycles"]
        assert layer["cause"] == "arithmetic"
    assert run["summary"].startswith("Of 5,020 cycles, layer 3 CONV_2D takes 1,510 cycles")


def test_points_lie_below_roofs_that_meet_at_the_knee() -> None:
    (run,) = page_runs([example_run()])
    left, knee, right = run["roofs"]
    assert left["rate"] == pytest.approx(14.2 * left["intensity"])
    assert knee["rate"] == right["rate"] == 64
    assert knee["intensity"] == pytest.approx(64 / 14.2)
    assert [point["intensity"] for point in run["points"]] == [
        40_000 / (64 * k) for k in range(1, 5)
    ]
    assert [point["rate"] for point in run["points"]] == [
        40_000 / cycles for cycles in (1000, 1170, 1340, 1510)
    ]


def test_a_run_without_profile_shows_its_cycles() -> None:
    plain = example_run()
    del plain["profile"]
    (run,) = page_runs([plain])
    assert {part["cause"] for part in run["cycles"]} == {"not split"}
    assert "memory" not in run


def test_a_study_is_shown_by_its_first_two_objectives(tmp_path: Path) -> None:
    path = tmp_path / "study.json"
    path.write_text(json.dumps(example_study()))
    runs, study = read_files([path])
    assert runs == []
    assert study is not None
    shown = page_study(study)
    assert shown["axes"] == ["bram", "cycles"]
    assert [row["front"] for row in shown["rows"]] == ["on the front", "beaten", "does not fit"]
    assert [row["simulated"] for row in shown["rows"]] == [101, None, None]
    with pytest.raises(UsageError, match=r"^there must be at most one study, not several; "):
        read_files([path, path])
    del study["configurations"][0]["front"]
    with pytest.raises(UsageError, match=r"^study must be what kiwicha explore --json wrote: "):
        page_study(study)
