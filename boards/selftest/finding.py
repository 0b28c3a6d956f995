"""What a check of the self-test found."""

from dataclasses import dataclass
from typing import Any

__all__ = ["Finding"]


@dataclass(frozen=True)
class Finding:
    """A check and what came of it.

    Parameters
    ----------
    check : str
        Name of the check.
    what : str
        What it did, if all was right.
    difference : str
        Where something differs, what was expected and what was there; empty if nothing differs.
    points_to : str
        What that points to.
    """

    check: str
    what: str
    difference: str = ""
    points_to: str = ""

    @property
    def is_good(self) -> bool:
        """Whether nothing differs."""
        return not self.difference

    def to_json(self) -> dict[str, Any]:
        """Return the JSON object of ``kiwicha selftest --json``."""
        return {
            "check": self.check,
            "is_good": self.is_good,
            "what": self.what,
            "difference": self.difference,
            "points_to": self.points_to,
        }

    def __str__(self) -> str:
        if self.is_good:
            return f"{self.check}: ok, {self.what}"
        return f"{self.check}: {self.difference}; this points to {self.points_to}"
