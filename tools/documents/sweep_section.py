"""The section of the results on comparisons of many small models with the interpreters."""

from typing import Any

from kiwicha.errors import UsageError
from tools.documents.freshness import Freshness
from tools.documents.markdown import table
from tools.results.kinds import sweep_command

__all__ = ["sweep_section"]


def sweep_section(files: dict[str, Any], freshness: Freshness) -> str:
    """Return what sweeps compared; nothing if there is no file of one.

    Parameters
    ----------
    files : dict
        What ``python -m tools.reference_sweep --json`` wrote, by path in the project.
    freshness : callable
        Says whether files are of the present hardware.

    Raises
    ------
    UsageError
        If a combination differed.
    """
    if not files:
        return ""
    rows = []
    for name, outcome in sorted(files.items()):
        if outcome["differing"]:
            raise UsageError(f"differing must be none, not {outcome['differing'][0]} ({name})")
        configs = ", ".join(f"`{config}`" for config in outcome["configs"])
        seconds = (f"{outcome[key]:,}" for key in ("seconds", "processor_seconds", "jobs"))
        rows.append((f"{outcome['combinations']:,}", configs, *seconds))
    columns = ("combinations:", "configs", "seconds:", "processor seconds:", "processes:")
    lines = [
        "## Comparisons with the interpreters",
        "",
        "Combinations of the parameters of convolutions, and models of every operator that are",
        "drawn at random. For each configuration the reference executor gave exactly the bytes of",
        "the interpreter: TensorFlow Lite Micro for int8, LiteRT for uint8.",
        "",
        *table(columns, rows),
        "",
        "measured with",
        "",
        "```",
        *(sweep_command(name, outcome) for name, outcome in sorted(files.items())),
        "```",
        "",
        freshness(sorted(files)),
    ]
    return "\n" + "\n".join(lines) + "\n"
