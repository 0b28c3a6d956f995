"""``kiwicha trace``."""

from pathlib import Path

from support.command_line import Command


def test_trace_refuses_other_files(kiwicha: Command, tiny: Path, tmp_path: Path) -> None:
    assert kiwicha.error("trace", tiny, "-o", tmp_path / "run.txt") == (
        "output must end in .json or .json.gz, not 'run.txt'"
    )
    words = ["-o", tmp_path / "run.json", "--picture", tmp_path / "run.jpg"]
    assert kiwicha.error("trace", tiny, *words) == (
        "picture must end in .svg or .png, not 'run.jpg'"
    )
