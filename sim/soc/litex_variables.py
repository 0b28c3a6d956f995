"""``variables.mak``: what LiteX's Make files must know of a system, on any machine."""

from typing import Any

__all__ = ["litex_variables"]

_PACKAGES = ("libc", "libcompiler_rt", "libbase")
"""Folders of LiteX's software that applications may link."""


def litex_variables(cpu: Any) -> str:
    """Return the file, the same on every machine.

    LiteX's own has the folders of its packages on the machine that wrote it; here make asks for
    them.

    Parameters
    ----------
    cpu : CPU
        The system's, of LiteX.
    """
    packages = {
        "SOC_DIRECTORY": ("litex", "/soc"),
        "PICOLIBC_DIRECTORY": ("pythondata_software_picolibc", "/data"),
        "COMPILER_RT_DIRECTORY": ("pythondata_software_compiler_rt", "/data"),
    }
    lines = [
        "# Generated: what LiteX's common.mak must know of the system.",
        "PYTHON ?= python3",
        *(f"{name} ?= $(shell {_where(*place)})" for name, place in packages.items()),
        # As LiteX does: the first whose GCC is there.
        f"TRIPLES = {' '.join(cpu.gcc_triple)}",
        "TRIPLE ?= $(firstword $(foreach t,$(TRIPLES),$(if $(shell command -v $(t)-gcc),$(t))))",
        f"CPU = {cpu.name}",
        f"CPUFAMILY = {cpu.family}",
        f"CPUFLAGS = {' '.join(cpu.gcc_flags.split())}",
        f"CPUENDIANNESS = {cpu.endianness}",
        "CLANG ?= 0",
        f"CPU_DIRECTORY = $(SOC_DIRECTORY)/cores/cpu/{cpu.name}",
        "PICOLIBC_FORMAT = integer",
        "export BUILDINC_DIRECTORY",
        "BUILDINC_DIRECTORY = $(abspath $(dir $(lastword $(MAKEFILE_LIST)))..)",
        f"PACKAGES = {' '.join(_PACKAGES)}",
        f"LIBS = {' '.join(_PACKAGES)}",
        f"PACKAGE_DIRS = {' '.join(f'$(SOC_DIRECTORY)/software/{name}' for name in _PACKAGES)}",
        *(f"{name.upper()}_DIRECTORY = $(SOC_DIRECTORY)/software/{name}" for name in _PACKAGES),
        "LTO = 0",
        "BIOS_CONSOLE_FULL = 1",
    ]
    return "\n".join([*lines, ""])


def _where(package: str, below: str) -> str:
    # A package without __init__ has no file of its own.
    return (
        f"$(PYTHON) -c 'from importlib.util import find_spec as f;"
        f' print(list(f("{package}").submodule_search_locations)[0] + "{below}")\''
    )
