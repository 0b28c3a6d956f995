"""Cycles that others take: of the line port, results of both units; of DRAM's port, weights."""

from bisect import bisect_right

__all__ = ["TakenCycles", "lines_until", "moved_lines"]

_LEAST_SHARE = 0.05
"""Of its cycles, that transfers have at least: what they do never ends otherwise."""


class TakenCycles:
    """Spans of time in which shares of the cycles are taken, in order for each who takes them."""

    def __init__(self) -> None:
        self._firsts: list[float] = []
        self._ends: list[float] = []
        self._shares: list[float] = []

    def take(self, first: float, end: float, share: float) -> None:
        """Note that a share of the cycles from one time to another is taken."""
        if end > first and share > 0.0:
            self._firsts.append(first)
            self._ends.append(end)
            self._shares.append(share)

    def at(self, time: float) -> tuple[float, float]:
        """Return which share is taken at a time, and until when that is so."""
        place = bisect_right(self._ends, time)
        if place == len(self._ends):
            return 0.0, float("inf")
        if self._firsts[place] > time:
            return 0.0, self._firsts[place]
        return self._shares[place], self._ends[place]


def moved_lines(
    ports: tuple[TakenCycles, TakenCycles, TakenCycles], start: float, lines: float, pace: float
) -> float:
    """Return when lines are moved in the cycles that are left.

    Parameters
    ----------
    ports : tuple of TakenCycles
        Cycles of the line port that the array takes, and the unit, which leaves a half of those
        that it has; and cycles of DRAM's port for weights.
    start : float
        When the first line may move.
    lines : float
        How many.
    pace : float
        Lines per cycle, at most.
    """
    time, left = start, lines
    while True:
        found = [port.at(time) for port in ports]
        array, unit, weights = (share for share, _ in found)
        free = 1.0 - array
        free -= min(unit, free / 2)
        speed = max(min(pace * (1.0 - weights), free), _LEAST_SHARE)
        until = min(end for _, end in found)
        if time + left / speed <= until:
            return time + left / speed
        left -= (until - time) * speed
        time = until


def lines_until(
    ports: tuple[TakenCycles, TakenCycles, TakenCycles, TakenCycles],
    start: float,
    end: float,
    lines: float,
    pace: float,
) -> tuple[float, float]:
    """Return when lines are moved, or the end, and how many are left then.

    Parameters
    ----------
    ports : tuple of TakenCycles
        As for `moved_lines`; and the lines per cycle that the array leaves because the unit waits.
    start, end : float
        When the first line may move, and until when all is known.
    lines, pace : float
        As for `moved_lines`.
    """
    time, left = start, lines
    while time < end:
        found = [port.at(time) for port in ports]
        array, unit, weights, spared = (share for share, _ in found)
        free = 1.0 - array
        free = max(free - min(unit, free / 2), spared)
        speed = min(pace * (1.0 - weights), free)
        until = min(end, *(its_end for _, its_end in found))
        if speed and time + left / speed <= until:
            return time + left / speed, 0.0
        left -= (until - time) * speed
        time = until
    return end, left
