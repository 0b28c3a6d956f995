"""What an application in C++ prints on the simulated board."""

from collections.abc import Mapping
from typing import Any

from tools.documents.freshness import Freshness
from tools.documents.result_files import results_of
from tools.results.kinds import transcript_command

__all__ = ["transcript_section"]


def transcript_section(files: Mapping[str, Any], freshness: Freshness) -> str:
    """Return what terminals have shown, and what ran.

    Parameters
    ----------
    files : mapping
        Contents that ``python -m tools.transcript`` has written, by their path in the project.
    freshness : callable
        Says whether files are of the present hardware.
    """
    lines: list[str] = []
    for name, said in sorted(files.items()):
        with results_of("python -m tools.transcript", name):
            lines += ["```text", *said["lines"], "```", ""]
            lines += [f"on the simulated board of `{said['config']}`, by", "", "```"]
            lines += [transcript_command(name, said), "```", "", freshness([name])]
    return "\n".join(lines)
