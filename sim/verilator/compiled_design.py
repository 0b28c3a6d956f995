"""Verilog and a harness, compiled to a program by Verilator and the C++ compiler."""

import shutil
import sys
from collections.abc import Sequence
from pathlib import Path

from kiwicha import tools
from kiwicha.sim.verilator.verilated_runtime import (
    CFLAGS,
    OPTIMISATION,
    runtime_names,
    runtime_objects,
)

__all__ = ["COMPILE", "compile_design"]

# The code that runs once per simulation needs no optimisation; the rest waits for memory, and gets
# no faster with -O2, which takes twice the time to compile.
COMPILE: tuple[str, ...] = (
    *("CFG_CXXFLAGS_PCH_I=-include", "OPT_FAST=-O1", "OPT_SLOW=-O0"),
    f"OPT_GLOBAL={OPTIMISATION}",
)
"""Of the makefile that Verilator writes; part of a simulator's key."""


def compile_design(
    folder: Path,
    sources: Sequence[Path],
    *,
    flags: Sequence[str],
    includes: Sequence[Path],
    name: str,
) -> None:
    """Compile Verilog and a harness to a program.

    Parameters
    ----------
    folder : Path
        Receives the program.
    sources : sequence of Path
        Verilog, C++, and directives of Verilator.
    flags : sequence of str
        For Verilator; ``--Mdir`` is ``.``.
    includes : sequence of Path
        Folders of headers.
    name : str
        Of the program, and prefix of Verilator's classes.

    Raises
    ------
    ToolError
        If a tool is missing or fails.
    """
    verilator, cxx, make = tools.verilator(), tools.cxx(), tools.make()
    work = folder / "build"
    work.mkdir()
    compiler = " ".join(cxx.command)
    tools.run(
        [
            *(*verilator.command, *flags, *map(str, sources)),
            *("-CFLAGS", " ".join([CFLAGS, *(f"-I{include}" for include in includes)])),
        ],
        name="Verilator",
        folder=work,
        environment=verilator.environment,
    )
    makefile = (work / f"{name}_classes.mk").read_text(encoding="utf-8")
    runtime = runtime_objects(runtime_names(makefile))
    tools.run(
        [
            *(*make.command, "-f", f"{name}.mk", f"-j{tools.cores()}", *COMPILE),
            *(f"CXX={compiler}", f"LINK={compiler}", f"PYTHON3={sys.executable}"),
            # Verilator's own sources are there, and need none of the system's libraries.
            *("VM_GLOBAL_FAST=", "VM_GLOBAL_SLOW=", f"LDLIBS={' '.join(map(str, runtime))}"),
        ],
        name="the C++ compiler",
        folder=work,
        environment=verilator.environment,
    )
    (work / name).rename(folder / name)
    shutil.rmtree(work)
