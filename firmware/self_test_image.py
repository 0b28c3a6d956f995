"""The firmware of the self-test, which a board gets over its serial line."""

from collections.abc import Callable
from pathlib import Path

from kiwicha.contract import cfu
from kiwicha.contract.configs import Config
from kiwicha.firmware.build import SOC_HEADER_NAME
from kiwicha.firmware.compile import FOLDER, PLATFORM, Image, compile_image
from kiwicha.firmware.header import HEADER_NAME, header

__all__ = ["MEMORY_ACCESS", "SELF_TEST", "build_self_test"]

SELF_TEST = FOLDER / "selftest"
MEMORY_ACCESS = SELF_TEST / "access.c"
"""What reads and writes the memory under test."""
_RUNTIME = FOLDER / "runtime"


def build_self_test(
    config: Config,
    soc_header: str,
    *,
    memory_access: Path = MEMORY_ACCESS,
    on_build: Callable[[], None] | None = None,
) -> Image:
    """Return the firmware, compiled at most once.

    Parameters
    ----------
    config : Config
        What the custom function unit has.
    soc_header : str
        ``kiwicha_soc.h``, with a loader to go back to.
    memory_access : Path
        A C file with the functions that reach the memory under test.
    on_build : callable or None
        Called before compiling, if that is needed.

    Raises
    ------
    ToolError
        If the compiler is missing or fails.
    """
    own = (SELF_TEST / name for name in ("main.c", "memory.c", "instructions.c", "events.c"))
    return compile_image(
        {HEADER_NAME: header(config), SOC_HEADER_NAME: soc_header},
        [
            *(*own, memory_access, PLATFORM / "machine.c", PLATFORM / "interrupts.c"),
            PLATFORM / "start.S",
            _RUNTIME / "memory.c",
        ],
        (SELF_TEST, PLATFORM, _RUNTIME, PLATFORM / "include"),
        base=cfu.ONCHIP_BASE,
        space_bytes=cfu.ONCHIP_BYTES,
        on_build=on_build,
    )
