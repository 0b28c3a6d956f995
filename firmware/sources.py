"""Which C files belong to the runtime and its kernels, on any machine."""

from pathlib import Path

from kiwicha import custom
from kiwicha.contract.configs import Config

__all__ = [
    "CFU_MODEL",
    "FOLDER",
    "FREESTANDING",
    "LIBRARY_FILES",
    "LIBRARY_FOLDER",
    "RUNTIME_FOLDERS",
    "SDK_FILES",
    "SDK_INTERRUPT_FILES",
    "TFLM_FILES",
    "c_files",
    "custom_sources",
    "runtime_headers",
    "runtime_sources",
]

FOLDER = Path(__file__).parent
RUNTIME_FOLDERS = tuple(FOLDER / name for name in ("runtime", "kernels"))
CFU_MODEL = tuple(
    FOLDER / "host" / name for name in ("cfu_model.h", "signal_model.h", "cfu_model.c")
)
"""What the kernels call where the CPU has no custom instructions."""
_MEMORY = FOLDER / "runtime" / "memory.c"
FREESTANDING = (FOLDER / "platform" / "include" / "string.h", _MEMORY)
"""``<string.h>`` where there is no C library, and its functions."""
LIBRARY_FOLDER = FOLDER / "library"
"""What libraries of models have for those who compile and use them."""
LIBRARY_FILES = tuple(
    LIBRARY_FOLDER / name
    for name in (
        *("README.md", "CMakeLists.txt", "Makefile"),
        *("example/main.c", "platform/platform.c"),
    )
)
_TFLM_FOLDER = LIBRARY_FOLDER / "tflm"
TFLM_FILES = {
    "Makefile": LIBRARY_FOLDER / "Makefile",
    "README.md": _TFLM_FOLDER / "README.md",
    "CMakeLists.txt": _TFLM_FOLDER / "CMakeLists.txt",
    "example/main.cc": _TFLM_FOLDER / "main.cc",
    "platform/platform.c": LIBRARY_FOLDER / "platform" / "platform.c",
    "tflm/kiwicha.h": _TFLM_FOLDER / "kiwicha.h",
    "tflm/kiwicha.cc": _TFLM_FOLDER / "kiwicha.cc",
}
"""The operator of TensorFlow Lite Micro, and what its users get with it, by their paths."""
SDK_FILES = tuple(
    FOLDER / "sdk" / name for name in ("Makefile", "first.c", "litex.mk", "litex.c", "litex.ld")
)
"""What makes an application for the bare system of a library."""
SDK_INTERRUPT_FILES = (
    *(FOLDER / "platform" / name for name in ("interrupts.c", "interrupts.h")),
    FOLDER / "sdk" / "sleep.c",
)
"""Besides, where the engine has an interrupt."""

_SIMD_PREFIX = "simd_"
_UNIT_PREFIX = "unit_"


def runtime_sources(config: Config, *folders: Path) -> list[Path]:
    """Return the C files that a configuration needs beside a C library's memory functions.

    Parameters
    ----------
    config : Config
        Without the instruction tier, or the unit for frames of sound, its kernels are left out.
    folders : Path
        Further folders to take all C files of.
    """
    found = c_files(config, *RUNTIME_FOLDERS, *folders)
    return [*(path for path in found if path != _MEMORY), *custom_sources()]


def c_files(config: Config, *folders: Path) -> list[Path]:
    """Return the C and assembly files of folders, but for kernels that a configuration lacks."""
    found = sorted(path for folder in folders for path in folder.glob("*.[cS]"))
    lacking = {_SIMD_PREFIX: not config.has_simd, _UNIT_PREFIX: not config.has_signal}
    left_out = tuple(prefix for prefix, is_lacking in lacking.items() if is_lacking)
    return [path for path in found if not path.name.startswith(left_out)]


def custom_sources() -> list[Path]:
    """Return the C files with the kernels of custom operators."""
    return sorted({Path(operator.source).resolve() for operator in custom.operators()})


def runtime_headers(*folders: Path) -> list[Path]:
    """Return the headers of the runtime, its kernels, and further folders."""
    return sorted(path for folder in (*RUNTIME_FOLDERS, *folders) for path in folder.glob("*.h"))
