"""Points that Verilator counts in a simulated design: lines, branches and toggles."""

import re
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

__all__ = ["ENGINE_TOPS", "Point", "component_of", "points"]

_RECORD = re.compile(r"^C '(?P<fields>.*)' (?P<count>\d+)$")
_MODULE = re.compile(r"^module (?:\\(?P<escaped>\S+) |(?P<plain>\w+))")
_NUMBERED = re.compile(r"\$\d+")
_NEVER = "$auto$verilog_backend"
"""Of conditions that Yosys writes to have a process evaluated, and that are never true."""
ENGINE_TOPS = ("Cfu.cfu.engine", "engine")
"""The engine in a system, and alone."""
_LEVELS = 2


@dataclass(frozen=True)
class Point:
    """What is counted: the same in a simulation of the engine alone and of a system.

    Parameters
    ----------
    module : str
        Path of the component in the engine.
    kind : str
        ``line``, ``branch`` or ``toggle``.
    text : str
        The line of Verilog, or the bit and how it changes.
    place : int
        Which of the points of the same text it is, from 0 on.
    """

    module: str
    kind: str
    text: str
    place: int


def component_of(module: str) -> str:
    """Return the component whose row of the table a module belongs to."""
    return ".".join(module.split(".")[:_LEVELS]) or "engine"


def _inner(module: str, tops: Iterable[str]) -> str | None:
    """Return a module's path in the design; None if it is outside."""
    for prefix in tops:
        if module == prefix:
            return ""
        if module.startswith(f"{prefix}."):
            return _NUMBERED.sub("", module[len(prefix) + 1 :])
    return None


def _is_named(signal: str) -> bool:
    """Whether a signal has a name in our sources, and is none that Yosys has made."""
    return not signal.startswith(("$", "\\$", "_"))


def points(coverage: Path, verilog: str, tops: Iterable[str] = ENGINE_TOPS) -> Mapping[Point, int]:
    """Return how often each point of a design was met.

    Parameters
    ----------
    coverage : Path
        What a simulation has written.
    verilog : str
        The file with the design that was simulated.
    tops : iterable of str
        Names that its uppermost module may have; usually the engine's.
    """
    lines = verilog.splitlines()
    found: Counter[Point] = Counter()
    seen: Counter[tuple[str, str, str]] = Counter()
    for text in coverage.read_text(encoding="utf-8", errors="replace").splitlines():
        record = _RECORD.match(text)
        if record is None:
            continue
        fields = dict(part.split("\x02", 1) for part in record["fields"].split("\x01") if part)
        kind, _, module = fields["page"].removeprefix("v_").partition("/")
        inner = _inner(module, tops)
        if inner is None:
            continue
        what = fields["o"]
        if kind == "toggle":
            if not _is_named(what):
                continue
        else:
            if _NEVER in lines[int(fields["l"]) - 1]:
                continue
            what = f"{what}: {_NUMBERED.sub('', lines[int(fields['l']) - 1].strip())}"
        key = (inner, kind, what)
        found[Point(*key, seen[key])] += int(record["count"])
        seen[key] += 1
    return found
