"""What was measured of the boards is of what would be built now."""

import json
import re
from pathlib import Path
from typing import Any

import pytest
from support.requirements import REPOSITORY

from kiwicha.board_documents import build_command
from kiwicha.boards.board import Family, load
from kiwicha.boards.build import fingerprint
from kiwicha.boards.system import CONSTRAINTS, SOURCES, generated
from kiwicha.isa import ALL_CONFIGS

RESULTS = sorted((REPOSITORY / "docs" / "results" / "boards").glob("*.json"))


def constraint(package: str) -> str:
    """Return the version that continuous integration installs."""
    text = (REPOSITORY / "constraints.txt").read_text(encoding="utf-8")
    found = re.search(rf"^{re.escape(package)}==(\S+)$", text, flags=re.MULTILINE)
    assert found, package
    return found[1]


@pytest.mark.parametrize("path", RESULTS, ids=lambda path: path.stem)
def test_results_are_of_the_hardware_that_is_built_now(path: Path) -> None:
    report: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    board = load(report["board"])
    folder = generated(
        board,
        ALL_CONFIGS[report["config"]],
        toolchain=report["toolchain"],
        sys_clk_hz=report["sys_clk_hz"],
    )
    files = {name: (folder / name).read_bytes() for name in (*SOURCES, CONSTRAINTS[board.family])}
    stale = f"stale: run {build_command(path.relative_to(REPOSITORY).as_posix(), report)}"
    now = fingerprint(board, files, speed_grade=report["speed_grade"])
    assert report["inputs"] == now, stale
    assert report["versions"] == {name: constraint(name) for name in report["versions"]}, stale


def test_what_resources_and_clock_depend_on_makes_results_stale() -> None:
    board = load("ecpix5_85f")
    files = {name: name.encode() for name in (*SOURCES, CONSTRAINTS[Family.ECP5])}
    first = fingerprint(board, files)
    assert fingerprint(board, {**files, "soc_onchip.init": b"0"}) == first
    assert fingerprint(board, files, speed_grade=8) == first
    others = [fingerprint(board, {**files, name: b"changed"}) for name in files]
    others += [fingerprint(board, files, speed_grade=6), fingerprint(load("ulx3s_85f"), files)]
    assert len({first, *others}) == len(others) + 1
