"""Coverage of Python: ``python -m tools.verification.python_coverage``.

The quick tests of numerics, of the compiler, of codecs and of readers run under coverage.py. What
is recorded of other packages than those that are named stays.
"""

import argparse
import json
import re
import subprocess
import sys
import tempfile
from collections import defaultdict
from pathlib import Path
from typing import Any

from kiwicha.errors import ToolError
from tools.verification import record

__all__ = ["PACKAGES", "RECORD", "joined", "main", "summary"]

RECORD = "python_coverage"
PACKAGES = ("numerics", "program", "compiler")
"""Of `kiwicha`, with the tests of the same folders."""
_SOURCES = Path("src/kiwicha")
_QUICK = "not nightly and not slow and not verilator and not synth and not browser"


def _measure(packages: list[str], folder: Path) -> tuple[dict[str, Any], int]:
    """Return what coverage.py says, and how many tests there were."""
    data, report = folder / "data", folder / "coverage.json"
    coverage = [sys.executable, "-m", "coverage"]
    include = ",".join(f"{_SOURCES.resolve() / package}/*" for package in packages)
    tests = [f"tests/{package}" for package in packages]
    command = [*coverage, "run", "--branch", f"--data-file={data}", f"--include={include}"]
    command += ["-m", "pytest", "-q", "-p", "no:cacheprovider", "-m", _QUICK, *tests]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    passed = re.search(r"(\d+) passed", done.stdout)
    if done.returncode or passed is None:
        raise ToolError(f"quick tests must pass under coverage.py:\n{done.stdout[-2000:]}")
    subprocess.run([*coverage, "json", f"--data-file={data}", "-q", "-o", str(report)], check=True)
    found: dict[str, Any] = json.loads(report.read_text(encoding="utf-8"))
    return found, int(passed[1])


def summary(files: dict[str, Any]) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """Return counts of each package, and the modules with lines that were not met, most first.

    Parameters
    ----------
    files : dict
        ``files`` of coverage.py's JSON, by paths that contain ``src/kiwicha/``.
    """
    rows: dict[str, dict[str, int]] = defaultdict(lambda: defaultdict(int))
    missing = []
    for path, file in files.items():
        module = path.partition(f"{_SOURCES}/")[2].removesuffix(".py").replace("/", ".")
        parts = module.split(".")
        counts = file["summary"]
        row = rows[".".join(parts[: min(2, len(parts) - 1)])]
        row["lines"] += counts["num_statements"]
        row["lines_met"] += counts["covered_lines"]
        row["branches"] += counts["num_branches"]
        row["branches_met"] += counts["covered_branches"]
        lines = _ranges(file.get("missing_lines", []))
        missing.append({"module": module, "missing": counts["missing_lines"], "lines": lines})
    missing.sort(key=lambda hole: (-hole["missing"], hole["module"]))
    packages = [{"package": name, **row} for name, row in sorted(rows.items())]
    return packages, [hole for hole in missing if hole["missing"]]


def _ranges(lines: list[int]) -> str:
    """Return numbers such as ``3-5, 9``."""
    found: list[list[int]] = []
    for line in lines:
        if found and found[-1][1] == line - 1:
            found[-1][1] = line
        else:
            found.append([line, line])
    return ", ".join(str(a) if a == b else f"{a}-{b}" for a, b in found)


def joined(before: dict[str, Any], run: dict[str, Any]) -> dict[str, Any]:
    """Return the record with another run in it, in the place of earlier ones of its packages.

    Parameters
    ----------
    before : dict
        The record; empty if there is none.
    run : dict
        Its ``packages`` are named in ``measured``.
    """

    def is_measured(name: str) -> bool:
        return name.partition(".")[0] in run["measured"]

    runs = [
        {**other, "measured": left}
        for other in before.get("runs", [])
        if (left := [name for name in other["measured"] if name not in run["measured"]])
    ]
    rows = [row for row in before.get("packages", []) if not is_measured(row["package"])]
    holes = [hole for hole in before.get("holes", []) if not is_measured(hole["module"])]
    return {
        "runs": [*runs, {name: run[name] for name in ("measured", "command", "tests")}],
        "packages": sorted([*rows, *run["packages"]], key=lambda row: str(row["package"])),
        "holes": sorted(
            [*holes, *run["holes"]], key=lambda hole: (-hole["missing"], hole["module"])
        ),
    }


def main(arguments: list[str] | None = None) -> int:
    """Measure coverage; return the exit code."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("packages", nargs="*", default=list(PACKAGES), metavar="PACKAGE")
    options = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory(prefix="kiwicha-coverage-") as name:
        found, tests = _measure(options.packages, Path(name))
    packages, holes = summary(found["files"])
    run = {
        **{"measured": options.packages, "command": record.command(), "tests": tests},
        **{"packages": packages, "holes": holes},
    }
    before = record.read(Path(), RECORD) or {}
    record.write(RECORD, joined(before, run))
    record.say(f"{packages}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
