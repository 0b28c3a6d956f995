"""Errors that users can act on: the command line prints them and exits 2.

Those about what was given are also Python's `ValueError`, those about what happened `RuntimeError`,
as scripts for LiteRT expect them.
"""

import bisect
import dataclasses
import itertools
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

__all__ = [
    "BoardError",
    "CapacityError",
    "Interrupted",
    "KiwichaError",
    "ModelError",
    "NotReadyError",
    "ProgramError",
    "SimulationError",
    "ToolError",
    "UnsupportedModelError",
    "UsageError",
    "Violation",
    "reason",
]


def reason(error: Exception) -> str:
    """Return what an error says, without the number and the file name that Python adds."""
    return (isinstance(error, OSError) and error.strerror) or str(error)


class KiwichaError(Exception):
    """Bad input or environment; the text names the place and the remedy."""

    def add_place(self, place: str) -> None:
        """Let the text begin with a place, such as the model's file."""
        self.args = (f"{place}: {self}", *self.args[1:])


class UsageError(KiwichaError, ValueError):
    """An argument, an input file or an output path is not usable."""


class NotReadyError(UsageError, RuntimeError):
    """Something must be called before; LiteRT's interpreter raises either error then."""


class Interrupted(KiwichaError):
    """Ctrl-C ended a command; the text says what it leaves. The exit code is 130, not 2."""


class ModelError(KiwichaError, ValueError):
    """The file is not a well-formed TFLite or ONNX model."""


@dataclass(frozen=True)
class Violation:
    """One thing that a model asks for and Kiwicha does not do.

    Parameters
    ----------
    operator : int or None
        Operator index; None if the model as a whole is meant.
    name : str
        TFLite or ONNX operator name, or ``model``.
    tensor : str
        Name of the tensor that is meant; may be empty.
    rule : str
        The support rule that is broken, a sentence.
    text : str
        What must be, and what is.
    """

    operator: int | None
    name: str
    tensor: str
    rule: str
    text: str

    def __str__(self) -> str:
        place = self.name if self.operator is None else f"operator {self.operator} {self.name}"
        return f"{place}{f' ({_shortened(self.tensor)})' if self.tensor else ''}: {self.text}"


def _shortened(name: str) -> str:
    """Return a name of at most 60 characters; converters join dozens of names into one."""
    return name if len(name) <= 60 else f"{name[:57]}..."


class UnsupportedModelError(KiwichaError, ValueError):
    """The model is well-formed and asks for something that Kiwicha does not do.

    Its text has the remedies first, then a line for each operator and reasons, those of several
    operators once: as many lines as a small terminal has.

    Parameters
    ----------
    violations : iterable of Violation
        Everything that it asks for.
    remedies : iterable of str
        What to do about it, the most useful first.
    """

    SCREEN = (24, 80)
    """Lines and columns of a terminal whose size is not known."""

    def __init__(self, violations: Iterable[Violation], remedies: Iterable[str] = ()) -> None:
        self.violations = tuple(violations)
        self.remedies = tuple(remedies)
        self.place = ""
        super().__init__(self.violations, self.remedies)

    def add_place(self, place: str) -> None:
        """Let the text begin with a place, such as the model's file."""
        self.place = place

    def __str__(self) -> str:
        return self.text(self.SCREEN)

    def text(self, screen: tuple[int, int] | None = None) -> str:
        """Return what is wrong and what to do, a line each.

        Parameters
        ----------
        screen : tuple of int, optional
            Lines and columns that it must fit, as far as remedies allow; all of it by default.
        """
        head = "the model is not supported"
        lines = [f"{self.place}: {head}" if self.place else head]
        lines += [f"  remedy: {remedy}" for remedy in self.remedies]
        reasons = [f"  {line}" for line in _grouped(self.violations)]
        if screen is not None:
            # The command line puts its name before the text, and the prompt comes behind it.
            above = [f"kiwicha: {lines[0]}", *lines[1:]]
            left = screen[0] - 1 - sum(_rows(line, screen[1]) for line in above)
            reasons = _fitting(reasons, left, screen[1])
        return "\n".join(lines + reasons)

    def to_json(self) -> dict[str, Any]:
        """Return the documented JSON object."""
        return {
            "error": "the model is not supported",
            "model": self.place,
            "remedies": list(self.remedies),
            "violations": [dataclasses.asdict(violation) for violation in self.violations],
        }


_MOST_NUMBERS = 8
"""Operators of a line that are named by number."""


def _grouped(violations: Iterable[Violation]) -> list[str]:
    """Return a line for all operators of a name that break the same rules in the same way."""
    by_text: dict[tuple[str, str], list[Violation]] = {}
    for violation in violations:
        by_text.setdefault((violation.name, violation.text), []).append(violation)
    lines: _Lines = {}
    for (name, text), found in by_text.items():
        numbers = dict.fromkeys(item.operator for item in found if item.operator is not None)
        tensor = f" ({_shortened(found[0].tensor)})" if len(found) == 1 and found[0].tensor else ""
        lines.setdefault((name, tuple(numbers)), []).append((tensor, text))
    joined = _joined(lines)
    return [_line(name, numbers, parts) for (name, numbers), parts in joined.items()]


_Lines = dict[tuple[str, tuple[int, ...]], list[tuple[str, str]]]
"""By name and operators: names of tensors, and what must be."""


def _joined(lines: _Lines) -> _Lines:
    """Return lines with those as one that say the same of inputs and outputs in a row.

    A tensor is named once: where it is the output of one operator, the next one's input is not.
    """
    found: _Lines = {}
    for (name, numbers), parts in lines.items():
        same = next((key for key in found if key[0] == name and _agree(found[key], parts)), None)
        if same is None:
            found[name, numbers] = parts
            continue
        ((_, first),), ((_, second),) = found.pop(same), parts
        what, _, rest = second.partition(_MUST)
        text = f"{first.partition(_MUST)[0]} and {what}{_MUST}{rest}"
        found[name, tuple(sorted({*same[1], *numbers}))] = [("", text)]
    return found


_MUST = " must be "


def _agree(some: Sequence[tuple[str, str]], others: Sequence[tuple[str, str]]) -> bool:
    """Whether two lines of one reason each differ in what it is about only."""
    if len(some) != 1 or len(others) != 1:
        return False
    (first, _, rest), (second, _, same) = (part[0][1].partition(_MUST) for part in (some, others))
    return bool(rest) and rest == same and {first, second} == {"input", "output"}


def _line(name: str, numbers: Sequence[int], parts: Sequence[tuple[str, str]]) -> str:
    named = ", ".join(f"#{number}" for number in numbers[:_MOST_NUMBERS])
    more = len(numbers) - _MOST_NUMBERS
    if more > 0:
        named += f" and {more} more"
    place = f"{name} {named}" if named else name
    if len(parts) == 1:
        ((tensor, text),) = parts
        return f"{place}{tensor}: {text}"
    return f"{place}: " + "; ".join(f"{text}{tensor}" for tensor, text in parts)


def _rows(line: str, columns: int) -> int:
    """Return the rows of a terminal that a line takes."""
    return -(-len(line) // columns)


def _fitting(lines: Sequence[str], rows: int, columns: int) -> list[str]:
    """Return as many lines as fit, one at least, and how many are left out."""
    taken = list(itertools.accumulate(_rows(line, columns) for line in lines))
    if not taken or taken[-1] <= rows:
        return list(lines)
    rest = "  and {} more lines: --verbose shows all, --json F writes them"
    count = max(bisect.bisect_right(taken, rows - _rows(rest, columns)), 1)
    return [*lines[:count], rest.format(len(lines) - count)]


class CapacityError(KiwichaError, ValueError):
    """The model needs more memory than the configuration has."""


class ProgramError(KiwichaError, ValueError):
    """The bytes are not a Program, or a Program of another version or configuration."""


class ToolError(KiwichaError, RuntimeError):
    """An outside tool is missing or failed."""


class SimulationError(KiwichaError, RuntimeError):
    """The simulated system stopped with an error or passed its cycle limit."""


class BoardError(KiwichaError, RuntimeError):
    """A board does not answer or cannot be built for."""
