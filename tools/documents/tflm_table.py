"""Table of the guide on TensorFlow Lite Micro: which models give the same bytes there."""

from collections.abc import Mapping
from typing import Any

from kiwicha.errors import UsageError
from tools.documents.freshness import Freshness
from tools.documents.markdown import table
from tools.documents.result_files import results_of
from tools.results.kinds import tflm_command
from tools.tflm.__main__ import EQUAL, REFUSED

__all__ = ["tflm_table"]

_COLUMNS = ("model", "Programs:", "operators that stay:", "bytes compared:", "outputs")


def tflm_table(files: Mapping[str, Any], freshness: Freshness) -> str:
    """Return a row for each model, and what compared them.

    Parameters
    ----------
    files : mapping
        Contents that ``python -m tools.tflm`` has written, by their path in the project.
    freshness : callable
        Says whether files are of the present sources.

    Raises
    ------
    UsageError
        If outputs of a model differ, or only the operator is refused.
    """
    lines: list[str] = []
    for name, compared in sorted(files.items()):
        with results_of("python -m tools.tflm", name):
            rows = [_row(model, one, name) for model, one in compared["models"].items()]
            lines += [*table(_COLUMNS, rows), ""]
            count, commit = compared["inferences"], compared["tflm_commit"]
            lines += [
                f"{count} inferences each, with random inputs, against tflite-micro at {commit}.",
                "",
                *_reasons(compared["models"]),
            ]
    if not lines:
        return ""
    commands = [tflm_command(name, compared) for name, compared in sorted(files.items())]
    lines += ["measured with", "", "```", *commands, "```", ""]
    return "\n".join([*lines, freshness(sorted(files))])


def _row(model: str, one: Mapping[str, Any], name: str) -> tuple[str, ...]:
    if one["outcome"] not in {EQUAL, REFUSED}:
        raise UsageError(f"outcome must be {EQUAL} or {REFUSED}, not {one['outcome']} ({name})")
    is_equal = one["outcome"] == EQUAL
    numbers = (f"{one['programs']}", f"{one['operators']}", f"{one.get('bytes', 0):,}")
    return (f"`{model}`", *numbers, EQUAL if is_equal else "nothing to compare with")


def _reasons(models: Mapping[str, Mapping[str, Any]]) -> list[str]:
    """Return why there is nothing to compare with, each reason once."""
    found = dict.fromkeys(one["reason"] for one in models.values() if one["outcome"] == REFUSED)
    if not found:
        return []
    intro = "Where there is nothing to compare with, TFLM refuses the model itself:"
    return [intro, "", "```text", *found, "```", ""]
