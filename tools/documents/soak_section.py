"""The section of the results on many inferences in a row."""

from typing import Any

from kiwicha.errors import UsageError
from tools.documents.freshness import Freshness
from tools.documents.markdown import table
from tools.results.kinds import soak_command

__all__ = ["soak_section"]


def soak_section(files: dict[str, Any], freshness: Freshness) -> str:
    """Return what came of many inferences in a row; nothing if there is no file of any.

    Parameters
    ----------
    files : dict
        What ``python -m tools.soak --json`` wrote, by path in the project.
    freshness : callable
        Says whether files are of the present hardware.

    Raises
    ------
    UsageError
        If an inference gave other bytes than the reference executor.
    """
    if not files:
        return ""
    rows = []
    for name, outcome in sorted(files.items()):
        if outcome["differing"]:
            raise UsageError(
                f"differing must be none, not inference {outcome['differing'][0]} ({name})"
            )
        keys = ("inferences", "least", "most_at_beginning", "beginning", "most_after")
        numbers = (f"{outcome[key]:,}" for key in keys)
        rows.append((outcome["model"], f"`{outcome['config']}`", *numbers))
    columns = (
        *("model", "config", "inferences:", "fewest cycles:", "most at the beginning:"),
        *("beginning:", "most behind it:"),
    )
    lines = [
        "## Inferences in a row",
        "",
        "Models that keep states, on the simulated system, with random inputs: each output had the",
        "bytes of the reference executor. The most cycles of an inference are given of the first",
        "ones, the beginning, and of all behind them.",
        "",
        *table(columns, rows),
        "",
        "measured with",
        "",
        "```",
        *(soak_command(name, outcome) for name, outcome in sorted(files.items())),
        "```",
        "",
        freshness(sorted(files)),
    ]
    return "\n" + "\n".join(lines) + "\n"
