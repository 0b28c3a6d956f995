"""What outside tools print is kept."""

from pathlib import Path

import pytest

from kiwicha import tool_log


@pytest.fixture
def folder(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    monkeypatch.setenv("KIWICHA_CACHE", str(tmp_path))
    return tmp_path / "logs"


def test_calls_of_a_process_are_in_one_file(folder: Path) -> None:
    first = tool_log.kept("one", ["cc", "a b.c"], "warning\n\nmore\n", 0, 1.25)
    assert first is not None
    assert tool_log.kept("two", ["make"], "", 2, 0.0) == first
    assert list(folder.iterdir()) == [first]
    assert first.read_text().splitlines() == [
        "$ cc 'a b.c'",
        *("warning", "more", "# one: exit status 0 after 1.2 s"),
        *("$ make", "# two: exit status 2 after 0.0 s"),
    ]


def test_only_the_last_files_are_kept(folder: Path) -> None:
    folder.mkdir()
    for number in range(30):
        (folder / f"2020-{number:02}.log").touch()
    path = tool_log.kept("one", ["cc"], "", 0, 0.0)
    names = sorted(file.name for file in folder.iterdir())
    assert path is not None
    assert names == [*(f"2020-{number:02}.log" for number in range(11, 30)), path.name]


def test_what_is_shown_is_shown_in_the_block_alone(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with tool_log.shown():
        tool_log.kept("one", ["cc"], "text", 0, 0.0)
    assert capsys.readouterr().err == "$ cc\ntext\n# one: exit status 0 after 0.0 s\n"
    tool_log.kept("one", ["cc"], "text", 0, 0.0)
    assert capsys.readouterr().err == ""
