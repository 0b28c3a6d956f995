"""``kiwicha trace``."""

import gzip
import json
import re
from pathlib import Path

import pytest

from tests.support.commands.command_line import Command
from tests.support.models.two_heads import two_heads


def test_trace_refuses_other_files(kiwicha: Command, tiny: Path, tmp_path: Path) -> None:
    assert kiwicha.error("trace", tiny, "-o", tmp_path / "run.txt") == (
        "output must end in .json or .json.gz, not 'run.txt'"
    )
    words = ["-o", tmp_path / "run.json", "--picture", tmp_path / "run.jpg"]
    assert kiwicha.error("trace", tiny, *words) == (
        "picture must end in .svg or .png, not 'run.jpg'"
    )


@pytest.mark.nightly
@pytest.mark.verilator
def test_trace_writes_what_viewers_and_people_open(kiwicha: Command, tmp_path: Path) -> None:
    (tmp_path / "heads.tflite").write_bytes(two_heads())
    trace, picture = tmp_path / "run.json.gz", tmp_path / "run.svg"
    code, out, err = kiwicha("trace", tmp_path / "heads.tflite", "-o", trace, "--picture", picture)
    assert code == 0, err
    events = json.loads(gzip.decompress(trace.read_bytes()))["traceEvents"]
    complete = [event for event in events if event["ph"] == "X"]
    first, second = out.splitlines()
    assert first == f"{trace}: {len(complete)} events; open it in ui.perfetto.dev"
    assert re.fullmatch(
        r"the timeline begins at cycle \d+ of the simulation \(for --trace-start\)", second
    )
    assert {event["args"]["inference"] for event in complete} == {0, 1}
    assert "engine jobs" in picture.read_text()
