"""Table of the guide on cameras: how many frames a model looks at."""

from collections.abc import Mapping
from typing import Any

from kiwicha.errors import UsageError
from tools.documents.freshness import Freshness
from tools.documents.markdown import table
from tools.documents.result_files import results_of
from tools.results.kinds import camera_command

__all__ = ["camera_table"]

_COLUMNS = (
    *("model", "config", "cycles from frame to frame:", "frames per second:"),
    *("the camera's:", "inferences:", "frames dropped meanwhile:", "wrong outputs:"),
)


def camera_table(files: Mapping[str, Any], freshness: Freshness) -> str:
    """Return a row for each file, and what measured it.

    Parameters
    ----------
    files : mapping
        Reports of ``python -m tools.camera``, by their path in the project.
    freshness : callable
        Says whether files are of the present hardware.

    Raises
    ------
    UsageError
        If an output was wrong.
    """
    if not files:
        return ""
    rows = []
    for name, report in sorted(files.items()):
        with results_of("python -m tools.camera", name):
            if report["wrong"]:
                raise UsageError(f"wrong outputs must be none, not {report['wrong']} ({name})")
            rows.append((
                f"`{report['model']}`",
                f"`{report['config']}`",
                f"{report['period']:,.0f}",
                f"{report['frames_per_second']:,.0f}",
                f"{report['camera_frames_per_second']:,.0f}",
                f"{report['count']:,}",
                f"{report['dropped']:,}",
                f"{report['wrong']:,}",
            ))
    commands = [camera_command(name, report) for name, report in sorted(files.items())]
    lines = [*table(_COLUMNS, rows), "", "measured with", "", "```", *commands, "```", ""]
    return "\n".join([*lines, freshness(sorted(files))])
