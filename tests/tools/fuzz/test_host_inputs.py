"""Hostile answers of a board, and hostile files for pages."""

import json

import pytest

from kiwicha.errors import BoardError, UsageError
from tests.support.commands.example_runs import example_run
from tools.fuzz import __main__ as fuzz
from tools.fuzz.host_inputs import read_answers, read_page
from tools.fuzz.seeds import seeds


def test_right_answers_are_taken() -> None:
    """The hostile board can be good: what it says afterwards comes far into the host's code."""
    read_answers(bytes(300))


@pytest.mark.parametrize(
    ("raw", "message"),
    [
        (b"", "must answer"),
        (bytes([0x80, 0, 0, 0, 1]), "the board refused HELLO"),
        (bytes([0xA1, 0, 0]), "must answer with"),
    ],
)
def test_wrong_answers_are_refused(raw: bytes, message: str) -> None:
    with pytest.raises(BoardError, match=message):
        read_answers(raw)


def test_pages_are_made_from_files_of_runs() -> None:
    for raw in seeds("page"):
        read_page(raw)
    run = example_run(layers=1)
    run["clock_hz"] = "fast"
    with pytest.raises(UsageError, match="clock_hz must be"):
        read_page(json.dumps([run]).encode())


def test_an_end_by_a_signal_is_a_crash(monkeypatch: pytest.MonkeyPatch, tmp_path) -> None:
    """What ends the fuzzer without a kept input must not look like a good end."""
    script = tmp_path / "python"
    script.write_text('#!/bin/sh\necho "#123 pulse" >&2\nkill -ALRM $$\n')
    script.chmod(0o755)
    monkeypatch.setattr(fuzz.sys, "executable", str(script))
    monkeypatch.setattr(fuzz.cache, "cache_dir", lambda: tmp_path)
    monkeypatch.setattr(fuzz, "RECORDS", tmp_path / "fuzz.json")
    assert fuzz.main(["page", "--minutes", "0.01"]) == 0
    (row,) = json.loads((tmp_path / "fuzz.json").read_text())
    assert (row["executions"], row["crashes"], row["hangs"]) == (123, 1, 0)
