"""A file of results."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from kiwicha import cache

__all__ = ["FOLDER", "Fingerprint", "Kind", "Result", "changed", "name_of"]

FOLDER = "docs/results"
"""In the project."""

Fingerprint = Mapping[str, Mapping[str, str]]
"""Hashes and tool versions by the part of a file that they decide, and by what they are of."""

_SHOWN_DIGITS = 8


@dataclass(frozen=True)
class Kind:
    """What one command measures.

    Parameters
    ----------
    folder : str
        Of its files, in `FOLDER`.
    command : callable
        From a file's path in the project and its contents to the command that measures it anew.
    recorded : callable
        From contents to the fingerprint that they hold.
    present : callable
        From contents to the fingerprint that the command would write now; takes seconds to
        minutes, and raises `KiwichaError` where a model or a tool is missing.
    seconds : callable
        From contents to the time that measuring took; None if it was not recorded.
    """

    folder: str
    command: Callable[[str, Any], str]
    recorded: Callable[[Any], Fingerprint]
    present: Callable[[Any], Fingerprint]
    seconds: Callable[[Any], float | None]


@dataclass(frozen=True)
class Result:
    """A file of results.

    Parameters
    ----------
    kind : Kind
        What wrote it.
    path : str
        In the project.
    contents : object
        Its JSON.
    """

    kind: Kind
    path: str
    contents: Any

    @property
    def name(self) -> str:
        """What it is called: ``bench/simd``."""
        return name_of(self.path)

    @property
    def command(self) -> str:
        """What measures it anew."""
        return self.kind.command(self.path, self.contents)

    @property
    def recorded(self) -> Fingerprint:
        """What was measured."""
        return self.kind.recorded(self.contents)

    @property
    def seconds(self) -> float | None:
        """How long the last measurement took; None if that was not recorded."""
        return self.kind.seconds(self.contents)

    @property
    def digest(self) -> str:
        """A short hash of what was measured."""
        words = [
            f"{part} {what} {value}"
            for part, values in sorted(self.recorded.items())
            for what, value in sorted(values.items())
        ]
        return cache.digest(words)[:_SHOWN_DIGITS]


def name_of(path: str) -> str:
    """Return what a file of results is called, from its path in the project."""
    return path.removeprefix(f"{FOLDER}/").removesuffix(".json")


def changed(recorded: Fingerprint, present: Fingerprint) -> list[str]:
    """Return what is other now than when a file was measured, in order; empty if it is fresh.

    Parameters
    ----------
    recorded, present : Fingerprint
        Of the same file.
    """
    pairs = [
        (what, recorded.get(part, {}).get(what), present.get(part, {}).get(what))
        for part in {**recorded, **present}
        for what in {**recorded.get(part, {}), **present.get(part, {})}
    ]
    return sorted({what for what, before, now in pairs if before != now})
