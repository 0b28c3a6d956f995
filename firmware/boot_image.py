"""What the on-chip memory of a board holds after configuration: memory calibration and loader."""

import importlib.util
import struct
from collections.abc import Callable, Mapping
from importlib.metadata import version
from pathlib import Path

from kiwicha import cache
from kiwicha.contract import cfu
from kiwicha.contract.configs import Config
from kiwicha.contract.serial import LOADER_BYTES
from kiwicha.firmware.build import SOC_HEADER_NAME
from kiwicha.firmware.compile import FOLDER, PLATFORM, Image, Library, compile_image
from kiwicha.firmware.header import HEADER_NAME, header
from kiwicha.firmware.power_up import POWER_UP_HEADER, PowerUp, power_up_header

__all__ = ["build_boot_image"]

_BOOT = FOLDER / "boot"
_STANDS_FOR_LITEX = _BOOT / "include"
_RUNTIME = FOLDER / "runtime"
_SHARED = (PLATFORM / "machine.c", PLATFORM / "start.S", _RUNTIME / "memory.c")
_SELF_TEST = tuple(
    FOLDER / "selftest" / name for name in ("access.c", "instructions.c", "memory.c")
)
_INCLUDES = (_BOOT, PLATFORM, _RUNTIME, PLATFORM / "include")
_LOADER_SOURCES = ("loader.c", "flash.c", "sdcard.c", "frame.c", "line.c", "litex.c")
_LOADER_NAME = "kiwicha_loader.h"
_CALIBRATION = "KIWICHA_HAS_CALIBRATION"
_SDCARD = "KIWICHA_CSR_SDCARD_CONTROL"
"""Macro: the loader also speaks to SD cards, for which its memory is just large enough."""


def build_boot_image(
    config: Config,
    soc_header: str,
    *,
    loader_address: int,
    power_up: PowerUp,
    litex_headers: Mapping[str, str] | None = None,
    on_build: Callable[[], None] | None = None,
) -> Image:
    """Return the image, compiled at most once.

    It calibrates and tests the memory with LiteX's own libraries, puts the loader into DRAM, says
    what the short self-test has found, and starts the loader.

    Parameters
    ----------
    config : Config
        The configuration that the loader reports.
    soc_header : str
        ``kiwicha_soc.h``: the addresses of the system's registers.
    loader_address : int
        Where the loader goes: what that header calls ``KIWICHA_LOADER_ADDRESS``.
    power_up : PowerUp
        What is checked before the loader starts.
    litex_headers : mapping or None
        What LiteX generated for its libraries, by name; None in the simulation, whose memory needs
        no calibration.
    on_build : callable or None
        Called before compiling, if that is needed.

    Raises
    ------
    ToolError
        If the compiler is missing or fails.
    CapacityError
        If it does not fit into the on-chip memory.
    """
    generated = {HEADER_NAME: header(config), SOC_HEADER_NAME: soc_header}
    loader = compile_image(
        generated,
        [*(_BOOT / name for name in _LOADER_SOURCES), *_SHARED],
        _INCLUDES,
        base=loader_address,
        space_bytes=LOADER_BYTES,
        is_small=_SDCARD in soc_header,
        on_build=on_build,
    )
    generated[_LOADER_NAME] = _loader_header(loader.raw, has_calibration=litex_headers is not None)
    generated[POWER_UP_HEADER] = power_up_header(power_up)
    for name, text in (litex_headers or {}).items():
        generated[f"generated/{name}"] = text
    return compile_image(
        generated,
        [_BOOT / "first.c", _BOOT / "power_up.c", *_SELF_TEST, *_SHARED],
        _INCLUDES,
        base=cfu.ONCHIP_BASE,
        space_bytes=cfu.ONCHIP_BYTES,
        library=_calibration() if litex_headers is not None else None,
        on_build=on_build,
    )


def _loader_header(raw: bytes, *, has_calibration: bool) -> str:
    words = struct.unpack(f"<{-(-len(raw) // 4)}I", raw + bytes(-len(raw) % 4))
    rows = [
        "    " + ", ".join(f"0x{word:08x}u" for word in words[at : at + 8]) + ","
        for at in range(0, len(words), 8)
    ]
    return "\n".join([
        "/* Generated: the loader's image. */",
        "#include <stdint.h>",
        f"#define {_CALIBRATION} {int(has_calibration)}",
        f"static const uint32_t kiwicha_loader[{len(words)}] = {{",
        *rows,
        "};",
        "",
    ])


def _calibration() -> Library:
    """Return LiteX's libraries that prepare and test a memory."""
    spec = importlib.util.find_spec("litex")
    if spec is None or not spec.submodule_search_locations:
        raise AssertionError("LiteX generated the headers, so it is installed")
    soc = Path(spec.submodule_search_locations[0]) / "soc"
    software = soc / "software"
    return Library(
        # Our own headers take the place of some of theirs.
        version=cache.digest([version("litex"), *sorted(_STANDS_FOR_LITEX.glob("*.h"))]),
        sources=(
            software / "liblitedram" / "sdram.c",
            software / "liblitedram" / "accessors.c",
            software / "libbase" / "memtest.c",
        ),
        includes=(
            _STANDS_FOR_LITEX,
            software,
            software / "include",
            soc / "cores" / "cpu" / "vexriscv",
        ),
    )
