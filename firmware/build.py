"""Firmware for one configuration, compiled for the system's RISC-V CPU."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from kiwicha import cache, isa, tools
from kiwicha.errors import CapacityError
from kiwicha.firmware.elf import Elf, read_elf
from kiwicha.firmware.header import HEADER_NAME, header
from kiwicha.firmware.sources import custom_sources
from kiwicha.isa import Config

__all__ = ["Image", "build_firmware"]

SOC_HEADER_NAME = "kiwicha_soc.h"
MEMORY_SCRIPT_NAME = "kiwicha_memory.ld"

_FOLDER = Path(__file__).parent
_PLATFORM = _FOLDER / "platform"
_SOURCE_FOLDERS = (_PLATFORM, _FOLDER / "runtime", _FOLDER / "kernels")
_INCLUDE_FOLDERS = (*_SOURCE_FOLDERS, _PLATFORM / "include")
_MAIN = _PLATFORM / "main.c"

_FLAGS = (
    # VexRiscv: RV32IM, no compressed instructions.
    *("-target", "riscv32-freestanding-none", "-mcpu=generic_rv32+m+zicsr", "-mabi=ilp32"),
    *("-std=c11", "-O2", "-ffreestanding", "-fno-pic", "-fomit-frame-pointer"),
    # Zig compiles checks of undefined behaviour in unless told otherwise.
    "-fno-sanitize=undefined",
    *("-ffunction-sections", "-fdata-sections"),
    *("-Wall", "-Wextra", "-Wshadow", "-Wundef", "-Wstrict-prototypes", "-Wmissing-prototypes"),
    "-Werror",
)


@dataclass(frozen=True)
class Image:
    """Firmware as it lies in on-chip memory from `isa.ONCHIP_BASE` on.

    Parameters
    ----------
    raw : bytes
        Contents: text, then data.
    elf : Path
        The linked file, with symbols.
    text_bytes, data_bytes, bss_bytes : int
        Sizes; bss follows data and is cleared by the firmware itself.
    stack_bytes : int
        What is left for the stack, at least `isa.STACK_BYTES`.
    """

    raw: bytes
    elf: Path
    text_bytes: int
    data_bytes: int
    bss_bytes: int
    stack_bytes: int


def build_firmware(
    config: Config,
    soc_header: str,
    *,
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
    main : Path or None
        A C file with another ``main`` than the one that runs the job of the boot block.
    on_build : callable or None
        Called before compiling, if that is needed.

    Raises
    ------
    ToolError
        If the compiler is missing or fails.
    CapacityError
        If it does not fit into the on-chip memory.
    """
    zig = tools.zig()
    sources = _sources((main or _MAIN).resolve())
    generated = {
        HEADER_NAME: header(config),
        SOC_HEADER_NAME: soc_header,
        MEMORY_SCRIPT_NAME: _memory_script(),
    }
    headers = sorted(path for folder in _INCLUDE_FOLDERS for path in folder.glob("*.h"))
    key = cache.digest([
        *(*_FLAGS, zig.version, *generated, *generated.values()),
        *(_PLATFORM / "link.ld", *sources, *headers),
    ])

    def compile_into(folder: Path) -> None:
        for name, text in generated.items():
            (folder / name).write_text(text, encoding="utf-8")
        tools.run(
            [
                *(*zig.command, "cc", *_FLAGS, f"-I{folder}"),
                *(f"-I{include}" for include in _INCLUDE_FOLDERS),
                *("-Wl,-e,kiwicha_start", "-Wl,--gc-sections", f"-L{folder}"),
                *("-Wl,-T," + str(_PLATFORM / "link.ld"), "-o", "firmware.elf"),
                *map(str, sources),
            ],
            name="the RISC-V compiler",
            folder=folder,
            environment={"ZIG_GLOBAL_CACHE_DIR": str(cache.cache_dir() / "zig")},
        )
        # Refuse here: what does not fit must not enter the cache.
        _image(folder / "firmware.elf")

    return _image(cache.build("firmware", key, compile_into, on_build=on_build) / "firmware.elf")


def _sources(main: Path) -> list[Path]:
    found = sorted(
        path for folder in _SOURCE_FOLDERS for path in folder.glob("*.[cS]") if path != _MAIN
    )
    return [*found, *custom_sources(), main]


def _memory_script() -> str:
    return (
        f"kiwicha_onchip_base = {isa.ONCHIP_BASE:#x};\nkiwicha_onchip_bytes = {isa.ONCHIP_BYTES};\n"
    )


def _image(path: Path) -> Image:
    elf: Elf = read_elf(path.read_bytes())
    names = ("text_start", "text_end", "data_end", "bss_end")
    start, text_end, data_end, bss_end = (elf.symbols[f"kiwicha_{name}"] for name in names)
    stack_bytes = isa.ONCHIP_BASE + isa.ONCHIP_BYTES - bss_end
    if stack_bytes < isa.STACK_BYTES:
        raise CapacityError(
            f"firmware must leave {isa.STACK_BYTES} bytes of {isa.ONCHIP_BYTES} on-chip bytes "
            f"for the stack, not {stack_bytes} (text {text_end - start}, data "
            f"{data_end - text_end}, bss {bss_end - data_end})"
        )
    return Image(
        raw=elf.image(isa.ONCHIP_BASE),
        elf=path,
        text_bytes=text_end - start,
        data_bytes=data_end - text_end,
        bss_bytes=bss_end - data_end,
        stack_bytes=stack_bytes,
    )
