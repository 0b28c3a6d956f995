"""The section of the results on how long users wait."""

from collections.abc import Mapping
from typing import Any

from tools.documents.freshness import Freshness
from tools.documents.markdown import table
from tools.documents.result_files import results_of
from tools.results.kinds import times_command

__all__ = ["times_section"]

_COLUMNS = ("what", "command", "seconds:", "of the processor:", "bar:", "size:", "load:")


def times_section(files: Mapping[str, Any], freshness: Freshness) -> str:
    """Return what commands took; nothing if there is no file.

    Parameters
    ----------
    files : mapping
        What ``python -m tools.times --json`` wrote, by path in the project.
    freshness : callable
        Says whether files are of the present hardware.
    """
    if not files:
        return ""
    ((name, outcome),) = files.items()
    with results_of("python -m tools.times", name):
        rows = [
            (
                what,
                f"`{one['command']}`",
                f"{one['seconds']:.1f}" if one["seconds"] >= 1 else f"{one['seconds']:.2g}",
                f"{one['processor_seconds']:.1f}" if "processor_seconds" in one else "",
                f"{one['bar']:g}",
                f"{one['bytes'] / 1e6:.1f} MB" if "bytes" in one else "",
                f"{one['load']:g}",
            )
            for what, one in outcome["times"].items()
        ]
        cores = outcome["cores"]
    lines = [
        "## Times",
        "",
        "Seconds that a user waits: for the demo when everything is built and when nothing is, for",
        "the first waveforms of a configuration that is built without them, in a browser from a",
        "click on the page to the answer, and for an image in the Python interpreter (one core),",
        f"on {cores} cores. What else the machine does counts, too: the load is that of the minute",
        "before, 0 on a machine that is quiet.",
        "",
        *table(
            ("what", "command", "seconds:", "of the processor:", "bar:", "size:", "load:"), rows
        ),
        "",
        "measured with",
        "",
        "```",
        times_command(name, outcome),
        "```",
        "",
        freshness([name]),
    ]
    return "\n" + "\n".join(lines) + "\n"
