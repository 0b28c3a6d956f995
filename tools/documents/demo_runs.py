"""What ``kiwicha demo`` shows beside its run: the bundled model on other configurations."""

from collections.abc import Sequence
from typing import Any

from tools.results.kinds import DEMO
from tools.results.result import Result

__all__ = ["demo_runs"]


def demo_runs(results: Sequence[Result]) -> list[dict[str, Any]]:
    """Return the package's file of recorded runs, in the order in which they were measured.

    Parameters
    ----------
    results : sequence of Result
        All files of results.
    """
    return [
        {
            "config": run["config"],
            "cycles": run["cycles"],
            "layers": [layer["cycles"] for layer in run["layers"]],
            "digest": result.digest,
        }
        for result in results
        if result.kind is DEMO
        for run in result.contents
    ]
