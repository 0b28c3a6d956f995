"""Writes a board's system as Verilog: ``python -m kiwicha.boards.flow.elaborate``.

LiteX and Migen keep global state that names signals; one process per system makes the text
depend on the inputs alone.
"""

import argparse
import logging
import tempfile
from collections.abc import Collection
from pathlib import Path
from typing import Any

from litedram.init import get_sdram_phy_c_header

from kiwicha.boards.board import NAMES, Board, Parts, load
from kiwicha.boards.camera_pins import CameraPins
from kiwicha.boards.flash_pins import FlashPins
from kiwicha.boards.flow.synthesis import CPU_SOURCE, VENDORS
from kiwicha.boards.flow.system import CONSTRAINTS, REFUSAL, TOP, VIVADO_SCRIPT
from kiwicha.boards.microphone_pins import MicrophonePins
from kiwicha.boards.sdcard_pins import SdcardPins
from kiwicha.contract.cfu import DRAM_BYTES
from kiwicha.contract.configs import ALL_CONFIGS, Config
from kiwicha.contract.peripherals import Peripheral
from kiwicha.errors import BoardError
from kiwicha.gateware.cfu import verilog
from kiwicha.sim.soc.dram import controller_settings
from kiwicha.sim.soc.elaborate import (
    LITEX_HEADERS,
    SOC_HEADER,
    receivers,
    stripped,
    write_litex_headers,
)
from kiwicha.sim.soc.system_on_chip import CAMERA_PINS_CSR, Soc, soc_header

__all__ = ["elaborate"]

_MHZ = 1_000_000
_MOST_STEPS = 10
"""How many whole megahertz on either side are tried as another clock."""
_LEAST_REFRESH_CYCLES = 100
"""Between two refreshes, by LiteDRAM's refresher."""


def elaborate(
    board: Board,
    config: Config,
    directory: Path,
    *,
    sys_clk_hz: int,
    peripherals: Collection[Peripheral] = (),
) -> None:
    """Write Verilog, constraints and headers of a board's system.

    Parameters
    ----------
    board : Board
        Where it runs.
    config : Config
        What the CFU has.
    directory : Path
        Receives Verilog, the constraints, `SOC_HEADER` and the folder `LITEX_HEADERS`; for Xilinx
        parts Vivado's script. What the on-chip memory holds is not known yet.
    sys_clk_hz : int
        Frequency of the system.
    peripherals : collection of Peripheral
        What it has besides.

    Raises
    ------
    BoardError
        If the board's PLL or memory cannot have that frequency.
    """
    logging.basicConfig(level=logging.WARNING)
    cfu_file = directory / "cfu.v"
    cfu_file.write_text(stripped(verilog(config, VENDORS[board.family])), encoding="utf-8")
    try:
        parts, soc = _system(board, config, cfu_file, sys_clk_hz, peripherals)
    except (ValueError, AssertionError) as error:
        if sys_clk_hz == board.sys_clk_hz:
            raise
        raise _clock_error(board, sys_clk_hz, error) from error
    with tempfile.TemporaryDirectory() as scratch:
        parts.platform.build(soc, build_dir=scratch, build_name=TOP, run=False)
        written = Path(scratch)
        text = (written / f"{TOP}.v").read_text(encoding="utf-8")
        text = stripped(text) + receivers(sys_clk_hz, peripherals)
        (directory / f"{TOP}.v").write_text(text, encoding="utf-8")
        paths = [Path(path) for path, *_ in parts.platform.sources]
        (cpu_file,) = (path for path in paths if path.name not in {"cfu.v", f"{TOP}.v"})
        text = cpu_file.read_text(encoding="utf-8")
        (directory / CPU_SOURCE).write_text(stripped(text), encoding="utf-8")
        names = {str(cfu_file.absolute()): "cfu.v", str(cpu_file): CPU_SOURCE}
        names[str(written / f"{TOP}.v")] = f"{TOP}.v"
        for name in (CONSTRAINTS[board.family], VIVADO_SCRIPT):
            if (written / name).exists():
                text = (written / name).read_text(encoding="utf-8")
                for path, local in names.items():
                    text = text.replace(path, local)
                (directory / name).write_text(text, encoding="utf-8")
    (directory / SOC_HEADER).write_text(soc_header(soc), encoding="utf-8")
    _write_litex_headers(soc, directory / LITEX_HEADERS)


def _system(
    board: Board,
    config: Config,
    cfu_file: Path,
    sys_clk_hz: int,
    peripherals: Collection[Peripheral],
) -> tuple[Parts, Any]:
    parts = board.parts(sys_clk_hz)
    flash = FlashPins(parts.platform, board.family) if Peripheral.FLASH in peripherals else None
    sdcard = SdcardPins(parts.platform) if Peripheral.SDCARD in peripherals else None
    camera = None
    if Peripheral.CAMERA in peripherals:
        camera = CameraPins(parts.platform, board.camera_pins)
    microphone = None
    if Peripheral.MICROPHONE in peripherals:
        microphone = MicrophonePins(parts.platform, board.microphone_pins)
    soc = Soc(
        parts.platform,
        crg=parts.crg,
        sdram_phy=parts.sdram_phy,
        sdram_module=parts.sdram_module,
        controller_settings=controller_settings(board.memory),
        cfu_file=cfu_file,
        has_engine=config.engine_macs > 0,
        is_preemptible=config.is_preemptible,
        sys_clk_hz=sys_clk_hz,
        dram_bytes=min(board.dram_bytes, DRAM_BYTES),
        flash_pads=flash and flash.pads,
        sdcard_pads=sdcard and sdcard.pads,
        camera_pads=camera and camera.pads,
        microphone_pads=microphone and microphone.pads,
        # Any contents make the memory read its file.
        firmware=bytes(4),
    )
    if flash is not None:
        soc.flash_pins = flash
    if sdcard is not None:
        soc.sdcard_pins = sdcard
    if camera is not None:
        soc.csr.add("camera_pins", n=CAMERA_PINS_CSR)
        soc.camera_pins = camera
    if microphone is not None:
        soc.microphone_pins = microphone
    soc.finalize()
    return parts, soc


def _clock_error(board: Board, sys_clk_hz: int, cause: Exception) -> BoardError:
    """Say why a board cannot have a frequency, and the nearest that its PLL makes."""
    first = round(sys_clk_hz / _MHZ)
    whole = sorted(
        range(max(first - _MOST_STEPS, 1), first + _MOST_STEPS + 1),
        key=lambda mhz: abs(mhz - first),
    )
    near = next((mhz for mhz in whole if mhz * _MHZ != sys_clk_hz and _has_clock(board, mhz)), None)
    return BoardError(
        f"clock must be one that PLL and memory of {board.title} can have, not"
        f" {sys_clk_hz / _MHZ:g} MHz ({str(cause).strip() or 'out of range'}); try"
        f" {board.sys_clk_hz / _MHZ if near is None else near:g} MHz"
    )


def _has_clock(board: Board, mhz: int) -> bool:
    try:
        parts = board.parts(mhz * _MHZ)
        parts.crg.pll.compute_config()
    except (ValueError, AssertionError):
        return False
    return bool(parts.sdram_module.timing_settings.tREFI >= _LEAST_REFRESH_CYCLES)


def _write_litex_headers(soc: Any, folder: Path) -> None:
    write_litex_headers(soc, folder)
    settings = soc.sdram.controller.settings
    text = get_sdram_phy_c_header(settings.phy, settings.timing, settings.geom)
    (folder / "sdram_phy.h").write_text(stripped(text), encoding="utf-8")


def main() -> None:
    """Elaborate what the command line names."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("board", choices=NAMES)
    parser.add_argument("config", choices=sorted(ALL_CONFIGS))
    parser.add_argument("directory", type=Path)
    parser.add_argument("--sys-clk-hz", type=int, required=True)
    parser.add_argument("--with", dest="peripherals", type=Peripheral, action="append", default=[])
    arguments = parser.parse_args()
    try:
        elaborate(
            load(arguments.board),
            ALL_CONFIGS[arguments.config],
            arguments.directory,
            sys_clk_hz=arguments.sys_clk_hz,
            peripherals=arguments.peripherals,
        )
    except BoardError as error:
        (arguments.directory / REFUSAL).write_text(str(error), encoding="utf-8")


if __name__ == "__main__":
    main()
