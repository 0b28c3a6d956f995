"""The project's shape: no folder imports what imports it, and few rooms stand side by side."""

from collections.abc import Iterable, Mapping
from pathlib import Path

import pytest

from tests.support.requirements import REPOSITORY
from tests.test_structure import belongs, imports, sources

Arrows = dict[str, set[str]]

COMPILER = REPOSITORY / "src" / "kiwicha" / "compiler"
MAX_ROOMS = 13
"""Files and folders at the top of the compiler."""


def rooms(package: str, modules: Iterable[str]) -> dict[str, str]:
    """Give the part of a package, a file or a folder, that each of its modules lies in."""
    return {
        name: name.removeprefix(f"{package}.").partition(".")[0]
        for name in modules
        if belongs(name, package) and name != package
    }


def arrows(package: str, files: Mapping[str, Path]) -> Arrows:
    """Give which part of a package imports which others."""
    rooms_of = rooms(package, files)
    found: Arrows = {room: set() for room in rooms_of.values()}
    for name, room in rooms_of.items():
        found[room] |= {rooms_of[other] for other in imports(files[name]) if other in rooms_of}
        found[room].discard(room)
    return found


def circle(arrows: Arrows) -> list[str]:
    """Give some parts that import each other in a circle; none if there is none."""
    rest = {room: set(others) for room, others in arrows.items()}
    while leaves := [room for room, others in rest.items() if not others & rest.keys()]:
        for room in leaves:
            del rest[room]
    if not rest:
        return []
    route = [min(rest)]
    while route[-1] not in route[:-1]:
        route.append(min(rest[route[-1]] & rest.keys()))
    return route[route.index(route[-1]) :]


@pytest.mark.parametrize(
    ("drawn", "found"),
    [
        ({"a": {"b", "c"}, "b": {"c"}, "c": set()}, []),
        ({"a": {"b"}, "b": {"c"}, "c": {"b"}}, ["b", "c", "b"]),
        ({"a": {"a"}}, ["a", "a"]),
    ],
)
def test_circles_are_found(drawn: Arrows, found: list[str]) -> None:
    assert circle(drawn) == found


@pytest.mark.parametrize(
    "package",
    [
        *("kiwicha", "kiwicha.boards", "kiwicha.sim", "kiwicha.compiler"),
        *("kiwicha.compiler.engine", "kiwicha.compiler.engine.select"),
        "kiwicha.compiler.engine.schedule",
    ],
)
def test_folders_import_one_way(package: str) -> None:
    drawn = arrows(package, sources())
    assert sum(map(len, drawn.values())) >= len(drawn)
    assert circle(drawn) == []


def test_the_compiler_has_few_rooms() -> None:
    found = {path.name for path in COMPILER.iterdir() if path.suffix == ".py"} - {"__init__.py"}
    found |= {path.parent.name for path in COMPILER.glob("*/__init__.py")}
    assert len(found) <= MAX_ROOMS


def test_passes_on_networks_know_no_engine() -> None:
    drawn = arrows("kiwicha.compiler", sources())
    for room in ("tflite", "check", "quantization", "lower", "optimize", "cpu", "memory"):
        assert "engine" not in drawn[room], room
    assert "lower" not in drawn["check"]
    assert "check" not in drawn["lower"]
