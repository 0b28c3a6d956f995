"""The files of a board's system: Verilog, constraints, and the image of its on-chip memory."""

import re
import struct
import sys
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from pathlib import Path

from kiwicha import cache, tools
from kiwicha.boards.board import Board
from kiwicha.boards.capacity import refusal
from kiwicha.boards.family import Family
from kiwicha.boards.flow.synthesis import CPU_SOURCE
from kiwicha.boards.selftest.power_up import power_up
from kiwicha.contract.configs import ENGINE_MACS, Config
from kiwicha.contract.peripherals import Peripheral
from kiwicha.errors import BoardError
from kiwicha.firmware.boot_image import build_boot_image
from kiwicha.firmware.build import SOC_HEADER_NAME
from kiwicha.firmware.compile import Image
from kiwicha.sim.soc.sources import GENERATORS, hardware_sources

__all__ = [
    "CONSTRAINTS",
    "LITEX_HEADERS",
    "REFUSAL",
    "SOURCES",
    "TOP",
    "VIVADO_SCRIPT",
    "SystemFiles",
    "board_headers",
    "check_board",
    "generated",
    "require_sdcard",
    "system_files",
]

TOP = "soc"
SOURCES = ("cfu.v", CPU_SOURCE, "soc.v")
CONSTRAINTS = {Family.ECP5: "soc.lpf", Family.XC7: "soc.xdc"}
VIVADO_SCRIPT = "soc.tcl"
REFUSAL = "refusal"
"""What the generator writes if the board cannot have the clock: the text of the error."""
_ONCHIP_FILE = "soc_onchip.init"
LITEX_HEADERS = "generated"
"""Folder of what LiteX's calibration of the memory includes, and others with it."""

# Of an engine's requantizer 32, of the instruction tier 2, of the CPU 4.
_ECP5_MULTIPLIERS_BESIDE_PRODUCTS = 38


@dataclass(frozen=True)
class SystemFiles:
    """What a toolchain makes a bitstream of.

    Parameters
    ----------
    files : mapping
        Contents by name: `SOURCES`, what they read, and constraints.
    boot_image : Image
        What the on-chip memory holds.
    soc_header : str
        ``kiwicha_soc.h``, for firmware.
    """

    files: Mapping[str, bytes]
    boot_image: Image
    soc_header: str


def check_board(board: Board, config: Config) -> None:
    """Check that a board can have a configuration.

    Raises
    ------
    BoardError
        If the configuration has no CFU, or the board's FPGA too few multipliers.
    """
    if not config.has_simd:
        raise BoardError(f"config must be one with a CFU, not {config.name}")
    if board.family is Family.XC7:
        # Its multipliers do two products each, and what does not fit is seen in the report.
        return

    def needed(macs: int) -> int:
        return macs + _ECP5_MULTIPLIERS_BESIDE_PRODUCTS if macs else 0

    there = board.capacity["DSP"]
    reason = refusal(board.family, config)
    if not reason and needed(config.engine_macs) > there:
        reason = (
            f"there are {there:g} multipliers for {config.engine_macs} products, the requantizer"
            " and the CPU"
        )
    if reason:
        fitting = ["simd", *(str(macs) for macs in ENGINE_MACS if needed(macs) <= there)]
        raise BoardError(
            f"config must be {' or '.join(fitting)} on {board.name}, not {config.name}: {reason}"
        )


def require_sdcard(board: Board) -> None:
    """Check that a board has a slot for SD cards.

    Raises
    ------
    BoardError
        If it has none.
    """
    if not board.has_sdcard:
        raise BoardError(
            f"board must be one with a slot for SD cards, not {board.name}; its flash memory can"
            " hold the same image: --with-flash and kiwicha load --flash"
        )


def generated(
    board: Board,
    config: Config,
    *,
    sys_clk_hz: int,
    peripherals: Collection[Peripheral] = (),
    on_build: Callable[[], None] | None = None,
) -> Path:
    """Return the folder of what `kiwicha.boards.flow.elaborate` writes, generated at most once.

    Parameters
    ----------
    board : Board
        Where it runs.
    config : Config
        What the CFU has.
    sys_clk_hz : int
        Frequency of the system.
    peripherals : collection of Peripheral
        What it has besides.
    on_build : callable or None
        Called before it is generated, and only if it is.

    Raises
    ------
    ToolError
        If the generator fails.
    BoardError
        If the board cannot have the configuration or the frequency.
    """
    check_board(board, config)
    pins = {
        Peripheral.CAMERA: board.camera_pins,
        Peripheral.MICROPHONE: board.microphone_pins,
    }
    for peripheral, there in pins.items():
        if peripheral in peripherals and not there:
            raise BoardError(f"board must be one with pins for a {peripheral}, not {board.name}")
    if Peripheral.SDCARD in peripherals:
        require_sdcard(board)
        if Peripheral.FLASH in peripherals:
            raise BoardError(
                "the loader must read flash memory or SD cards, not both: its memory is too small;"
                " build --with-flash or --with-sdcard"
            )

    def elaborate(folder: Path) -> None:
        tools.run(
            [
                *(sys.executable, "-m", "kiwicha.boards.flow.elaborate", board.name, config.name),
                *(str(folder), "--sys-clk-hz", str(sys_clk_hz)),
                *(f"--with={peripheral}" for peripheral in sorted(peripherals)),
            ],
            name="the generator of the system on chip",
        )
        refusal = folder / REFUSAL
        if refusal.exists():
            raise BoardError(refusal.read_text(encoding="utf-8"))

    key = cache.digest([
        *(board.name, config.name, str(sys_clk_hz), *sorted(peripherals)),
        *cache.package_versions((*GENERATORS, "litex-boards")),
        *hardware_sources(),
        *sorted(Path(__file__).parents[1].glob("*.py")),
        *sorted(Path(__file__).parent.glob("*.py")),
    ])
    return cache.build("board", key, elaborate, on_build=on_build)


def board_headers(
    board: Board,
    config: Config,
    *,
    sys_clk_hz: int,
    on_build: Callable[[], None] | None = None,
) -> dict[str, str]:
    """Return ``kiwicha_soc.h`` and LiteX's headers by their paths; else as `generated`."""
    folder = generated(board, config, sys_clk_hz=sys_clk_hz, on_build=on_build)
    paths = [folder / SOC_HEADER_NAME, *sorted((folder / LITEX_HEADERS).iterdir())]
    return {str(path.relative_to(folder)): path.read_text(encoding="utf-8") for path in paths}


def system_files(
    board: Board,
    config: Config,
    *,
    sys_clk_hz: int,
    peripherals: Collection[Peripheral] = (),
    on_build: Callable[[str], None] | None = None,
) -> SystemFiles:
    """Return the files of a board's system, generated at most once.

    Parameters
    ----------
    board, config, sys_clk_hz, peripherals
        As for `generated`.
    on_build : callable or None
        Called with the name of each stage that takes time.

    Raises
    ------
    ToolError
        If a tool is missing or fails.
    BoardError
        If the board cannot have the configuration or the frequency.
    """

    def announce(stage: str) -> Callable[[], None] | None:
        return None if on_build is None else lambda: on_build(stage)

    entry = generated(
        board,
        config,
        sys_clk_hz=sys_clk_hz,
        peripherals=peripherals,
        on_build=announce("generating the system on chip"),
    )
    header = (entry / SOC_HEADER_NAME).read_text(encoding="utf-8")
    address = re.search(r"KIWICHA_LOADER_ADDRESS (0x\w+)u", header)
    if address is None:
        raise AssertionError("the header has the loader's address")
    image = build_boot_image(
        config,
        header,
        loader_address=int(address[1], 16),
        power_up=power_up(config),
        litex_headers={
            path.name: path.read_text(encoding="utf-8")
            for path in sorted((entry / LITEX_HEADERS).iterdir())
        },
        on_build=announce("compiling the boot image"),
    )
    names = [*SOURCES, CONSTRAINTS[board.family], VIVADO_SCRIPT]
    files = {name: (entry / name).read_bytes() for name in names if (entry / name).exists()}
    files[_ONCHIP_FILE] = _memory_words(image.raw)
    return SystemFiles(files, image, header)


def _memory_words(raw: bytes) -> bytes:
    words = struct.unpack(f"<{-(-len(raw) // 4)}I", raw + bytes(-len(raw) % 4))
    return "".join(f"{word:08x}\n" for word in words).encode()
