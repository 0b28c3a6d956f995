"""``kiwicha report``."""

import json
import os
import resource
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.commands.command_line import Command
from tests.support.commands.example_runs import example_run
from tests.support.requirements import module

SECONDS_LIMIT = 2


@pytest.mark.slow
def test_report_writes_one_page(kiwicha: Command, tmp_path: Path) -> None:
    module("vl_convert", "vl-convert-python")
    runs, page = tmp_path / "run.json", tmp_path / "page.html"
    runs.write_text(json.dumps(example_run()))
    code, out, _ = kiwicha("report", runs, "-o", page)
    assert (code, out) == (0, f"{page}: 1 runs, {page.stat().st_size:,} bytes\n")
    text = page.read_text(encoding="utf-8")
    assert "<title>Kiwicha: toy on 64</title>" in text
    assert " UTC, by Kiwicha " in text
    # Neither data nor library may end a script, and the only ends are those of the four scripts.
    assert text.count("</script") == 4


@pytest.mark.slow
def test_the_whole_command_is_quick_once_the_library_is_bundled(tmp_path: Path) -> None:
    module("vl_convert", "vl-convert-python")
    run = tmp_path / "run.json"
    run.write_text(json.dumps(example_run(layers=31)))
    words = [sys.executable, "-m", "kiwicha.cli", "report", run, "-o", tmp_path / "page.html"]

    def report() -> tuple[float, str]:
        """Return the processor's seconds, which other processes lengthen less than the clock's."""
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        environment = {**os.environ, "KIWICHA_CACHE": str(tmp_path / "cache")}
        done = subprocess.run(words, env=environment, capture_output=True, text=True, check=True)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        return after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime, done.stderr

    assert report()[1] == "bundling the charting library\n"
    seconds, progress = report()
    assert progress == ""
    assert seconds < SECONDS_LIMIT


def test_report_names_what_is_wrong(kiwicha: Command, tmp_path: Path) -> None:
    assert kiwicha.error("report", tmp_path / "none.json").startswith("run must be a readable JSON")
    run = tmp_path / "run.json"
    run.write_text(json.dumps({**example_run(), "cycles": 0}))
    assert kiwicha.error("report", run) == f"cycles must be a number above 0, not 0 ({run})"
    assert kiwicha.error("report", run, "-o", run).startswith("output must be a file of its own")
    folder = tmp_path / "no" / "page.html"
    assert kiwicha.error("report", tmp_path, "-o", folder) == (
        f"output must be a file in an existing folder, not {folder}"
    )
