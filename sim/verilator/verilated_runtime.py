"""What every program made by Verilator is linked with, compiled once for all of them."""

import re
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from kiwicha import cache, tools

__all__ = [
    "CFLAGS",
    "COMPRESSION",
    "DEFINES",
    "OPTIMISATION",
    "USUAL",
    "runtime_names",
    "runtime_objects",
]

CFLAGS = "-std=c++17"
"""Of the C++ compiler; part of a simulator's key."""
OPTIMISATION = "-O1"
USUAL = ("verilated", "verilated_dpi", "verilated_threads")
"""What simulators without waveforms need, known before one of them is."""
COMPRESSION = Path(__file__).parent / "harness" / "system" / "compression"
"""Headers in place of the system's compression libraries, for Verilator's FST writer."""

# As in Verilator's makefile. Whether a model writes waveforms makes no difference here.
DEFINES = ("VERILATOR=1", "VM_COVERAGE=0", "VM_SC=0", "VM_TIMING=0", "VM_TRACE=0")
"""Of Verilator's own sources."""
_LISTS = re.compile(r"^VM_GLOBAL_(?:FAST|SLOW) \+= \\\n((?: +\w+ \\\n)*)", re.M)


def runtime_names(makefile: str) -> list[str]:
    """Return the names of Verilator's own sources that a model needs.

    Parameters
    ----------
    makefile : str
        ``..._classes.mk``, as Verilator writes it.
    """
    return [name for found in _LISTS.findall(makefile) for name in found.replace("\\", "").split()]


def runtime_objects(names: Sequence[str]) -> list[Path]:
    """Return object files of Verilator's own sources, each compiled at most once.

    Parameters
    ----------
    names : sequence of str
        From `runtime_names`.

    Raises
    ------
    ToolError
        If a tool is missing or fails.
    """
    verilator, cxx = tools.verilator(), tools.cxx()
    include = Path(verilator.environment["VERILATOR_ROOT"]) / "include"
    flags = [OPTIMISATION, CFLAGS, *(f"-D{define}" for define in DEFINES)]
    headers = sorted(COMPRESSION.glob("*.h"))
    folders = include, include / "vltstd", COMPRESSION

    def compiled(name: str) -> Path:
        command = [*cxx.command, *flags, *(f"-I{folder}" for folder in folders)]
        key = cache.digest([name, verilator.version, *cxx.command, cxx.version, *flags, *headers])
        entry = cache.build(
            "verilated",
            key,
            lambda folder: _compile(command, include / f"{name}.cpp", folder / f"{name}.o"),
        )
        return entry / f"{name}.o"

    with ThreadPoolExecutor(tools.cores()) as pool:
        return list(pool.map(compiled, names))


def _compile(command: Sequence[str], source: Path, target: Path) -> None:
    words = [*command, "-c", "-o", str(target), str(source)]
    tools.run(words, name="the C++ compiler", folder=target.parent)
