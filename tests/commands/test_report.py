"""``kiwicha report``."""

import json
from pathlib import Path

from support.command_line import Command
from support.example_runs import example_run
from support.requirements import module


def test_report_writes_one_page(kiwicha: Command, tmp_path: Path) -> None:
    module("vl_convert", "vl-convert-python")
    runs, page = tmp_path / "run.json", tmp_path / "page.html"
    runs.write_text(json.dumps(example_run()))
    code, out, _ = kiwicha("report", runs, "-o", page)
    assert (code, out) == (0, f"{page}: 1 runs, {page.stat().st_size:,} bytes\n")
    text = page.read_text(encoding="utf-8")
    assert "<title>Kiwicha: toy on 64</title>" in text
    # Neither data nor library may end a script, and the only ends are those of the three scripts.
    assert text.count("</script") == 3


def test_report_names_what_is_wrong(kiwicha: Command, tmp_path: Path) -> None:
    assert kiwicha.error("report", tmp_path / "none.json").startswith("run must be a readable JSON")
    run = tmp_path / "run.json"
    run.write_text(json.dumps({**example_run(), "cycles": 0}))
    assert kiwicha.error("report", run) == f"cycles must be a number above 0, not 0 ({run})"
    folder = tmp_path / "no" / "page.html"
    assert kiwicha.error("report", tmp_path, "-o", folder) == (
        f"output must be a file in an existing folder, not {folder}"
    )
