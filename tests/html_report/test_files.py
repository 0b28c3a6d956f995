"""Files of runs and studies, and files that are neither."""

import copy
import json
from pathlib import Path
from typing import Any

import pytest

from kiwicha.errors import UsageError
from kiwicha.explore.points import OBJECTIVES
from kiwicha.html_report import read_files
from kiwicha.html_report.data import page_runs
from kiwicha.html_report.schema import json_schema
from kiwicha.html_report.sorts import CAUSES, MEASURES, TRAFFIC
from tests.support.commands.example_runs import example_run, example_study
from tests.support.requirements import REPOSITORY


def refused(tmp_path: Path, content: Any) -> str:
    path = tmp_path / "run.json"
    path.write_text(content if isinstance(content, str) else json.dumps(content))
    with pytest.raises(UsageError) as caught:
        read_files([path])
    return str(caught.value).replace(str(path), "PATH")


def changed(value: Any, field: str, new: Any) -> Any:
    """Return a copy with another value at a field such as ``layers.0.cycles``."""
    whole = copy.deepcopy(value)
    *outer, last = (int(name) if name.isdigit() else name for name in field.split("."))
    place = whole
    for name in outer:
        place = place[name]
    place[last] = new
    return whole


def test_files_of_run_and_bench_are_read(tmp_path: Path) -> None:
    one, several = tmp_path / "run.json", tmp_path / "bench.json"
    one.write_text(json.dumps(example_run()))
    several.write_text(json.dumps([example_run(config="32"), example_run(config="128")]))
    runs, study = read_files([one, several])
    assert [run["config"] for run in runs] == ["64", "32", "128"]
    assert [run["file"] for run in runs] == ["run.json", "bench.json", "bench.json"]
    assert study is None


@pytest.mark.parametrize(
    "path", sorted((REPOSITORY / "docs" / "results" / "bench").glob("*.json")), ids=lambda p: p.stem
)
def test_results_of_the_documents_are_read(path: Path) -> None:
    runs, _ = read_files([path])
    assert [run["name"] for run in page_runs(runs)]


def test_other_files_are_refused(tmp_path: Path) -> None:
    wanted = "run must be what kiwicha run, bench or explore wrote with --json (PATH)"
    assert refused(tmp_path, {"resources": {}}) == wanted
    assert refused(tmp_path, [1]) == wanted
    assert refused(tmp_path, []) == "there must be at least one run (PATH)"
    assert refused(tmp_path, "{").startswith("run must be a readable JSON file: ")
    with pytest.raises(UsageError) as raised:
        read_files([Path("nowhere")])
    assert str(raised.value) == (
        "run must be a readable JSON file: No such file or directory (nowhere)"
    )
    assert refused(tmp_path, "[" * 100_000).startswith("run must be a readable JSON file: ")
    assert refused(tmp_path, {**example_run(), "cycles": None}) == (
        "run must have cycles, not those of --target reference; simulate it with --target sim "
        "(PATH)"
    )


@pytest.mark.parametrize(
    ("field", "value", "text"),
    [
        ("cycles", 0, "cycles must be a number above 0, not 0 (PATH)"),
        ("cycles", -1, "cycles must be a number above 0, not -1 (PATH)"),
        ("cycles", "5020", "cycles must be a number above 0, not '5020' (PATH)"),
        ("cycles", True, "cycles must be a number above 0, not True (PATH)"),
        ("clock_hz", 0, "clock_hz must be a number above 0, not 0 (PATH)"),
        ("macs", None, "macs must be a number from 0 on, not None (PATH)"),
        ("model", 7, "model must be a string, not 7 (PATH)"),
        ("layers", {"a": 1}, "layers must be a list, not {'a': 1} (PATH)"),
        ("layers.2", "x", "layers[2] must be an object, not 'x' (PATH)"),
        (
            "layers.2.cycles",
            [],
            "layers[2].cycles must be a number from 0 on, or null, not [] (PATH)",
        ),
        ("layers.0", {"index": 0}, "layers[0].op must be present (PATH)"),
        ("bit_exact", 1, "bit_exact must be true or false, or null, not 1 (PATH)"),
        (
            "profile.macs_per_cycle",
            0,
            "profile.macs_per_cycle must be a number above 0, not 0 (PATH)",
        ),
        (
            "profile.layers",
            [],
            "profile.layers must have 4 entries, as layers has, not 0 (PATH)",
        ),
        (
            "profile.layers.1.split",
            {"waiting": 3},
            f"names in profile.layers[1].split must be {' or '.join(CAUSES)}, not 'waiting' (PATH)",
        ),
        (
            "profile.layers.1.dram.loads",
            "x",
            "profile.layers[1].dram.loads must be a number from 0 on, not 'x' (PATH)",
        ),
        (
            "profile.memory.arena.tensors.0.end",
            None,
            "profile.memory.arena.tensors[0].end must be a number from 0 on, not None (PATH)",
        ),
    ],
)
def test_a_wrong_field_of_a_run_is_named(tmp_path: Path, field: str, value: Any, text: str) -> None:
    run = changed(example_run(), field, value)
    assert refused(tmp_path, run) == text
    first = field.partition(".")[0]
    assert refused(tmp_path, [example_run(), run]) == text.replace(first, f"[1].{first}", 1)


@pytest.mark.parametrize("number", ["Infinity", "-Infinity", "NaN", "1e999"])
def test_numbers_are_finite(tmp_path: Path, number: str) -> None:
    text = json.dumps(example_run()).replace('"cycles": 5020,', f'"cycles": {number},')
    assert refused(tmp_path, text) == (
        f"run must be a readable JSON file: numbers must be finite, not {number} (PATH)"
    )


@pytest.mark.parametrize(
    ("field", "value", "text"),
    [
        (
            "objectives",
            ["cycles", "power"],
            "objectives[1] must be cycles or lut or dsp or bram, not 'power' (PATH)",
        ),
        (
            "objectives",
            [["cycles"]],
            "objectives[0] must be cycles or lut or dsp or bram, not ['cycles'] (PATH)",
        ),
        ("objectives", "cycles", "objectives must be a list, not 'cycles' (PATH)"),
        ("bram_kbit", 0, "bram_kbit must be a number above 0, not 0 (PATH)"),
        (
            "configurations.0.cycles",
            "100",
            "configurations[0].cycles must be a number from 0 on, not '100' (PATH)",
        ),
        ("configurations.1", {}, "configurations[1].config must be present (PATH)"),
        (
            "configurations.0.confirmed.cycles",
            3,
            "configurations[0].confirmed.cycles must be a list, not 3 (PATH)",
        ),
    ],
)
def test_a_wrong_field_of_a_study_is_named(
    tmp_path: Path, field: str, value: Any, text: str
) -> None:
    assert refused(tmp_path, changed(example_study(), field, value)) == text


def test_every_objective_has_a_title() -> None:
    assert tuple(MEASURES) == OBJECTIVES


def test_there_is_at_most_one_study(tmp_path: Path) -> None:
    path = tmp_path / "study.json"
    path.write_text(json.dumps(example_study()))
    runs, study = read_files([path])
    assert (runs, study) == ([], example_study())
    with pytest.raises(UsageError, match=r"^there must be at most one study, not several; "):
        read_files([path, path])


def test_the_schema_is_published() -> None:
    published = json.loads((REPOSITORY / "docs" / "runs.schema.json").read_text())
    assert published == json_schema()
    assert {"RunFile", "StudyFile", "Profile"} <= published["$defs"].keys()
    run = published["$defs"]["RunFile"]
    assert run["required"] == ["model", "config", "target", "cycles", "macs", "clock_hz", "layers"]
    assert run["properties"]["cycles"]["exclusiveMinimum"] == 0
    layer = published["$defs"]["LayerProfile"]["properties"]
    assert layer["split"]["propertyNames"]["enum"] == list(CAUSES)
    assert published["$defs"]["Traffic"]["required"] == list(TRAFFIC)
    study = published["$defs"]["StudyFile"]["properties"]
    assert study["objectives"]["items"]["enum"] == list(MEASURES)


def test_how_a_file_was_made_is_checked(tmp_path: Path) -> None:
    assert refused(tmp_path, {**example_run(), "made": {"date": 1}}) == (
        "made.date must be a string, not 1 (PATH)"
    )
