"""What commands print is what they were given."""

import sys

import pytest
from rich.table import Table

from kiwicha.commands import console
from kiwicha.errors import Interrupted

# Each means something to rich: styles, an end of none, an escape and an emoji.
NAME = r"[bold]a[/x] \[b] :smile: [link=c]"


def test_lines_are_printed_as_they_are(capsys: pytest.CaptureFixture[str]) -> None:
    console.stdout().print(NAME)
    assert capsys.readouterr().out == f"{NAME}\n"


def test_titles_heads_cells_and_feet_are_printed_as_they_are(
    capsys: pytest.CaptureFixture[str],
) -> None:
    table = Table(title=f"title {NAME}", show_footer=True)
    table.add_column(f"head {NAME}", footer=f"foot {NAME}")
    table.add_row(f"cell {NAME}")
    console.stdout().print(table)
    out = capsys.readouterr().out
    assert [part for part in ("title", "head", "cell", "foot") if f"{part} {NAME}" not in out] == []


@pytest.mark.parametrize("is_terminal", [False, True])
def test_progress_is_shown_as_it_is(
    is_terminal: bool, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("COLUMNS", "160")
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setattr(sys.stderr, "isatty", lambda: is_terminal)
    with console.display() as show:
        show.stage(f"stage {NAME}")
        show.line(f"line {NAME}")
    err = capsys.readouterr().err
    assert [part for part in ("stage", "line") if f"{part} {NAME}" not in err] == []


def interrupted() -> None:
    with console.display() as show:
        show.count("adding", 12)(4)
        show.count("searching", 1_200, "points in s")(3)
        show.stage("confirming")
        raise KeyboardInterrupt


def test_an_interrupt_tells_what_is_kept() -> None:
    text = r"^interrupted; kept: 3 of 1,200 points in s; run the same command again to continue$"
    with pytest.raises(Interrupted, match=text) as raised:
        interrupted()
    assert isinstance(raised.value.__cause__, KeyboardInterrupt)
