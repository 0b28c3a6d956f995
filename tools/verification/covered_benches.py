"""Counts what benches of components meet of them: a plugin of pytest, and how to run it."""

import json
import os
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from tests.support.gateware import bench
from tools.verification import record
from tools.verification.component_classes import class_names
from tools.verification.covered_points import COVERAGE_FILE, COVERAGE_FLAGS, moved
from tools.verification.points import Point, points

__all__ = ["points_of_benches"]

_FOLDER = "KIWICHA_COVERED_BENCHES"
"""Environment variable of the plugin: the folder where it writes."""
_REPOSITORY = Path(__file__).parents[2]
_TESTS = "tests/gateware"
_RUNS = "bench.run("
"""What files of tests with benches contain."""


def points_of_benches(
    design: Mapping[Point, int], design_classes: Mapping[str, str]
) -> tuple[Counter[Point], int]:
    """Run benches, and return what they meet of a design, and how many designs they simulate.

    Tests for the night are left out.

    Parameters
    ----------
    design : mapping
        Points of the design.
    design_classes : mapping
        Class of each of its modules.
    """
    found: Counter[Point] = Counter()
    with tempfile.TemporaryDirectory(prefix="kiwicha-covered-") as name:
        paths = os.pathsep.join([str(_REPOSITORY), os.environ.get("PYTHONPATH", "")])
        environment = {**os.environ, "PYTHONPATH": paths, _FOLDER: name}
        options = ("-q", "-p", "no:cacheprovider", "-p", __name__, "-m", "not nightly")
        files = sorted((_REPOSITORY / _TESTS).rglob("test_*.py"))
        tests = [str(path) for path in files if _RUNS in path.read_text(encoding="utf-8")]
        command = [sys.executable, "-m", "pytest", *options, *tests]
        subprocess.run(command, cwd=_REPOSITORY, env=environment, check=True)
        designs = sorted(Path(name).glob("*.json"))
        for path in designs:
            written = json.loads(path.read_text(encoding="utf-8"))
            met = {Point(*point): count for *point, count in written["points"]}
            there = moved(met, written["classes"], design, design_classes)
            record.say(f"{written['class']}: {sum(map(bool, there.values())):,} points")
            found.update(there)
    return found, len(designs)


class _Counts:
    """What has been met of each design."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._classes: dict[str, dict[str, str]] = {}
        self._designs: dict[Path, str] = {}
        self._points: dict[str, Counter[Point]] = {}
        self._usual = (bench.component_verilog, bench.build, bench.run)

    def component_verilog(self, component: Any, top: str) -> str:
        text = self._usual[0](component, top)
        self._classes[text] = class_names(component)
        return text

    def build(self, text: str, top: str, flags: Sequence[str] = ()) -> Path:
        folder = self._usual[1](text, top, flags)
        if text in self._classes:
            self._designs[folder] = text
        return folder

    def run(
        self,
        simulator: Path,
        top: str,
        name: str,
        values: Mapping[str, Any],
        folder: Path,
        plusargs: Sequence[str] = (),
    ) -> None:
        self._usual[2](simulator, top, name, values, folder, plusargs)
        text = self._designs.get(simulator)
        if text is not None:
            source = (simulator / f"{top}.v").read_text(encoding="utf-8")
            found = self._points.setdefault(text, Counter())
            found.update(points(folder / COVERAGE_FILE, source, (top,)))

    def write(self) -> None:
        for number, (text, found) in enumerate(self._points.items()):
            classes = self._classes[text]
            rows = [
                (point.module, point.kind, point.text, point.place, count)
                for point, count in found.items()
            ]
            values = {"class": classes[""], "classes": classes, "points": rows}
            path = self._folder / f"{os.getpid()}_{number}.json"
            path.write_text(json.dumps(values), encoding="utf-8")


if os.environ.get(_FOLDER):
    _counts = _Counts(Path(os.environ[_FOLDER]))
    _replaced = {name: getattr(_counts, name) for name in ("component_verilog", "build", "run")}
    _replaced["_VERILATE"] = (*bench._VERILATE, *COVERAGE_FLAGS)
    for _name, _value in _replaced.items():
        setattr(bench, _name, _value)

    def pytest_sessionfinish() -> None:
        """Write what was met."""
        _counts.write()
