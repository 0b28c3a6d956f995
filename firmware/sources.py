"""Which C files belong to the runtime and its kernels, on any machine."""

from pathlib import Path

from kiwicha.isa import Config

__all__ = ["FOLDER", "RUNTIME_FOLDERS", "runtime_headers", "runtime_sources"]

FOLDER = Path(__file__).parent
RUNTIME_FOLDERS = tuple(FOLDER / name for name in ("runtime", "kernels"))

_SIMD_PREFIX = "simd_"
_FREESTANDING = "memory.c"
"""The memory functions of builds without a C library."""


def runtime_sources(config: Config, *folders: Path) -> list[Path]:
    """Return the C files that a configuration needs beside a C library's memory functions.

    Parameters
    ----------
    config : Config
        Without the instruction tier, its kernels are left out.
    folders : Path
        Further folders to take all C files of.
    """
    found = sorted(path for folder in (*RUNTIME_FOLDERS, *folders) for path in folder.glob("*.c"))
    return [
        path
        for path in found
        if path.name != _FREESTANDING and (config.has_simd or not path.match(f"{_SIMD_PREFIX}*"))
    ]


def runtime_headers(*folders: Path) -> list[Path]:
    """Return the headers of the runtime, its kernels, and further folders."""
    return sorted(path for folder in (*RUNTIME_FOLDERS, *folders) for path in folder.glob("*.h"))
