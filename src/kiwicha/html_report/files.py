"""Files of runs and studies: read, and checked before anything is worked out from them."""

import json
import math
import reprlib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ValidationError

from kiwicha.errors import UsageError, reason
from kiwicha.html_report.schema import RULE, RunFile, StudyFile

__all__ = ["read_files"]

_WORDS = {"list_type": "a list", "dict_type": "an object", "model_type": "an object"}
_KEY = "[key]"


def read_files(paths: Sequence[Path]) -> tuple[list[dict[str, Any]], dict[str, Any] | None]:
    """Return runs and a study from files of ``run``, ``bench`` and ``explore --json``.

    Returns
    -------
    list of dict
        The runs in their order, each with the name of its file as ``file``.
    dict or None
        The study.

    Raises
    ------
    UsageError
        If a file cannot be read, or holds something else, or a run that was not simulated, or a
        wrong field; if there are several studies, or neither runs nor a study.
    """
    runs: list[dict[str, Any]] = []
    studies: list[dict[str, Any]] = []
    for path in paths:
        try:
            content = json.loads(
                path.read_text(encoding="utf-8"), parse_constant=_finite, parse_float=_finite
            )
        except (OSError, ValueError, RecursionError) as error:
            raise UsageError(
                f"run must be a readable JSON file: {reason(error)} ({path})"
            ) from error
        if isinstance(content, dict) and content.keys() >= _needed(StudyFile):
            _require(content, StudyFile, "", path)
            studies.append(content)
            continue
        for number, run in enumerate(content if isinstance(content, list) else [content]):
            _check(run, f"[{number}]." if isinstance(content, list) else "", path)
            runs.append({**run, "file": path.name})
    if len(studies) > 1:
        raise UsageError(
            "there must be at most one study, not several; give each a page of its own"
        )
    if not runs and not studies:
        raise UsageError(f"there must be at least one run ({', '.join(map(str, paths))})")
    return runs, studies[0] if studies else None


def _finite(text: str) -> float:
    value = float(text)
    if not math.isfinite(value):
        raise ValueError(f"numbers must be finite, not {text}")
    return value


def _needed(form: type[BaseModel]) -> set[str]:
    return {name for name, field in form.model_fields.items() if field.is_required()}


def _check(run: Any, prefix: str, path: Path) -> None:
    if not isinstance(run, dict) or not run.keys() >= _needed(RunFile) or not run["layers"]:
        raise UsageError(
            f"run must be what kiwicha run, bench or explore wrote with --json ({path})"
        )
    if run["cycles"] is None:
        raise UsageError(
            "run must have cycles, not those of --target reference; simulate it with "
            f"--target sim ({path})"
        )
    for name in ("profile", "made"):
        if run.get(name) is None:
            run.pop(name, None)
    _require(run, RunFile, prefix, path)
    profile = run.get("profile")
    if profile is not None and len(profile["layers"]) != len(run["layers"]):
        raise UsageError(
            f"{prefix}profile.layers must have {len(run['layers'])} entries, as layers has, not "
            f"{len(profile['layers'])} ({path})"
        )


def _require(content: Mapping[str, Any], form: type[BaseModel], prefix: str, path: Path) -> None:
    """Name the first field that is not as the form wants it."""
    try:
        form.model_validate(content)
    except ValidationError as error:
        first = error.errors()[0]
        place = [part for part in first["loc"] if part != _KEY]
        if first["type"] == "missing":
            raise UsageError(f"{prefix}{_field(place)} must be present ({path})") from error
        words = first["msg"] if first["type"] == RULE else _WORDS[first["type"]]
        field = prefix + _field(place)
        if len(place) < len(first["loc"]):
            field = f"names in {prefix}{_field(place[:-1])}"
        value = reprlib.repr(first["input"])
        raise UsageError(f"{field} must be {words}, not {value} ({path})") from error


def _field(place: Sequence[int | str]) -> str:
    text = "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in place)
    return text.removeprefix(".")
