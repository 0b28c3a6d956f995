"""Simulators that count what they meet, and how what several have met is put together."""

import re
from collections import Counter, defaultdict
from collections.abc import Mapping

from tools.verification.points import Point

__all__ = ["COVERAGE_FILE", "COVERAGE_FLAGS", "moved"]

COVERAGE_FLAGS = ("--coverage-line", "--coverage-toggle")
"""Options of Verilator."""
COVERAGE_FILE = "coverage.dat"
"""What a simulation writes where it runs."""

_RESET = re.compile(r"\b(?:if|end) \((?:rst|reset|clear)\)")
"""Of branches that a module has or has not, as what it is part of resets it or does not."""


def moved(
    met: Mapping[Point, int],
    classes: Mapping[str, str],
    design: Mapping[Point, int],
    design_classes: Mapping[str, str],
) -> Counter[Point]:
    """Return what a bench has met, as points of the design that has the same components.

    A module stands for each module of its class in the design. Lines and branches count if both
    modules have the same ones, resets aside: with other parameters they may differ. Toggles count
    for signals of the same name.

    Parameters
    ----------
    met : mapping
        Points of the bench, and how often each was met.
    classes : mapping
        Name of the class of each module of the bench.
    design : mapping
        Points of the design.
    design_classes : mapping
        Likewise.
    """
    places = defaultdict(list)
    for path, name in design_classes.items():
        places[name].append(path)
    ours, theirs = _by_module(met), _by_module(design)
    found: Counter[Point] = Counter()
    for path, points in ours.items():
        for other in places[classes[path]] if path in classes else ():
            is_same = _code(points) == _code(theirs[other])
            for point in points:
                there = Point(other, point.kind, point.text, point.place)
                if there in design and (is_same or point.kind == "toggle"):
                    found[there] += met[point]
    return found


def _by_module(points: Mapping[Point, int]) -> defaultdict[str, list[Point]]:
    found = defaultdict(list)
    for point in points:
        found[point.module].append(point)
    return found


def _code(points: list[Point]) -> set[tuple[str, str, int]]:
    return {
        (point.kind, point.text, point.place)
        for point in points
        if point.kind != "toggle" and not _RESET.search(point.text)
    }
