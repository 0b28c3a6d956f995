"""Firmware for one configuration, compiled for the system's RISC-V CPU."""

from collections.abc import Callable, Iterable
from pathlib import Path

from kiwicha.contract import cfu
from kiwicha.contract.configs import Config
from kiwicha.contract.program import Kernel
from kiwicha.firmware.compile import FOLDER, PLATFORM, Image, compile_image
from kiwicha.firmware.header import HEADER_NAME, header
from kiwicha.firmware.sources import c_files, custom_sources
from kiwicha.kernels.registry import firmware_kernels, kernels_of

__all__ = ["SOC_HEADER_NAME", "Image", "build_firmware"]

SOC_HEADER_NAME = "kiwicha_soc.h"

_SOURCE_FOLDERS = (PLATFORM, FOLDER / "runtime", FOLDER / "kernels")
_INCLUDE_FOLDERS = (*_SOURCE_FOLDERS, PLATFORM / "include")
_MAIN = PLATFORM / "main.c"
_ANY_MODEL = ("KIWICHA_SEVERAL_MODELS=0", "KIWICHA_ALL_KERNELS")
"""That program opens one model, which comes later, and on-chip memory counts."""


def build_firmware(
    config: Config,
    soc_header: str,
    *,
    kernels: Iterable[Kernel] = (),
    has_others: bool = True,
    main: Path | None = None,
    on_build: Callable[[], None] | None = None,
) -> Image:
    """Return the firmware of a configuration, compiled at most once.

    Parameters
    ----------
    config : Config
        The configuration it refuses to run without.
    soc_header : str
        ``kiwicha_soc.h``: the addresses of the system's registers.
    kernels : iterable of Kernel
        What the Program calls that it is for; firmware for none of those on demand is the same for
        all.
    has_others : bool
        It has other kernels, too, as far as they are not on demand: for Programs that come later.
    main : Path or None
        A C file with another ``main`` than the one that executes what the boot block names.
    on_build : callable or None
        Called before compiling, if that is needed.

    Raises
    ------
    ToolError
        If the compiler is missing or fails.
    CapacityError
        If it does not fit into the on-chip memory.
    """
    called = set(kernels)
    linked = (
        firmware_kernels(config, called)
        if has_others
        else [item for item in kernels_of(config) if item.kernel in called]
    )
    return compile_image(
        {
            HEADER_NAME: header(config, linked),
            SOC_HEADER_NAME: soc_header,
        },
        _sources(config, (main or _MAIN).resolve()),
        _INCLUDE_FOLDERS,
        base=cfu.ONCHIP_BASE,
        space_bytes=cfu.ONCHIP_BYTES,
        defines=() if main else _ANY_MODEL,
        on_build=on_build,
    )


def _sources(config: Config, main: Path) -> list[Path]:
    found = [path for path in c_files(config, *_SOURCE_FOLDERS) if path != _MAIN]
    return [*found, *custom_sources(), main]
