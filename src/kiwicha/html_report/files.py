"""Files of runs and studies: read, and checked before anything is worked out from them."""

import json
import math
import reprlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from kiwicha.errors import UsageError, reason
from kiwicha.html_report.data import CAUSES, MEASURES, TRAFFIC, Run, Study

__all__ = ["read_files"]


@dataclass(frozen=True)
class _Rule:
    """What a value must be, in words, and whether one is."""

    words: str
    holds: Callable[[Any], bool]


@dataclass(frozen=True)
class _Optional:
    """A field that may be missing."""

    form: Any


@dataclass(frozen=True)
class _Named:
    """An object whose fields are among some names, or have any, all of one form."""

    form: Any
    names: Sequence[str] | None = None


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


_TEXT = _Rule("a string", lambda value: isinstance(value, str))
_FLAG = _Rule("true or false", lambda value: isinstance(value, bool))
_POSITIVE = _Rule("a number above 0", lambda value: _is_number(value) and value > 0)
_COUNT = _Rule("a number from 0 on", lambda value: _is_number(value) and value >= 0)
_COUNT_OR_NULL = _Rule(
    f"{_COUNT.words}, or null", lambda value: value is None or _COUNT.holds(value)
)
_FLAG_OR_NULL = _Rule(f"{_FLAG.words}, or null", lambda value: value is None or _FLAG.holds(value))
_OBJECTIVE = _Rule(
    " or ".join(MEASURES), lambda value: isinstance(value, str) and value in MEASURES
)

# In these an object stands for one with such fields and maybe others, a list for one of any length.
_TENSOR = {"name": _TEXT, **dict.fromkeys(("offset", "bytes", "start", "end"), _COUNT)}
_PROFILE = {
    "layers": [
        {
            "shape": _Optional([_COUNT]),
            "why": _Optional(_TEXT),
            "split": _Named(_COUNT, tuple(CAUSES)),
            "dram": dict.fromkeys(TRAFFIC, _COUNT),
            "predicted": _Optional(_COUNT),
        }
    ],
    "memory": _Named({"bytes": _COUNT, "tensors": [_TENSOR]}),
    "macs_per_cycle": _POSITIVE,
    "dram_bytes_per_cycle": _POSITIVE,
}
_LAYER = {"index": _COUNT, "op": _TEXT, "where": _TEXT, "cycles": _COUNT_OR_NULL, "macs": _COUNT}
_RUN = {
    "model": _TEXT,
    "config": _TEXT,
    "target": _TEXT,
    "cycles": _POSITIVE,
    "macs": _COUNT,
    "clock_hz": _POSITIVE,
    "layers": [_LAYER],
    "utilization": _Optional(_COUNT_OR_NULL),
    "predicted": _Optional(_COUNT_OR_NULL),
    "bit_exact": _Optional(_FLAG_OR_NULL),
    "profile": _Optional(_PROFILE),
}
_STUDY = {
    "models": [_TEXT],
    "objectives": [_OBJECTIVE],
    "bram_kbit": _Optional(_POSITIVE),
    "configurations": [
        {
            "config": _TEXT,
            "front": _FLAG,
            "reason": _TEXT,
            **dict.fromkeys(MEASURES, _Optional(_COUNT)),
            "confirmed": _Optional({"cycles": [_COUNT]}),
        }
    ],
}


def read_files(paths: Sequence[Path]) -> tuple[list[Run], Study | None]:
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
    runs: list[Run] = []
    studies: list[Study] = []
    for path in paths:
        try:
            content = json.loads(
                path.read_text(encoding="utf-8"), parse_constant=_finite, parse_float=_finite
            )
        except (OSError, ValueError, RecursionError) as error:
            raise UsageError(
                f"run must be a readable JSON file: {reason(error)} ({path})"
            ) from error
        if isinstance(content, dict) and content.keys() >= _needed(_STUDY):
            _require(content, _STUDY, "", path)
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


def _needed(form: Mapping[str, Any]) -> set[str]:
    return {name for name, inner in form.items() if not isinstance(inner, _Optional)}


def _check(run: Any, prefix: str, path: Path) -> None:
    if not isinstance(run, dict) or not run.keys() >= _needed(_RUN) or not run["layers"]:
        raise UsageError(
            f"run must be what kiwicha run, bench or explore wrote with --json ({path})"
        )
    if run["cycles"] is None:
        raise UsageError(
            "run must have cycles, not those of --target reference; simulate it with "
            f"--target sim ({path})"
        )
    if run.get("profile") is None:
        run.pop("profile", None)
    _require(run, _RUN, prefix, path)
    profile = run.get("profile")
    if profile is not None and len(profile["layers"]) != len(run["layers"]):
        raise UsageError(
            f"{prefix}profile.layers must have {len(run['layers'])} entries, as layers has, not "
            f"{len(profile['layers'])} ({path})"
        )


def _require(value: Any, form: Any, field: str, path: Path) -> None:
    """Raise if a value of a field, or one inside it, has the wrong form."""
    if isinstance(form, _Rule):
        if not form.holds(value):
            raise _wrong(field, form.words, value, path)
    elif isinstance(form, list):
        if not isinstance(value, list):
            raise _wrong(field, "a list", value, path)
        for number, item in enumerate(value):
            _require(item, form[0], f"{field.removesuffix('.')}[{number}]", path)
    elif not isinstance(value, dict):
        raise _wrong(field, "an object", value, path)
    else:
        inside = f"{field}." if field and not field.endswith(".") else field
        forms = _forms(form, value, field, path) if isinstance(form, _Named) else form
        for name, item in forms.items():
            is_optional = isinstance(item, _Optional)
            if name in value:
                _require(value[name], item.form if is_optional else item, inside + name, path)
            elif not is_optional:
                raise UsageError(f"{inside}{name} must be present ({path})")


def _forms(form: _Named, value: Mapping[str, Any], field: str, path: Path) -> dict[str, Any]:
    """Return the form of each field that a value has."""
    for name in value:
        if form.names is not None and name not in form.names:
            raise _wrong(f"names in {field}", " or ".join(form.names), name, path)
    return dict.fromkeys(value, form.form)


def _wrong(field: str, words: str, value: Any, path: Path) -> UsageError:
    return UsageError(f"{field} must be {words}, not {reprlib.repr(value)} ({path})")
