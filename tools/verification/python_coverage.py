"""Coverage of Python: ``python -m tools.verification.python_coverage``.

The quick tests of numerics, of the compiler, of codecs and of readers run under coverage.py.
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

__all__ = ["PACKAGES", "RECORD", "main", "summary"]

RECORD = "python_coverage"
PACKAGES = ("numerics", "program", "compiler")
"""Of `kiwicha`, with the tests of the same folders."""
_SOURCES = Path("src/kiwicha")
_QUICK = "not nightly and not slow and not verilator and not synth and not browser"
_HOLES = 12


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
    """Return counts of each package, and the modules with most lines that were not met.

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
        missing.append({"module": module, "missing": counts["missing_lines"]})
    missing.sort(key=lambda hole: (-hole["missing"], hole["module"]))
    packages = [{"package": name, **row} for name, row in sorted(rows.items())]
    return packages, [hole for hole in missing[:_HOLES] if hole["missing"]]


def main(arguments: list[str] | None = None) -> int:
    """Measure coverage; return the exit code."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("packages", nargs="*", default=list(PACKAGES), metavar="PACKAGE")
    options = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory(prefix="kiwicha-coverage-") as name:
        found, tests = _measure(options.packages, Path(name))
    packages, holes = summary(found["files"])
    record.write(
        RECORD, {"command": record.command(), "tests": tests, "packages": packages, "holes": holes}
    )
    record.say(f"{packages}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
