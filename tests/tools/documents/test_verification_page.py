"""The page on verification says what is recorded, and nothing else."""

import json
import subprocess
from pathlib import Path

from tests.support.requirements import REPOSITORY
from tools.documents.verification_page import verification_page
from tools.documents.verification_plan import FOUND
from tools.mutation.__main__ import source_of
from tools.mutation.equivalents import EQUIVALENTS
from tools.mutation.operators import mutants
from tools.mutation.targets import TARGETS


def record(folder: Path, name: str, **counts: int) -> None:
    rows = [
        {"line": 1, "text": "", "change": f"{result} {n}", "place": 0, "result": result}
        for result, count in counts.items()
        for n in range(count)
    ]
    path = folder / "docs" / "results" / "verification" / "mutation" / f"{name}.jsonl"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(f"{json.dumps(row)}\n" for row in rows))


def test_scores_and_stages_come_from_the_records(tmp_path: Path) -> None:
    record(tmp_path, "numerics.all", killed=50, broken=3)
    record(tmp_path, "numerics.sample", killed=10)
    record(tmp_path, "numerics.most", killed=8, hangs=1, survived=1)
    record(tmp_path, "gateware.all", killed=10, equivalent=2)
    record(tmp_path, "gateware.few", killed=3)
    page = verification_page(tmp_path)
    assert "| `numerics.all` | 50 | 50 | 0 | 0 | 100% |" in page
    assert "| `numerics.most` | 10 | 9 | 0 | 1 | 90% |" in page
    assert "| `gateware.all` | 10 | 10 | 2 | 0 | 100% |" in page
    assert "- `numerics.most`, line 1: `survived 0`" in page
    assert "All faults that were tried" not in page
    stages = (
        "| `numerics.all` | 50 of 50 | V3 |",
        "| `numerics.sample` | 10 of 10 | V2 |",
        "| `numerics.most` | 9 of 10 | V2 |",
        "| `gateware.all` | 10 of 10 |  |  | V2 |",
        "| `gateware.few` | 3 of 3 |  |  | V1 |",
    )
    assert all(row in page for row in stages)
    assert "| faults that tests see: Python modules, own tests | 98.5% (69 of 70) | 100% |" in page
    assert "| faults that tests see: gateware sources, own tests | 100% (13 of 13) | 90% |" in page


def test_a_module_without_more_faults_is_at_the_last_stage(tmp_path: Path) -> None:
    count = len(mutants(source_of(TARGETS["numerics.integers"])))
    assert count < 50
    row = f"| `numerics.integers` | {count - 2} of {count - 2} |"
    record(tmp_path, "numerics.integers", killed=count - 2, equivalent=2)
    assert f"{row} V3 |" in verification_page(tmp_path)
    record(tmp_path, "numerics.integers", killed=count - 2, equivalent=1)
    assert f"{row} V2 |" in verification_page(tmp_path)


def test_faults_in_the_engine_count_for_each_component_that_they_lie_in(tmp_path: Path) -> None:
    folder = tmp_path / "docs" / "results" / "verification" / "netlist_faults"
    folder.mkdir(parents=True)
    places = ("controller.port", "controller.reader_0", "controller.reader_1.fifo")
    rows = [
        {"number": n, "module": place, "signal": "it", "change": "inv", "result": "killed"}
        for n, place in enumerate(places)
    ]
    (folder / "engine.jsonl").write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    page = verification_page(tmp_path)
    assert "| `gateware.engine.memory.dma_reader` |  | 2 of 2 | not tried | V1 |" in page
    assert "| `gateware.engine.memory.memory_port` |  | 1 of 1 | not tried | V1 |" in page
    assert "| `gateware.engine.control.controller` |  | 3 of 3 |  | V1 |" in page


def test_faults_that_change_nothing_have_their_reasons(tmp_path: Path) -> None:
    record(tmp_path, "numerics.all", killed=50, equivalent=1)
    page = verification_page(tmp_path)
    assert "| `numerics.all` | 50 | 50 | 1 | 0 | 100% |" in page
    assert "All faults that were tried and that change anything were seen." in page
    for item in EQUIVALENTS:
        assert f"- `{item.module}`, in `{item.text}`: `{item.change}`: {item.reason}." in page


def test_proofs_are_listed_with_what_they_assume(tmp_path: Path) -> None:
    path = tmp_path / "tests" / "proof_of.py"
    path.parent.mkdir()
    path.write_text(
        'def sound():\n    """State that all is\n    well.\n\n    Assumed: much.\n    """\n'
        'def free():\n    """State that it is."""\ndef _other(): pass\n'
    )
    page = verification_page(tmp_path)
    assert "| `sound` | all is well. | much. |" in page
    assert "| `free` | it is. | nothing |" in page
    assert "_other" not in page


def test_executions_are_shown_once_they_are_recorded(tmp_path: Path) -> None:
    assert "Hostile input" not in verification_page(tmp_path)
    path = tmp_path / "docs" / "results" / "verification" / "fuzz.json"
    path.parent.mkdir(parents=True)
    one = {"input": "it", "executions": 1234, "crashes": 0, "hangs": 1}
    other = {"input": "other", "executions": 10, "crashes": 2, "hangs": 0}
    path.write_text(json.dumps([one, other]))
    page = verification_page(tmp_path)
    assert "| it | 1,234 | 0 | 1 |" in page
    assert "| all | 1,244 | 2 | 1 |" in page


def test_commits_that_mended_faults_exist() -> None:
    """Where the history is there."""
    done = subprocess.run(
        ["git", "log", "--format=%s"], cwd=REPOSITORY, capture_output=True, text=True, check=False
    )
    subjects = set(done.stdout.splitlines())
    if len(subjects) > len(FOUND):
        assert {commit for _, commit in FOUND} <= subjects


def measured(folder: Path, name: str, values: object) -> str:
    path = folder / "docs" / "results" / "verification" / f"{name}.json"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(values))
    return verification_page(folder)


def test_jobs_that_differ_are_shown(tmp_path: Path) -> None:
    counts = {"lists": 2, "jobs": 3, "transfers": 4, "bytes": 5000, "config": "64"}
    rows = [{"model": "m", "difference": None, **counts}]
    rows.append({"model": "n", "difference": "job 3 differs", **counts})
    page = measured(tmp_path, "jobs", rows)
    assert "| `m` | `64` | 2 | 3 | 4 | 5,000 | none |" in page
    assert "python -m tools.verification.jobs m n --config 64" in page
    assert "| `n` | `64` | 2 | 3 | 4 | 5,000 | job 3 differs |" in page


def test_coverage_is_shown_with_its_holes(tmp_path: Path) -> None:
    row = {"component": "controller.port", "line": [8, 7], "branch": [2, 2], "toggle": [0, 0]}
    page = measured(
        tmp_path,
        "coverage",
        {
            "config": "64",
            "command": "cover",
            "lists": 10,
            "jobs": 20,
            "components": [row],
            "timings": ["fast"],
            "designs": 3,
            "models": ["demo", "kws"],
            "met_by": {"lists": {"line": 7, "branch": 1, "toggle": 0}},
            "holes": {
                "controller.port: if: if (reset) begin": 5,
                "datapath: if: a": 1,
                "datapath: else: b": 3,
            },
            "functional": {"planned": 5, "covered": 4, "missing": ["ADD: WIDE"]},
        },
    )
    assert "| `controller.port` | 8 | 87.5% | 2 | 100.0% | 0 |  |" in page
    assert "of 3 designs; and by models on the simulated system:\ndemo, kws. Lines" in page
    assert "of lines / branches / toggles: lists 87.5% / 50.0% / ." in page
    assert "| line coverage of the engine | 87.5% | 98% |" in page
    assert "4 of 5 points" in page
    assert "not met: ADD: WIDE." in page
    assert "- `datapath`: `if: a`, `else: b` 3 times" in page
    assert "- 5: the engine's own reset is not asked for" in page


def test_coverage_of_python_is_shown_with_its_holes(tmp_path: Path) -> None:
    row = {"package": "numerics", "lines": 8, "lines_met": 7, "branches": 2, "branches_met": 1}
    page = measured(
        tmp_path,
        "python_coverage",
        {
            "runs": [
                {"measured": ["numerics"], "command": "cover numerics", "tests": 1000},
                {"measured": ["compiler"], "command": "cover", "tests": 30},
            ],
            "packages": [row],
            "holes": [
                {"module": "compiler.onnx.pools", "missing": 9, "lines": ""},
                {"module": "numerics.sound", "missing": 2, "lines": "7-8"},
                {"module": "compiler.onnx.moves", "missing": 1, "lines": "3"},
            ],
        },
    )
    assert "in runs of 1,000 and 30 tests." in page
    assert "| `numerics` | 8 | 87.5% | 2 | 50.0% |" in page
    assert ": `compiler.onnx.pools` 9; `compiler.onnx.moves` 1 (3)." in page
    assert "- without a reason that is known: `numerics.sound` 2 (7-8)." in page
    assert "```\ncover numerics\ncover\n```" in page


def test_coverage_of_c_is_shown_with_its_holes(tmp_path: Path) -> None:
    row = {"folder": "kernels", "lines": 8, "lines_met": 7, "branches": 2, "branches_met": 1}
    known = {"command": "cover c", "configs": ["simd", "64"], "kernels": 3, "models": ["kws"]}
    holes = [
        {"file": "kernels/add.c", "line": 5, "text": "return KIWICHA_STATUS_BAD_ARGUMENT;"},
        {"file": "kernels/mul.c", "line": 6, "text": "return KIWICHA_STATUS_BAD_ARGUMENT;"},
        {"file": "kernels/mul.c", "line": 9, "text": "sum += 1;"},
    ]
    counts = {"programs": 1234, "refused": 50, "folders": [row], "holes": holes}
    page = measured(tmp_path, "c_coverage", {**known, **counts})
    assert "By 1,234 Programs on the host, of `simd`, `64`:" in page
    assert "| `firmware/kernels` | 8 | 87.5% | 2 | 50.0% |" in page
    assert "- 2: a kernel is called without parameters" in page
    assert "- `firmware/kernels/mul.c`: 9 `sum += 1;`" in page


def test_netlists_are_shown_as_proven_only_if_they_are(tmp_path: Path) -> None:
    known = {"cut": {"$mul": 2}, "names": [], "limit_seconds": 0, "given_seconds": 60.0}
    known |= {"held": 1, "absent": 2, "shifted": 3, "merged": 4, "proven": 9, "unproven": 0}
    rows = [
        {"component": "a", "family": "xc7", "starts": True, **known},
        {"component": "a", "family": "ecp5", "starts": None, **known, "proven": 8, "unproven": 1},
        {"component": "b", "family": "xc7", **known, "limit_seconds": 60.0},
        {"component": "b", "family": "ecp5", "starts": False, **known, "means": "next states"},
        {"component": "d", "family": "xc7", "starts": None, **known},
        {"component": "d", "family": "ecp5", **known},
    ]
    rows[1]["names"] = ["state"]
    rows[2]["is_short"] = True
    rows.append({"component": "c", "family": "xc7", "failed": "no", "given_seconds": 90.0})
    page = measured(tmp_path, "equivalence", rows)
    assert "| `a` | xc7 | 9 | 0 | 2 multipliers | proven | induction |" in page
    assert "| `a` | ecp5 | 9 | 1 | 2 multipliers | not proven | induction |" in page
    assert "- `a` on ecp5: `state`" in page
    assert "| `b` | xc7 |  |  | 2 multipliers | no answer in 60 s |  |" in page
    assert "| `c` | xc7 |  |  |  | Yosys failed |  |" in page
    assert "| `b` | ecp5 | 9 | 0 | 2 multipliers | other first values | next states |" in page
    assert "| `d` | xc7 | 9 | 0 | 2 multipliers | first values without an answer |" in page
    assert "| `d` | ecp5 | 9 | 0 | 2 multipliers | proven, first values aside |" in page
    assert "Of 7 netlists of 4 components:" in page
    assert "is of an earlier proof" in page
    assert "is of an earlier proof" not in measured(tmp_path, "equivalence", rows[:4])
    assert "- 18 bits are within shift registers" in page
    assert "\n  24 are one with others" in page
    assert "- 6 bits keep their first value" in page
    assert "- 12 bits are not in the netlist" in page
    assert "the solver got 60 s for each at least" in page
    assert "an error there:\n`b` on xc7." in page


def test_replays_are_shown_with_what_differs(tmp_path: Path) -> None:
    counts = {"cells": 1000, "starts": 2, "lists": 30, "jobs": 40, "cycles": 5000}
    known = {"config": "64", "family": "xc7", "command": "replay --all", **counts}
    rows = [
        {**known, "what": "random", "timings": ["fast", "ddr3"], "difference": None},
        {**known, "what": "kws", "timings": ["ddr3"], "difference": "ready must be 1"},
    ]
    page = measured(tmp_path, "replay", rows)
    counted = "| 2 | 30 | 40 | 5,000 |"
    assert f"| `64` | xc7 | 1,000 | random | fast, ddr3 {counted} none |" in page
    assert f"| `64` | xc7 | 1,000 | `kws` | ddr3 {counted} ready must be 1 |" in page
    assert page.count("replay --all") == 1


def test_hardware_is_at_the_last_stage_if_both_netlists_are_proven(tmp_path: Path) -> None:
    record(tmp_path, "gateware.engine.it", killed=60)
    row = {"component": "engine.it", "proven": 1, "unproven": 0, "cut": {}, "limit_seconds": 0}
    row["given_seconds"] = 1.0
    row |= {"is_proven": True, "starts": True}
    one, other = ({**row, "family": family} for family in ("xc7", "ecp5"))
    page = measured(tmp_path, "equivalence", [one, other])
    assert "| `gateware.engine.it` | 60 of 60 |  | proven | V3 |" in page
    for what in ("is_proven", "starts"):
        page = measured(tmp_path, "equivalence", [one, {**other, what: False}])
        assert "| `gateware.engine.it` | 60 of 60 |  | not proven | V2 |" in page


def test_upsets_are_shown_by_what_came_of_them(tmp_path: Path) -> None:
    results = {"right bytes": 3, "wrong bytes": 1}
    group = {"bits": 1000, "trials": 4, "results": results, "unusable": 0, "silent_in": {"a": 1}}
    page = measured(
        tmp_path,
        "upsets",
        {
            "config": "64",
            "command": "flip --much",
            "scratchpad_bytes": 8192,
            "seed": 7,
            "lists": 2,
            "cycles": [100, 2000],
            "groups": {"registers": group},
        },
    )
    assert "| registers | 1,000 | 4 | 3 (75.0%) | 1 (25.0%) | 0 (0.0%) |" in page
    assert "- registers: `a` 1" in page
    assert "```\nflip --much\n```" in page


def test_resets_and_long_runs_are_shown(tmp_path: Path) -> None:
    engine = {"seeds": 3, "cut": 1600, "alone": 800, "owed": 50, "wrong": 2, "failed": []}
    row = {"cut": 1000, "refused": 700, "old": 1, "new": 299, "broken": 0}
    values = {"config": "64", "command": "go", "engine": engine, "writings": {"flash": row}}
    page = measured(tmp_path, "resets", values)
    assert "| 1,600 | 800 | 50 | 2 |" in page
    assert "| flash memory | 1,000 | 700 | 1 | 299 | 0 |" in page
    row = {
        "lists": 24,
        "jobs": 99,
        "cycles": 50_000_000,
        "differ": ["seed 1"],
        "waits": {"jobs": [1234, 64], "writer": [5, 0]},
    }
    values = {
        "config": "64",
        "clock_hz": 100_000_000,
        "seconds": 600,
        "bound_words": 256,
        "command": "go on",
        "drams": {"ddr3": row},
    }
    page = measured(tmp_path, "long_lists", values)
    assert "took 50,000,000 cycles: 0.50 s at\n100 MHz, 5.8e-06 of a day" in page
    assert "| ddr3 | 24 | 99 | 50,000,000 | 1 |" in page
    assert "| ddr3 | 1,234 (64) | 5 (0) |" in page
    values = {"config": "64-preempt", "pairs": 9, "failed": ["x"], "longest_wait": 4321}
    sums = ("inferences", "urgent", "suspensions", "cycles", "wrong", "noise_wrong")
    values |= {"command": "go", **dict(zip(sums, (10_000, 9_000, 800, 70_000, 1, 2), strict=True))}
    page = measured(tmp_path, "mixed_inferences", values)
    assert "| 10,000 | 9,000 | 800 | 70,000 | 1 | 2 | 1 |" in page
    assert "urgent model: 4,321 cycles." in page
