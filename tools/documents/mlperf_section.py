"""The section of the results on MLPerf Tiny."""

from collections.abc import Mapping
from typing import Any

from kiwicha.errors import UsageError
from kiwicha.mlperf.benchmarks import BENCHMARKS
from kiwicha.mlperf.published import published
from tools.documents.freshness import Freshness
from tools.documents.markdown import table
from tools.documents.result_files import results_of
from tools.results.kinds import mlperf_command

__all__ = ["mlperf_section"]


def mlperf_section(files: Mapping[str, Any], freshness: Freshness) -> str:
    """Return what benchmarks take, beside what others published; nothing if there is no file.

    Parameters
    ----------
    files : mapping
        What ``kiwicha mlperf run --json`` wrote, by path in the project.
    freshness : callable
        Says whether files are of the present hardware.

    Raises
    ------
    UsageError
        If an output was wrong, or a file is of something else.
    """
    if not files:
        return ""
    rows, commands = [], []
    for name, outcome in sorted(files.items()):
        with results_of("kiwicha mlperf run", name):
            rows += _own(name, outcome["results"])
            commands.append(mlperf_command(name, outcome))
    for others in published():
        for system in others.systems:
            times = [system.milliseconds(one.name) for one in BENCHMARKS]
            cells = ["" if time is None else f"{time:,.3f}" for time in times]
            rows.append((others.name, f"{system.submitter} {system.system}", system.clock, *cells))
    columns = ("round", "system", "clock:", *(f"{one.name}:" for one in BENCHMARKS))
    sources = [f"{one.name}: {one.division} division, {one.source}." for one in published()]
    lines = [
        "## MLPerf Tiny",
        "",
        "Milliseconds of an inference. Those of Kiwicha are simulated, at the clock of the",
        "simulated board, and no submission: its rules were not checked, and nothing ran on a",
        "board. The others are medians of boards, as published; of the streaming wake word (`sww`)",
        "the time that a board works on each window, features and inference, while that of Kiwicha",
        "is the inference alone.",
        "",
        *table(columns, rows),
        "",
        *sources,
        "",
        "measured with",
        "",
        "```",
        *commands,
        "```",
        "",
        freshness(sorted(files)),
    ]
    return "\n" + "\n".join(lines) + "\n"


def _own(name: str, results: list[Mapping[str, Any]]) -> list[tuple[str, ...]]:
    rows = []
    for config in dict.fromkeys(one["config"] for one in results):
        found = {one["benchmark"]: one for one in results if one["config"] == config}
        wrong = [benchmark for benchmark, one in found.items() if not one["bit_exact"]]
        if wrong:
            raise UsageError(f"outputs must be bit-exact, not those of {wrong[0]} ({name})")
        clock = f"{next(iter(found.values()))['clock_hz'] / 1e6:g} MHz"
        times = [found.get(one.name) for one in BENCHMARKS]
        cells = ["" if time is None else f"{time['milliseconds']:,.3f}" for time in times]
        rows.append(("simulated", f"Kiwicha `{config}`", clock, *cells))
    return rows
