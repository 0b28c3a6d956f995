"""Radiona ULX3S with an LFE5U-85F and SDRAM."""

from typing import Any

from litedram.phy import HalfRateGENSDRPHY
from litex.build.io import DDROutput
from litex.gen import LiteXModule
from litex.soc.cores.clock import ECP5PLL
from litex_boards.platforms import radiona_ulx3s
from migen import ClockDomain, ClockSignal

from kiwicha.boards.board import CLOCK_MARGIN, Parts
from kiwicha.boards.ecp5 import TOOLCHAIN, ecp5
from kiwicha.contract.memories import SDR_HALF_RATE
from kiwicha.sim.soc.dram import chip

__all__ = ["BOARD"]

_INPUT_HZ = 25_000_000
# What LiteX's own design for this board found to work at the chip's pins.
_SDRAM_PHASE = 180


class _Crg(LiteXModule):
    """Clocks: ``sys``, ``sys2x`` for the SDRAM interface, and the SDRAM's own."""

    def __init__(self, platform: Any, sys_clk_hz: int) -> None:
        self.cd_sys = ClockDomain()
        self.cd_sys2x = ClockDomain()
        self.cd_sys2x_ps = ClockDomain()
        self.pll = pll = ECP5PLL()
        self.comb += pll.reset.eq(platform.request("rst"))
        pll.register_clkin(platform.request("clk25"), _INPUT_HZ)
        pll.create_clkout(self.cd_sys, sys_clk_hz, margin=CLOCK_MARGIN)
        pll.create_clkout(self.cd_sys2x, 2 * sys_clk_hz, margin=CLOCK_MARGIN)
        pll.create_clkout(self.cd_sys2x_ps, 2 * sys_clk_hz, phase=_SDRAM_PHASE, margin=CLOCK_MARGIN)
        self.specials += DDROutput(1, 0, platform.request("sdram_clock"), ClockSignal("sys2x_ps"))
        # Low would let the board's radio module reset the FPGA.
        self.comb += platform.request("wifi_gpio0").eq(1)


def _parts(sys_clk_hz: int) -> Parts:
    platform = radiona_ulx3s.Platform(device="LFE5U-85F", toolchain=TOOLCHAIN)
    phy = HalfRateGENSDRPHY(platform.request("sdram"), sys_clk_hz)
    crg = _Crg(platform, sys_clk_hz)
    return Parts(platform, crg, phy, chip(SDR_HALF_RATE, sys_clk_hz))


BOARD = ecp5(
    name="ulx3s_85f",
    title="ULX3S 85F",
    part="LFE5U-85F-6BG381C",
    memory=SDR_HALF_RATE,
    dram_bytes=SDR_HALF_RATE.dram_bytes,
    loader="ulx3s",
    parts=_parts,
    has_sdcard=True,
    # GP and GN of the header's first eight pairs.
    camera_pins=(
        *("B11", "C11", "A10", "A11", "A9", "B10", "B9", "C10"),
        *("A7", "A8", "C8", "B8", "C6", "C7", "A6", "B6"),
    ),
    # GP and GN of the ninth pair, GP of the tenth.
    microphone_pins=("A4", "A5", "A2"),
)
