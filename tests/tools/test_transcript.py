"""The transcript of an application on the simulated board."""

from collections.abc import Iterable

import pytest

from kiwicha.contract.cfu import STATUS_TEXT, Status
from kiwicha.errors import UsageError
from tools.documents.transcript_section import transcript_section
from tools.transcript import shown_lines, transcript


def fresh(paths: Iterable[str]) -> str:
    return f"fresh: {', '.join(paths)}"


def test_progress_is_not_shown() -> None:
    text = "one\r\n[LITEX-TERM] Uploading: 10%\rUpload complete (9.8KB/s).\r\n\r\nKKKtwo\r\n"
    assert shown_lines(text) == ["one", "two"]


def test_a_section_has_the_lines_and_the_command() -> None:
    said = {"config": "64", "lines": ["first: 1", "second: 2"]}
    lines = transcript_section({"t/a.json": said}, fresh).splitlines()
    assert lines[:4] == ["```text", "first: 1", "second: 2", "```"]
    assert lines[-4:] == [
        "python -m tools.transcript --config 64 --json t/a.json",
        "```",
        "",
        "fresh: t/a.json",
    ]
    with pytest.raises(UsageError):
        transcript_section({"t/a.json": {}}, fresh)


@pytest.mark.nightly
@pytest.mark.verilator
def test_the_application_runs_on_the_simulated_board() -> None:
    said = transcript("64")
    assert said["lines"][-1] == "unknown"
    assert f"third meanwhile: {STATUS_TEXT[Status.BUSY]}" in said["lines"]
