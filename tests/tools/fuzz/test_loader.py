"""Hostile bytes for a board's loader, and images whose writing was cut."""

import pytest

from tools.fuzz import loader
from tools.fuzz.loader import LoaderResult, cut_writing, talk


def test_hostile_bytes_leave_the_loader_answering() -> None:
    result = talk(0, 500)
    assert (result.executions, result.crashes, result.hangs) == (500, 0, 0), result.log
    # Some of them are right, and start what they have sent.
    assert result.refused > 0


@pytest.mark.parametrize("card", [False, True])
def test_what_was_half_written_is_not_started(card: bool) -> None:
    result = cut_writing(0, 500, card=card)
    assert (result.executions, result.crashes, result.hangs) == (500, 0, 0), result.log
    assert result.refused > result.new > 0


def test_what_breaks_a_rule_is_a_crash(monkeypatch: pytest.MonkeyPatch, tmp_path) -> None:
    script = tmp_path / "fuzz"
    script.write_text("#!/bin/sh\necho AddressSanitizer >&2\nexit 1\n")
    script.chmod(0o755)
    monkeypatch.setattr(loader, "_build", lambda: script)
    assert talk(0, 1) == LoaderResult(0, crashes=1, log="AddressSanitizer\n")
    script.write_text("#!/bin/sh\nexit 66\n")
    assert cut_writing(0, 1) == LoaderResult(0, hangs=1)
