"""Folders of the gateware import each other one way, and nothing but the contract."""

import ast
import graphlib
from pathlib import Path

import pytest

from kiwicha import gateware

ROOT = Path(gateware.__file__).parent
PACKAGE = "kiwicha.gateware"


def imported(path: Path) -> set[str]:
    """Give the modules of Kiwicha that a file imports from."""
    nodes = list(ast.walk(ast.parse(path.read_text(encoding="utf-8"))))
    names = {node.module or "" for node in nodes if isinstance(node, ast.ImportFrom)}
    names |= {name.name for node in nodes if isinstance(node, ast.Import) for name in node.names}
    return {name for name in names if name.startswith("kiwicha")}


@pytest.mark.parametrize("folder", ["", "engine"])
def test_no_circle_between_folders(folder: str) -> None:
    """What lies side by side, each folder and each single file, can be put in one order."""
    root = ROOT / folder
    package = ".".join([PACKAGE, *filter(None, [folder])])
    arrows: dict[str, set[str]] = {}
    for path in root.rglob("*.py"):
        room = path.relative_to(root).parts[0].removesuffix(".py")
        goals = {name.removeprefix(f"{package}.") for name in imported(path) if package in name}
        arrows.setdefault(room, set()).update({goal.split(".")[0] for goal in goals} - {room})
    assert len(arrows) > 5
    assert list(graphlib.TopologicalSorter(arrows).static_order())


def test_only_the_contract_is_imported() -> None:
    wrong = {
        f"{path.relative_to(ROOT)} imports {name}"
        for path in ROOT.rglob("*.py")
        for name in imported(path)
        if not name.startswith((f"{PACKAGE}.", "kiwicha.contract"))
    }
    assert not wrong
