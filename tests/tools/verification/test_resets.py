"""Resets of the simulated engine, and waits for its port."""

import random
from pathlib import Path
from typing import Any

import pytest

from kiwicha.gateware.engine.engine import Engine
from tests.gateware.engine.campaign import SCRATCHPAD_BYTES
from tests.gateware.engine.test_engine import TIMINGS
from tools.beside.run import Outcome
from tools.fuzz.loader import LoaderResult
from tools.verification import long_lists, mixed_inferences, resets
from tools.verification.upsets import cases_of
from tools.verification.watched_engine import (
    CLIENTS,
    Cut,
    Watched,
    build,
    read_watched,
    watched,
    write_cuts,
)


def test_cuts_and_what_is_measured_are_files(tmp_path: Path) -> None:
    write_cuts(tmp_path, [Cut(0x123, 5, is_alone=True), None, Cut(7, 2, is_alone=False)])
    lines = (tmp_path / "cuts").read_text().splitlines()
    assert lines[:4] == ["000001230b", "ffffffff00", "0000000704", "ffffffff00"]
    (tmp_path / "watched").write_text("300 1 4 9 0 8 1 7 2 6 3 5 64\n")
    assert read_watched(tmp_path) == [
        Watched(300, is_cut=True, owed=4, waits=((9, 0), (8, 1), (7, 2), (6, 3), (5, 64)))
    ]


def test_there_must_be_an_engine() -> None:
    with pytest.raises(ValueError, match="one module of the name engine, not 0"):
        watched("module other(a);\nendmodule\n")


def test_a_broken_writing_and_a_wrong_list_are_errors(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    written = {}
    monkeypatch.setattr(resets.record, "read", lambda *_: None)
    monkeypatch.setattr(resets.record, "write", lambda _, found: written.update(found))
    monkeypatch.setattr(resets, "_cut_writings", lambda *_: None)

    def reset(row: dict[str, Any], count: int, _: float) -> None:
        row["cut"] = count
        row["wrong"] = 1

    monkeypatch.setattr(resets, "_reset_engine", reset)
    assert resets.main(["--count", "3"]) == 1
    assert written["engine"]["cut"] == 3
    good = LoaderResult(100, 60, 30, 10)
    broken = LoaderResult(0, crashes=1, log="not whole")
    for result, code in ((good, 0), (broken, 1)):
        monkeypatch.undo()
        monkeypatch.setattr(resets.record, "read", lambda *_: None)
        monkeypatch.setattr(resets.record, "write", lambda _, found: written.update(found))
        monkeypatch.setattr(resets, "_reset_engine", lambda *_: None)
        monkeypatch.setattr(resets, "cut_writing", lambda *_, card, result=result: result)
        assert resets.main(["--cuts", "100"]) == code


def test_lists_that_differ_or_wait_too_long_are_errors(monkeypatch: pytest.MonkeyPatch) -> None:
    for differ, words, code in (([], 64, 0), (["seed 0"], 64, 1), ([], 257, 1)):
        assert long_lists.BOUND_WORDS == 256
        row = {"lists": 1, "jobs": 1, "cycles": 9, "differ": differ, "waits": {"jobs": [9, words]}}
        found = {"seeds": 0, "seconds": 0, "drams": {"ddr3": row}}
        monkeypatch.setattr(long_lists.record, "read", lambda *_, found=found: found)
        # An engine that nobody simulates would be one that somebody forgot.
        monkeypatch.setattr(long_lists, "Engine", lambda **_: None)
        monkeypatch.setattr(long_lists, "build", lambda _, **__: Path())
        assert long_lists.main(["--minutes", "0"]) == code


def test_wrong_inferences_are_errors(monkeypatch: pytest.MonkeyPatch) -> None:
    written = {}
    monkeypatch.setattr(mixed_inferences.record, "read", lambda *_: None)
    monkeypatch.setattr(mixed_inferences.record, "write", lambda _, found: written.update(found))
    monkeypatch.setattr(mixed_inferences, "pair", lambda _: (None, None))
    for wrong in (0, 1):
        outcome = Outcome(100, 0, 7, wrong, 3, 0, (5, 9))
        monkeypatch.setattr(
            mixed_inferences, "run_beside", lambda *_, outcome=outcome, **__: outcome
        )
        assert mixed_inferences.main(["--inferences", "20"]) == wrong
        assert (written["inferences"], written["longest_wait"]) == (27, 9)


@pytest.mark.nightly
@pytest.mark.verilator
@pytest.mark.slow
def test_a_list_behind_a_reset_is_right() -> None:
    program = build(Engine(macs=64, scratchpad_bytes=SCRATCHPAD_BYTES, has_softmax=False))
    cases, timing, rng = cases_of(1)[:6], TIMINGS["ddr3"], random.Random(1)
    plain, wrong = resets.cut_lists(program, cases, [None] * 6, timing, 1)
    assert wrong == 0
    assert not any(entry.is_cut for entry in plain)
    cuts = [
        Cut(rng.randrange(entry.cycles), 2, is_alone=k % 2 == 0) for k, entry in enumerate(plain)
    ]
    measured, wrong = resets.cut_lists(program, cases, cuts, timing, 1)
    assert wrong == 0
    done = [(entry, cut) for entry, cut in zip(measured, cuts, strict=True) if entry.is_cut]
    assert len(done) > 3
    assert all(abs(entry.cycles - cut.cycle) <= 1 for entry, cut in done)
    assert all(len(entry.waits) == len(CLIENTS) for entry in measured)
