"""Runs of benches, as the files of results have them."""

from typing import Any

from kiwicha.contract.program import Where
from kiwicha.errors import UsageError
from tools.documents.result_files import results_of

__all__ = ["BENCH", "Run", "Runs", "cpu_share", "runs_of"]

BENCH = "kiwicha bench"
"""The command that wrote them."""
Run = dict[str, Any]
"""One model on one configuration."""
Runs = list[tuple[str, list[Run]]]
"""Each file's path in the project, and what is in it."""


def runs_of(files: dict[str, Any]) -> Runs:
    """Return what `kiwicha bench` wrote; every run must have been bit-exact.

    Parameters
    ----------
    files : dict
        Contents of the JSON files by their path in the project.

    Raises
    ------
    UsageError
        If a file holds something else, or a run whose output was wrong.
    """
    found = [(name, value) for name, value in sorted(files.items()) if isinstance(value, list)]
    for name, runs in found:
        for run in runs:
            with results_of(BENCH, name):
                is_exact, model = run["bit_exact"], run["model"]
                _ = run["macs"], run["cycles"], run["config"]
            if is_exact is not True:
                raise UsageError(f"results must be bit-exact, not those of {model} ({name})")
    return found


def cpu_share(run: Run) -> str:
    """Return which part of an engine's run is the CPU's, in words; nothing without an engine.

    Parameters
    ----------
    run : dict
        See `Run`.
    """
    cycles = dict.fromkeys((where.text for where in Where), 0)
    for layer in run["layers"]:
        cycles[layer["where"]] += layer["cycles"]
    rest = sum(cycles.values()) - cycles[Where.ENGINE.text]
    return f"{100 * rest / run['cycles']:.1f} %" if cycles[Where.ENGINE.text] else ""
