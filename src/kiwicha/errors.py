"""Errors that users can act on: the command line prints them on one line and exits 2."""

from collections.abc import Iterable
from dataclasses import dataclass

__all__ = [
    "BoardError",
    "CapacityError",
    "Interrupted",
    "KiwichaError",
    "ModelError",
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


class UsageError(KiwichaError):
    """An argument, an input file or an output path is not usable."""


class Interrupted(KiwichaError):
    """Ctrl-C ended a command; the text says what it leaves. The exit code is 130, not 2."""


class ModelError(KiwichaError):
    """The file is not a well-formed TFLite model."""


@dataclass(frozen=True)
class Violation:
    """One thing that a model asks for and Kiwicha does not do.

    Parameters
    ----------
    operator : int or None
        Operator index; None if the model as a whole is meant.
    name : str
        TFLite operator name, or ``model``.
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


class UnsupportedModelError(KiwichaError):
    """The model is well-formed and asks for something that Kiwicha does not do.

    Parameters
    ----------
    message : str
        All violations and what to do about them.
    violations : iterable of Violation
        The same, one by one.
    """

    def __init__(self, message: str, violations: Iterable[Violation] = ()) -> None:
        super().__init__(message)
        self.violations = tuple(violations)


class CapacityError(KiwichaError):
    """The model needs more memory than the configuration has."""


class ProgramError(KiwichaError):
    """The bytes are not a Program, or a Program of another version or configuration."""


class ToolError(KiwichaError):
    """An outside tool is missing or failed."""


class SimulationError(KiwichaError):
    """The simulated system stopped with an error or passed its cycle limit."""


class BoardError(KiwichaError):
    """A board does not answer or cannot be built for."""
