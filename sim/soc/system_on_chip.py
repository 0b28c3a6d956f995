"""The system on chip: one class for the simulation and for every board."""

import math
from pathlib import Path
from typing import Any

from litex.gen import LiteXModule
from litex.soc.cores.spi import SPIMaster
from litex.soc.integration.soc import SoCRegion
from litex.soc.integration.soc_core import SoCCore
from litex.soc.interconnect import stream, wishbone
from litex.soc.interconnect.csr import CSRStorage
from litex.soc.interconnect.csr_eventmanager import EventManager, EventSourceProcess
from migen import Signal

from kiwicha.contract import cfu
from kiwicha.contract.engine import LINE_BYTES
from kiwicha.contract.flash import FLASH_SPI_HZ
from kiwicha.contract.sdcard import SDCARD_SPI_HZ, SDCARD_START_HZ
from kiwicha.contract.serial import LOADER_BYTES, SERIAL_BAUD
from kiwicha.sim.soc.camera import Camera
from kiwicha.sim.soc.dram_bridge import DramBridge
from kiwicha.sim.soc.microphone import Microphone

__all__ = ["CAMERA_PINS_CSR", "HAS_LOADER", "Soc", "soc_header"]

HAS_LOADER = "KIWICHA_HAS_LOADER"
"""Macro: firmware goes back to the loader at its end."""

_FLASH_CSR = 20
"""Location of the flash memory's registers: beyond those of all others, which stay where they are
without it, so that firmware is the same."""
_CAMERA_CSR = 21
CAMERA_PINS_CSR = 22
"""Likewise, of the bus that sets a camera up; and of the camera's own."""
_SDCARD_CSR = 23
_MICROPHONE_CSR = 24
_SPI_WORD_BITS = 32
_LEAST_SDCARD_DIVIDER = 4
"""Of the system's clock: a card's answer has two cycles to come back."""


class SimulationExit(LiteXModule):
    """A register whose write ends the simulation; on a board it does not exist.

    Parameters
    ----------
    pads : Record
        ``finish`` is high for one cycle when the register is written; ``code`` is its value.
    """

    def __init__(self, *, pads: Any) -> None:
        self.code = CSRStorage(32, description="Writing ends the simulation with this exit code.")
        written = Signal()
        self.sync += written.eq(self.code.re)
        self.comb += [pads.finish.eq(written), pads.code.eq(self.code.storage)]


class EngineEvents(LiteXModule):
    """The engine's interrupt.

    Parameters
    ----------
    is_running : Signal
        A list runs. When it has ended or stopped, the event ``stopped`` is pending, until it is
        cleared.
    """

    def __init__(self, *, is_running: Signal) -> None:
        self.ev = EventManager()
        self.ev.stopped = EventSourceProcess(
            name="stopped", edge="falling", description="A list has ended, or stopped between jobs."
        )
        self.ev.finalize()
        self.comb += self.ev.stopped.trigger.eq(is_running)


class Soc(SoCCore):
    """VexRiscv with a CFU, on-chip memory, DDR3 and UART.

    The CPU starts at `cfu.ONCHIP_BASE`, in on-chip memory that holds firmware text, data and stack.
    DRAM is at `cfu.DRAM_BASE`, behind a LiteDRAM controller without an L2 cache, whose ports of 128
    bits LiteDRAM makes of several transfers where the memory is narrower.

    Parameters
    ----------
    platform : GenericPlatform
        LiteX platform with a ``serial`` resource, and ``simulation`` pads in a simulation.
    crg : Module
        Clock and reset generator, which drives the ``sys`` domain.
    sdram_phy : Module
        The memory's PHY or its model.
    sdram_module : SDRAMModule
        The memory chip.
    controller_settings : Any
        Of the memory's controller.
    cfu_file : Path
        Verilog of the CFU, module ``Cfu``.
    has_engine : bool
        The CFU has a port to DRAM.
    is_preemptible : bool
        The engine has an interrupt, and beside it there is LiteX's timer.
    sys_clk_hz : int
        Frequency of the ``sys`` domain.
    dram_bytes : int
        How much of DRAM is used, `cfu.DRAM_BYTES` at most.
    flash_pads : Record or None
        ``clk``, ``cs_n``, ``mosi`` and ``miso`` of a flash memory that the CPU can read.
    sdcard_pads : Record or None
        ``clk``, ``cs_n``, ``mosi`` and ``miso`` of an SD card that the CPU can read.
    camera_pads : Record or None
        `kiwicha.sim.soc.camera_pixels.CAMERA_PADS` of a camera whose frames go to DRAM.
    microphone_pads : Record or None
        `kiwicha.sim.soc.microphone.MICROPHONE_PADS` of a microphone whose samples go to DRAM. The
        text of `kiwicha.gateware.i2s_receiver.verilog` belongs to such a system.
    uart_name : str
        LiteX's kind of UART: ``serial``, or ``sim`` for byte streams.
    firmware : bytes
        Contents of the on-chip memory after configuration; empty in the simulation, which loads
        its memories later.

    Raises
    ------
    ValueError
        If the firmware is larger than the on-chip memory.
    """

    def __init__(
        self,
        platform: Any,
        *,
        crg: Any,
        sdram_phy: Any,
        sdram_module: Any,
        controller_settings: Any,
        cfu_file: Path,
        has_engine: bool = False,
        is_preemptible: bool = False,
        sys_clk_hz: int = cfu.CLOCK_HZ,
        dram_bytes: int = cfu.DRAM_BYTES,
        flash_pads: Any = None,
        sdcard_pads: Any = None,
        camera_pads: Any = None,
        microphone_pads: Any = None,
        uart_name: str = "serial",
        firmware: bytes = b"",
    ) -> None:
        if len(firmware) > cfu.ONCHIP_BYTES:
            raise ValueError(
                f"firmware must have at most {cfu.ONCHIP_BYTES} bytes, not {len(firmware)}"
            )
        self.crg = crg
        self.dram_bytes = dram_bytes
        super().__init__(
            platform,
            sys_clk_hz,
            cpu_type="vexriscv",
            cpu_variant="full+cfu",
            cpu_cfu=str(cfu_file),
            cpu_reset_address=cfu.ONCHIP_BASE,
            # Instruction cache refills take one cycle per word instead of two.
            bus_bursting=True,
            integrated_rom_size=0,
            integrated_sram_size=0,
            uart_name=uart_name,
            uart_baudrate=SERIAL_BAUD,
            # Firmware uses neither LiteX's timer nor its controller. Applications with interrupts
            # use the timer.
            with_timer=is_preemptible,
            with_ctrl=False,
        )
        self._add_onchip(firmware)
        self._add_dram(sdram_phy, sdram_module, controller_settings)
        if has_engine:
            self._connect_engine()
        if is_preemptible:
            self._connect_interrupt()
        if flash_pads is not None:
            self._add_flash(flash_pads)
        if sdcard_pads is not None:
            self._add_sdcard(sdcard_pads)
        if camera_pads is not None:
            self._add_camera(camera_pads)
        if microphone_pads is not None:
            self._add_microphone(microphone_pads)
        pads = platform.request("simulation", loose=True)
        if pads is not None:
            self.simulation = SimulationExit(pads=pads)

    def _add_onchip(self, firmware: bytes) -> None:
        words = [
            int.from_bytes(firmware[at : at + 4], "little") for at in range(0, len(firmware), 4)
        ]
        self.onchip = wishbone.SRAM(
            cfu.ONCHIP_BYTES,
            init=words or None,
            bus=wishbone.Interface(
                data_width=32, address_width=32, addressing="word", bursting=self.bus.bursting
            ),
            name="onchip",
        )
        region = SoCRegion(origin=cfu.ONCHIP_BASE, size=cfu.ONCHIP_BYTES, mode="rwx")
        self.bus.add_slave("onchip", self.onchip.bus, region)

    def _add_dram(self, phy: Any, module: Any, settings: Any) -> None:
        # The name that LiteX's calibration of the memory expects.
        self.ddrphy = phy
        self.add_sdram(
            "sdram",
            phy=phy,
            module=module,
            with_soc_interconnect=False,
            controller_settings=settings,
        )
        self.dram_bridge = DramBridge(port=self._dram_port())
        region = SoCRegion(origin=cfu.DRAM_BASE, size=self.dram_bytes, mode="rwx")
        self.bus.add_slave("main_ram", self.dram_bridge.bus, region)

    def _add_flash(self, pads: Any) -> None:
        self.csr.add("flash", n=_FLASH_CSR)
        self.flash = SPIMaster(pads, _SPI_WORD_BITS, self.sys_clk_freq, FLASH_SPI_HZ)

    def _add_sdcard(self, pads: Any) -> None:
        self.csr.add("sdcard", n=_SDCARD_CSR)
        self.sdcard = SPIMaster(pads, _SPI_WORD_BITS, self.sys_clk_freq, SDCARD_START_HZ)
        self.sdcard.add_clk_divider()

    def _add_camera(self, pads: Any) -> None:
        self.csr.add("camera", n=_CAMERA_CSR)
        self.camera = Camera(pads=pads, port=self._dram_port())
        self.irq.add("camera")

    def _add_microphone(self, pads: Any) -> None:
        self.csr.add("microphone", n=_MICROPHONE_CSR)
        self.microphone = Microphone(pads=pads, port=self._dram_port())

    def _dram_port(self) -> Any:
        return self.sdram.crossbar.get_port(data_width=8 * LINE_BYTES)

    def _connect_engine(self) -> None:
        port = self._dram_port()
        # Whether a command is taken depends on all banks: the engine learns it from a register.
        self.engine_commands = commands = stream.Buffer(
            port.cmd.description, pipe_valid=False, pipe_ready=True
        )
        self.comb += commands.source.connect(port.cmd)
        # The engine takes every word; of a narrower memory LiteDRAM joins words, and asks.
        self.comb += port.rdata.ready.eq(1)
        self.cpu.cfu_params.update(
            o_memory_cmd_valid=commands.sink.valid,
            i_memory_cmd_ready=commands.sink.ready,
            o_memory_cmd_payload_we=commands.sink.we,
            o_memory_cmd_payload_addr=commands.sink.addr,
            o_memory_wdata_valid=port.wdata.valid,
            i_memory_wdata_ready=port.wdata.ready,
            o_memory_wdata_payload_data=port.wdata.data,
            o_memory_wdata_payload_we=port.wdata.we,
            i_memory_rdata_valid=port.rdata.valid,
            i_memory_rdata_payload_data=port.rdata.data,
        )

    def _connect_interrupt(self) -> None:
        is_running = Signal()
        self.cpu.cfu_params.update(o_is_running=is_running)
        self.engine_events = EngineEvents(is_running=is_running)
        self.irq.add("engine_events")


def soc_header(soc: Soc) -> str:
    """Return the C header with the addresses of the registers of a finalized system.

    Parameters
    ----------
    soc : Soc
        After ``finalize``.

    Returns
    -------
    str
        ``KIWICHA_CSR_<BLOCK>_<REGISTER>`` for each register; ``KIWICHA_SYS_CLK_HZ``,
        ``KIWICHA_SOC_DRAM_BYTES`` (what Programs may use of DRAM), ``KIWICHA_LOADER_ADDRESS`` and
        `HAS_LOADER`, which is 0 in the simulation. With an SD card also what divides the system's
        clock for it: ``KIWICHA_SDCARD_START_DIVIDER`` until it is ready, ``KIWICHA_SDCARD_DIVIDER``
        afterwards. With an interrupt of the engine also
        ``KIWICHA_INTERRUPT_<BLOCK>``, the number of each.
    """
    usable = soc.dram_bytes - LOADER_BYTES
    lines = [
        "/* Generated from the system on chip; changes belong in its Python source. */",
        "#ifndef KIWICHA_SOC_H",
        "#define KIWICHA_SOC_H",
        "",
        f"#define KIWICHA_SYS_CLK_HZ {soc.sys_clk_freq}u",
        f"#define KIWICHA_SOC_DRAM_BYTES 0x{usable:08x}u",
        f"#define KIWICHA_LOADER_ADDRESS 0x{cfu.DRAM_BASE + usable:08x}u",
        f"#define {HAS_LOADER} {int(not hasattr(soc, 'simulation'))}",
    ]
    for block, region in soc.csr.regions.items():
        address = region.origin
        for register in region.obj:
            name = f"{block}_{register.name}".upper()
            lines.append(f"#define KIWICHA_CSR_{name} 0x{address:08x}u")
            address += 4 * -(-register.size // region.busword)
    if hasattr(soc, "sdcard"):
        lines += [
            f"#define KIWICHA_SDCARD_{name}DIVIDER {_sdcard_divider(soc.sys_clk_freq, most_hz)}u"
            for name, most_hz in (("START_", SDCARD_START_HZ), ("", SDCARD_SPI_HZ))
        ]
    if hasattr(soc, "engine_events"):
        lines += [
            f"#define KIWICHA_INTERRUPT_{block.upper()} {number}"
            for block, number in sorted(soc.irq.locs.items())
        ]
    lines += ["", "#endif"]
    return "\n".join(lines) + "\n"


def _sdcard_divider(sys_clk_hz: float, most_hz: int) -> int:
    return max(_LEAST_SDCARD_DIVIDER, math.ceil(sys_clk_hz / most_hz))
