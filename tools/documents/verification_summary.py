"""The first section of the page on verification: each measure, its goal, and what was measured."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from tools.documents.fault_records import counted, fault_rows, results
from tools.documents.markdown import table
from tools.documents.netlist_sections import is_equal
from tools.verification import record

__all__ = ["summary"]

_FOLDER = record.FOLDER
_FAULTS = (
    ("Python modules, own tests", "mutation/[!g]*.jsonl", "100%"),
    ("gateware sources, own tests", "mutation/gateware.*.jsonl", "90%"),
    ("gateware netlists, own tests", "netlist_faults/[!e]*.jsonl", "90%"),
    ("netlist of the engine, whole suite", "netlist_faults/engine.jsonl", "98%"),
    ("C kernels, Programs", "c_faults.jsonl", ""),
    ("checks of parameters in C, bad Programs", "c_check_faults.jsonl", ""),
)
"""What has faults, its records, and the goal."""
_KINDS = {"line": "98%", "branch": "95%", "toggle": "90%"}


def summary(project: Path) -> Iterator[str]:
    """Give the section.

    Parameters
    ----------
    project : Path
        Top folder of the project.
    """
    rows = [*_faults(project), *_coverage(project), *_netlists(project), *_input(project)]
    rows += [*_runs(project), *_disturbances(project)]
    if rows:
        yield from (
            "## Summary",
            "",
            *table(("measure", "measured", "goal:"), rows),
            "",
            "Each is explained in a section below, with the command that measures it.",
            "",
        )


def _percent(part: int, whole: int) -> str:
    """Return a share, rounded down: 100% is all."""
    return f"{1000 * part // whole / 10:g}%" if whole else ""


def _faults(project: Path) -> Iterator[tuple[str, str, str]]:
    for name, pattern, goal in _FAULTS:
        rows = [
            row for path in sorted((project / _FOLDER).glob(pattern)) for row in fault_rows(path)
        ]
        tried, seen = counted(results(rows))
        if tried:
            figure = f"{_percent(seen, tried)} ({seen:,} of {tried:,})"
            yield f"faults that tests see: {name}", figure, goal


def _coverage(project: Path) -> Iterator[tuple[str, str, str]]:
    found = record.read(project, "coverage")
    if found is None:
        return
    for kind, goal in _KINDS.items():
        count, met = (sum(row[kind][k] for row in found["components"]) for k in range(2))
        yield f"{kind} coverage of the engine", _percent(met, count), goal
    functional = found["functional"]
    figure = f"{functional['covered']} of {functional['planned']} points"
    yield "functional coverage of the engine", figure, "100%"


def _netlists(project: Path) -> Iterator[tuple[str, str, str]]:
    rows = record.read(project, "equivalence") or []
    if rows:
        proven = sum(map(is_equal, rows))
        yield "netlists proven equal to their sources", f"{proven} of {len(rows)}", ""
    rows = record.read(project, "replay") or []
    if rows:
        cycles = sum(row["cycles"] for row in rows)
        yield "netlist of the engine beside its source", f"{cycles:,} cycles, {_wrong(rows)}", "0"


def _wrong(rows: list[dict[str, Any]]) -> str:
    count = sum(bool(row["difference"]) for row in rows)
    return f"{count} differ" if count else "none differ"


def _input(project: Path) -> Iterator[tuple[str, str, str]]:
    rows = record.read(project, "fuzz") or []
    if rows:
        executions, crashes, hangs = (
            sum(row[name] for row in rows) for name in ("executions", "crashes", "hangs")
        )
        figure = f"{executions:,} executions, {crashes} crashes, {hangs} hangs"
        yield "hostile input", figure, "1,000,000, 0, 0"


def _runs(project: Path) -> Iterator[tuple[str, str, str]]:
    rows = record.read(project, "jobs") or []
    if rows:
        count = sum(row["bytes"] for row in rows)
        yield "bytes that jobs of models write", f"{count:,}, {_wrong(rows)}", "0"
    lists = record.read(project, "long_lists")
    if lists is not None:
        cycles = sum(row["cycles"] for row in lists["drams"].values())
        wrong = sum(len(row["differ"]) for row in lists["drams"].values())
        yield "random lists for long", f"{cycles:,} cycles, {wrong} lists wrong", "0"
    found = record.read(project, "mixed_inferences")
    if found is not None:
        figure = f"{found['inferences']:,} inferences, {found['wrong']} wrong"
        yield "mixed models with pre-emption", figure, "10,000, 0"


def _disturbances(project: Path) -> Iterator[tuple[str, str, str]]:
    found = record.read(project, "resets")
    if found is not None:
        engine = found["engine"]
        yield "resets in lists", f"{engine['cut']:,}, {engine['wrong']} next lists wrong", "0"
        cuts, mixed = (
            sum(row[name] for row in found["writings"].values()) for name in ("cut", "broken")
        )
        yield "writings of images that are cut", f"{cuts:,}, {mixed} mixed images", "0"
    found = record.read(project, "upsets")
    if found is not None:
        for name, group in found["groups"].items():
            yield f"upsets in {name} that give wrong bytes", _silent(group), ""


def _silent(group: Mapping[str, Any]) -> str:
    wrong = group["results"]["wrong bytes"]
    return f"{_percent(wrong, group['trials'])} ({wrong} of {group['trials']})"
