"""A library with all that makes an application for the bare system of it."""

from collections.abc import Mapping
from pathlib import Path

from kiwicha.contract import cfu
from kiwicha.contract.configs import Config
from kiwicha.firmware.compile import MEMORY_SCRIPT_NAME, PLATFORM
from kiwicha.firmware.sources import SDK_FILES, SDK_INTERRUPT_FILES
from kiwicha.library.names import named_text

__all__ = ["APPLICATION_BYTES", "sdk"]

_SYSTEM = "system"
APPLICATION_BYTES = 16 << 20
"""DRAM for an application: image, arena and stack."""
_MACHINE = ("machine.c", "machine.h", "start.S")
_INCLUDE = f"INCLUDE {MEMORY_SCRIPT_NAME}"


def sdk(
    name: str,
    config: Config,
    library_files: Mapping[str, bytes],
    headers: Mapping[str, str],
) -> dict[str, bytes]:
    """Return the files of an SDK.

    Parameters
    ----------
    name : str
        Of the model that the examples run.
    config : Config
        What the system has.
    library_files : mapping of str to bytes
        What `kiwicha.library.library` returns, of that model.
    headers : mapping of str to str
        Of the system: ``kiwicha_soc.h``, and LiteX's as ``generated/csr.h``.

    Returns
    -------
    dict of str to bytes
        Contents by path: those of the library, and in ``system/`` start-up code, linker scripts,
        headers, and the ``Makefile`` of the example; for an engine with an interrupt also the CPU's
        side of that, and an example that sleeps meanwhile.
    """
    script = (PLATFORM / "link.ld").read_text(encoding="utf-8")
    if _INCLUDE not in script:
        raise AssertionError("the linker script takes its memory from a file")
    memories = {
        "first.ld": (cfu.ONCHIP_BASE, cfu.ONCHIP_BYTES),
        "application.ld": (cfu.IMAGE_ADDRESS, APPLICATION_BYTES),
    }
    added = {
        path: script.replace(
            _INCLUDE, f"kiwicha_onchip_base = {base:#x};\nkiwicha_onchip_bytes = {size:#x};"
        ).encode()
        for path, (base, size) in memories.items()
    }
    sources: list[Path] = [*(PLATFORM / path for path in _MACHINE), *SDK_FILES]
    if config.is_preemptible:
        sources += SDK_INTERRUPT_FILES
    added |= {
        path.name: named_text(path.read_text(encoding="utf-8"), name).encode() for path in sources
    }
    added |= {path: text.encode() for path, text in headers.items()}
    return {**library_files, **{f"{_SYSTEM}/{path}": raw for path, raw in added.items()}}
