"""Writes the simulated system on chip as Verilog: ``python -m kiwicha.sim.soc.elaborate``.

LiteX and Migen keep global state that names signals; one process per system makes the text
depend on the inputs alone.
"""

import argparse
import dataclasses
import json
import logging
import re
from collections.abc import Collection
from pathlib import Path
from typing import Any

from litex.build.generic_platform import GenericPlatform, Pins, Subsignal
from litex.build.io import CRG
from litex.soc.integration import export
from migen import Cat, Memory, Signal

from kiwicha.contract import cfu, memories
from kiwicha.contract.configs import ALL_CONFIGS
from kiwicha.contract.peripherals import Peripheral
from kiwicha.contract.program import BootBlock
from kiwicha.contract.sound import RATE_HZ
from kiwicha.gateware import i2s_receiver
from kiwicha.gateware.cfu import verilog
from kiwicha.sim.soc import probes
from kiwicha.sim.soc.camera_model import CameraModel
from kiwicha.sim.soc.dram import chip, controller_settings, phy_model
from kiwicha.sim.soc.dram_log import CommandLog, dram_times
from kiwicha.sim.soc.flash_model import FlashModel
from kiwicha.sim.soc.litex_variables import litex_variables
from kiwicha.sim.soc.microphone_model import MicrophoneModel
from kiwicha.sim.soc.sdcard_model import SdcardModel
from kiwicha.sim.soc.system_on_chip import Soc, soc_header

__all__ = [
    "LITEX_HEADERS",
    "SOC_HEADER",
    "TIMES",
    "elaborate",
    "receivers",
    "stripped",
    "write_litex_headers",
]

TOP = "soc"
SOC_HEADER = "kiwicha_soc.h"
LITEX_HEADERS = "generated"
"""Folder of what LiteX itself generates of a system for software."""
MEMORIES_HEADER = "memories.h"
PROBES_HEADER = "probes.h"
TIMES = "dram_times.json"
"""`DramTimes` of the chip, if commands are logged."""
DRAM_BANK = "dram_bank"

_IO = [
    ("sys_clk", 0, Pins(1)),
    (
        "serial",
        0,
        Subsignal("source_valid", Pins(1)),
        Subsignal("source_ready", Pins(1)),
        Subsignal("source_data", Pins(8)),
        Subsignal("sink_valid", Pins(1)),
        Subsignal("sink_ready", Pins(1)),
        Subsignal("sink_data", Pins(8)),
    ),
    ("simulation", 0, Subsignal("finish", Pins(1)), Subsignal("code", Pins(32))),
]


def stripped(source: str) -> str:
    """Return Verilog or C without comments and attributes: they hold times and local paths."""
    text = re.sub(r"/\*.*?\*/|//[^\n]*|\(\* src = .*? \*\)", "", source, flags=re.DOTALL)
    return re.sub(r"\n\s*\n+", "\n", text).lstrip()


def receivers(clock_hz: int, peripherals: Collection[Peripheral]) -> str:
    """Return the Verilog of modules that peripherals of a system at some clock are instances of."""
    if Peripheral.MICROPHONE not in peripherals:
        return ""
    return stripped(i2s_receiver.verilog(clock_hz=clock_hz, rate_hz=RATE_HZ))


def write_litex_headers(soc: Any, folder: Path) -> None:
    """Write what LiteX makes of a system for software: registers, memories and constants.

    Parameters
    ----------
    soc : SoC
        Finalized.
    folder : Path
        Is made, and receives the headers ``csr.h``, ``mem.h`` and ``soc.h``, for the linker
        ``regions.ld`` and ``output_format.ld``, and for make ``variables.mak``.
    """
    folder.mkdir()
    headers = {
        "csr.h": export.get_csr_header(
            regions=soc.csr_regions,
            constants=soc.constants,
            csr_base=soc.mem_regions["csr"].origin,
        ),
        "mem.h": export.get_mem_header(soc.mem_regions),
        "soc.h": export.get_soc_header(soc.constants),
        "regions.ld": export.get_linker_regions(soc.mem_regions),
        "output_format.ld": export.get_linker_output_format(soc.cpu),
    }
    for name, text in headers.items():
        (folder / name).write_text(stripped(text), encoding="utf-8")
    (folder / "variables.mak").write_text(litex_variables(soc.cpu), encoding="utf-8")


def _name_banks(phy: Any) -> int:
    # The harness reads and writes the banks by name.
    memories = [
        special
        for _, module in phy._submodules
        for special in module._fragment.specials
        if isinstance(special, Memory)
    ]
    for index, memory in enumerate(memories):
        memory.name_override = f"{DRAM_BANK}{index}"
    return len(memories)


def _memories_header(module: Any, phy: Any, banks: int, dram_bytes: int) -> str:
    word_bytes = phy.settings.nphases * phy.settings.dfi_databits // 8
    # LiteDRAM's default mapping, from the top: row, bank, column; a column holds databits / 8.
    row_bytes = (1 << module.geom_settings.colbits) * phy.settings.databits // 8
    # Verilator has types of their own for words of up to 64 bits.
    word = {4: "IData", 8: "QData"}.get(word_bytes, "VlWide<kDramWordBytes / 4>")
    progress = cfu.BOOT_BLOCK_ADDRESS + _progress_offset()
    names = [f"&rootp->{TOP}__DOT__{DRAM_BANK}{index}[0]" for index in range(banks)]
    return "\n".join([
        "// Generated: where the simulated memories are inside the model.",
        "#pragma once",
        "#include <array>",
        "#include <cstdint>",
        '#include "Vsoc.h"',
        '#include "Vsoc___024root.h"',
        "",
        f"constexpr uint32_t kOnchipBase = 0x{cfu.ONCHIP_BASE:08x};",
        f"constexpr uint32_t kOnchipBytes = {cfu.ONCHIP_BYTES};",
        f"constexpr uint32_t kDramBase = 0x{cfu.DRAM_BASE:08x};",
        f"constexpr uint32_t kDramBytes = {dram_bytes};",
        f"constexpr uint32_t kDramBanks = {banks};",
        f"constexpr uint32_t kDramRowBytes = {row_bytes};",
        f"constexpr uint32_t kDramWordBytes = {word_bytes};",
        f"constexpr uint32_t kProgressAddress = 0x{progress:08x};",
        "",
        "inline uint32_t* onchip_words(Vsoc___024root* rootp) {",
        f"    return &rootp->{TOP}__DOT__onchip[0];",
        "}",
        "",
        f"using DramWord = {word};",
        "inline std::array<DramWord*, kDramBanks> dram_banks(Vsoc___024root* rootp) {",
        f"    return {{{', '.join(names)}}};",
        "}",
        "",
    ])


def _add_port_word(soc: Soc) -> None:
    """Tell when the CPU reads or writes a word of DRAM."""
    command = soc.dram_bridge.port.cmd
    word = Signal(2, name_override=probes.PORT_WORD)
    taken = command.valid & command.ready
    soc.comb += word.eq(Cat(taken & ~command.we, taken & command.we))


def _progress_offset() -> int:
    return next(offset for name, _, offset in BootBlock.layout() if name == "progress")


def elaborate(
    directory: Path,
    cfu_verilog: str,
    memory: memories.Memory,
    *,
    has_engine: bool = False,
    is_preemptible: bool = False,
    peripherals: Collection[Peripheral] = (),
    logs_dram: bool = False,
) -> None:
    """Write Verilog and headers of the simulated system.

    Parameters
    ----------
    directory : Path
        Receives ``soc.v``, ``cpu.v`` and ``cfu.v``, the firmware's `SOC_HEADER`, the folder
        `LITEX_HEADERS`, and the harness's
        `MEMORIES_HEADER` and `PROBES_HEADER`.
    cfu_verilog : str
        The CFU, module ``Cfu``.
    memory : Memory
        What DRAM it has.
    has_engine : bool
        It has a port to DRAM.
    is_preemptible : bool
        It says when a list ends.
    peripherals : collection of Peripheral
        What it has besides, with a model of what is behind the pins.
    logs_dram : bool
        It prints the commands that DRAM gets, and ``directory`` receives `TIMES`.
    """
    logging.basicConfig(level=logging.WARNING)
    cfu_file = directory / "cfu.v"
    cfu_file.write_text(stripped(cfu_verilog), encoding="utf-8")
    platform = GenericPlatform("simulation", _IO, name=TOP)
    module = chip(memory, memory.clock_hz)
    phy = phy_model(memory, module)
    flash = FlashModel() if Peripheral.FLASH in peripherals else None
    sdcard = SdcardModel(memory.clock_hz) if Peripheral.SDCARD in peripherals else None
    camera = CameraModel() if Peripheral.CAMERA in peripherals else None
    microphone = MicrophoneModel() if Peripheral.MICROPHONE in peripherals else None
    soc = Soc(
        platform,
        crg=CRG(platform.request("sys_clk")),
        sdram_phy=phy,
        sdram_module=module,
        controller_settings=controller_settings(memory),
        cfu_file=cfu_file,
        has_engine=has_engine,
        is_preemptible=is_preemptible,
        sys_clk_hz=memory.clock_hz,
        dram_bytes=memory.dram_bytes,
        flash_pads=flash and flash.pads,
        sdcard_pads=sdcard and sdcard.pads,
        camera_pads=camera and camera.pads,
        microphone_pads=microphone and microphone.pads,
        uart_name="sim",
    )
    if flash is not None:
        soc.flash_model = flash
    if sdcard is not None:
        soc.sdcard_model = sdcard
    if logs_dram:
        times = json.dumps(dataclasses.asdict(dram_times(memory)))
        (directory / TIMES).write_text(times, encoding="utf-8")
        soc.dram_log = CommandLog(phy.dfi, memory.phases)
    if camera is not None:
        soc.camera_model = camera
    if microphone is not None:
        soc.microphone_model = microphone
    banks = _name_banks(phy)
    _add_port_word(soc)
    soc.finalize()
    output = platform.get_verilog(soc, name=TOP)
    body, end, _ = stripped(output.main_source).rpartition("endmodule")
    text = f"{body}{probes.verilog_lines(has_engine=has_engine)}{end}\n"
    text += receivers(memory.clock_hz, peripherals)
    (directory / "soc.v").write_text(text, encoding="utf-8")
    (directory / PROBES_HEADER).write_text(probes.header(TOP), encoding="utf-8")
    (cpu_file,) = (path for path, *_ in platform.sources if Path(path) != cfu_file.absolute())
    (directory / "cpu.v").write_text(
        stripped(Path(cpu_file).read_text(encoding="utf-8")), encoding="utf-8"
    )
    (directory / SOC_HEADER).write_text(soc_header(soc), encoding="utf-8")
    write_litex_headers(soc, directory / LITEX_HEADERS)
    header = _memories_header(module, phy, banks, memory.dram_bytes)
    (directory / MEMORIES_HEADER).write_text(header, encoding="utf-8")


def main() -> None:
    """Elaborate the configuration and the memory named on the command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    configs = ALL_CONFIGS
    parser.add_argument("config", choices=sorted(configs))
    parser.add_argument("memory", choices=sorted(memories.MEMORIES))
    parser.add_argument("directory", type=Path)
    parser.add_argument("--with", dest="peripherals", type=Peripheral, action="append", default=[])
    parser.add_argument("--log-dram", action="store_true")
    arguments = parser.parse_args()
    config = configs[arguments.config]
    elaborate(
        arguments.directory,
        verilog(config),
        memories.MEMORIES[arguments.memory],
        has_engine=config.engine_macs > 0,
        is_preemptible=config.is_preemptible,
        peripherals=arguments.peripherals,
        logs_dram=arguments.log_dram,
    )


if __name__ == "__main__":
    main()
