"""The scripts that make bitstreams for Xilinx parts, and the tools that run them."""

import os
import re
import shutil
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from kiwicha import cache, tools
from kiwicha.boards.board import Board
from kiwicha.boards.flow.place_and_route import Timing
from kiwicha.boards.flow.stopwatch import timed
from kiwicha.boards.flow.system import CONSTRAINTS, SOURCES, TOP, VIVADO_SCRIPT
from kiwicha.doctor import install_command
from kiwicha.errors import ToolError

__all__ = [
    "BITSTREAM",
    "TIMING_REPORT",
    "make_bitstream",
    "missing_tool",
    "read_timing",
    "with_scripts",
]

BITSTREAM = f"{TOP}.bit"
TIMING_REPORT = f"{TOP}_timing.rpt"
"""Vivado's; openXC7 writes none."""

_OPENXC7_SCRIPT = "openxc7.sh"
_OPENXC7_PINS = "openxc7.xdc"
_OPENXC7_TOOLS = ("yosys", "nextpnr-xilinx", "fasm2frames", "xc7frames2bit")
_OPENXC7_FOLDERS = ("CHIPDB", "PRJXRAY_DB_DIR")
# nextpnr-xilinx reads these; the other commands are for Vivado's timing analysis.
_OPENXC7_COMMANDS = re.compile(
    r"set_property (?:LOC|IOSTANDARD|SLEW|IN_TERM|INTERNAL_VREF)|create_clock"
)


def with_scripts(
    board: Board, files: Mapping[str, bytes], sources: Sequence[str] = SOURCES
) -> dict[str, bytes]:
    """Return the files of a system with the script of each toolchain.

    Parameters
    ----------
    board : Board
        One with a Xilinx part.
    files : mapping
        Of its system, with Vivado's script.
    sources : sequence of str
        Those that are Verilog.

    Returns
    -------
    dict
        With openXC7's script and constraints: pins, the clock, and the inner reference voltage of
        the memory's bank.
    """
    pins = files[CONSTRAINTS[board.family]].decode()
    kept = [line for line in pins.splitlines() if _OPENXC7_COMMANDS.match(line)]
    return {
        **files,
        _OPENXC7_PINS: ("\n".join(kept) + "\n").encode(),
        _OPENXC7_SCRIPT: _openxc7_script(board.part, sources).encode(),
    }


def _openxc7_script(part: str, sources: Sequence[str]) -> str:
    # The databases know no grade for low power; the die is the same.
    match = re.fullmatch(r"(xc7a\d+t)i?(csg\d+)-(\d)L?", part)
    if match is None:
        raise AssertionError(f"part of a board, not {part}")
    name = f"{match[1]}{match[2]}-{match[3]}"
    synthesis = "; ".join([
        *(f"read_verilog {source}" for source in sources),
        f"synth_xilinx -flatten -abc9 -arch xc7 -top {TOP}",
        f"write_json {TOP}.json",
    ])
    return "\n".join([
        "#!/bin/sh",
        "# Makes the bitstream with openXC7. CHIPDB: folder of nextpnr-xilinx's chip databases;",
        "# PRJXRAY_DB_DIR: folder of Project X-Ray's database.",
        "set -eu",
        f"chipdb=${{CHIPDB:?folder of {match[1]}{match[2]}.bin}}/{match[1]}{match[2]}.bin",
        "database=${PRJXRAY_DB_DIR:?folder of the X-Ray database}/artix7",
        f"yosys -q -p '{synthesis}'",
        f'nextpnr-xilinx --chipdb "$chipdb" --seed 1 --xdc {_OPENXC7_PINS} --json {TOP}.json \\',
        f"  --fasm {TOP}.fasm",
        f'fasm2frames --part {name} --db-root "$database" {TOP}.fasm > {TOP}.frames',
        f'xc7frames2bit --part_file "$database/{name}/part.yaml" --part_name {name} \\',
        f"  --frm_file {TOP}.frames --output_file {BITSTREAM}",
        "",
    ])


def missing_tool(toolchain: str) -> ToolError | None:
    """Return the error that says how to get a toolchain, None if it is here.

    Parameters
    ----------
    toolchain : str
        ``vivado`` or ``openxc7``.
    """
    if toolchain == "vivado":
        if shutil.which("vivado"):
            return None
        return ToolError(
            f"Vivado must be installed and on the PATH: {install_command('vivado')}; --no-compile"
            " writes what it needs"
        )
    missing = [name for name in _OPENXC7_TOOLS if not shutil.which(name)]
    if not missing:
        return None
    return ToolError(
        f"openXC7 must be installed, but {', '.join(missing)} is missing; get it with:"
        f" {install_command('nextpnr-xilinx')}; --no-compile writes what it needs"
    )


def make_bitstream(
    files: Mapping[str, bytes], *, toolchain: str, on_build: Callable[[], None] | None = None
) -> Path:
    """Return the folder of a bitstream, which is made at most once.

    Parameters
    ----------
    files : mapping
        What `with_scripts` returned.
    toolchain : str
        ``vivado`` or ``openxc7``.
    on_build : callable or None
        Called before the tool starts, and only if it does.

    Raises
    ------
    ToolError
        If it is not installed or fails.
    """
    missing = missing_tool(toolchain)
    if missing is not None:
        raise missing
    if toolchain == "vivado":
        command = ["vivado", "-mode", "batch", "-nojournal", "-source", VIVADO_SCRIPT]
        program = "vivado"
        made_with = [tools.run([program, "-version"], name=program)]
    else:
        command = ["sh", _OPENXC7_SCRIPT]
        program = "openXC7"
        made_with = _openxc7_versions()
    contents = [part for name in sorted(files) for part in (name, files[name])]
    key = cache.digest([toolchain, *made_with, *command, *contents])

    def builder(folder: Path) -> None:
        for name, raw in files.items():
            (folder / name).write_bytes(raw)
        with timed(folder):
            tools.run(command, name=program, folder=folder)

    return cache.build("bitstream", key, builder, on_build=on_build)


def _openxc7_versions() -> list[str]:
    """Name what bitstreams depend on: the tools, and files of the databases by date and size."""
    found = [
        tools.run([program, "--version"], name=program) for program in ("yosys", "nextpnr-xilinx")
    ]
    for variable in _OPENXC7_FOLDERS:
        folder = os.environ.get(variable)
        if folder is None or not Path(folder).is_dir():
            raise ToolError(f"{variable} must be a folder of openXC7's databases, not {folder}")
        found.append(folder)
    paths = [Path(shutil.which(program) or program) for program in _OPENXC7_TOOLS]
    paths += sorted(Path(os.environ["CHIPDB"]).glob("*.bin"))
    paths += sorted(Path(os.environ["PRJXRAY_DB_DIR"]).glob("artix7/*.*"))
    for path in paths:
        status = path.stat()
        found.append(f"{path} {status.st_size} {status.st_mtime_ns}")
    return found


def read_timing(report: str, clock_hz: int) -> Timing:
    """Return the timing of a design from Vivado's timing summary (UG906, Timing Summary Report).

    Parameters
    ----------
    report : str
        Contents of `TIMING_REPORT`.
    clock_hz : int
        Frequency of the system.

    Returns
    -------
    Timing
        The worst slack of all clocks, as if it were of the system's; the paths stay in the report.

    Raises
    ------
    ToolError
        If the report has no summary.
    """
    found = re.search(r"WNS\(ns\)[^\n]*\n[\s-]*\n\s*(-?\d+\.\d+)\s", report)
    if found is None:
        raise ToolError("Vivado must write a timing summary with a worst negative slack (WNS)")
    period_ns = 1e9 / clock_hz
    return Timing(1e3 / (period_ns - float(found[1])), clock_hz / 1e6, ())
