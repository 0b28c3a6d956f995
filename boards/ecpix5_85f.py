"""LambdaConcept ECPIX-5 with an LFE5UM5G-85F and DDR3."""

from typing import Any

from litedram.modules import MT41K256M16
from litedram.phy import ECP5DDRPHY
from litex.gen import LiteXModule
from litex.soc.cores.clock import ECP5PLL
from litex_boards.platforms import lambdaconcept_ecpix5
from migen import ClockDomain, If, Instance, Signal
from migen.genlib.resetsync import AsyncResetSynchronizer

from kiwicha.boards.board import Parts
from kiwicha.boards.ecp5 import TOOLCHAIN, ecp5

__all__ = ["BOARD"]

_INPUT_HZ = 100_000_000
_INIT_HZ = 25_000_000
_POWER_ON_CYCLES = (1 << 16) - 1


class _Crg(LiteXModule):
    """Clocks: ``sys``, ``sys2x`` for the DDR3 interface, which can stop both, and ``init``."""

    def __init__(self, platform: Any, sys_clk_hz: int) -> None:
        self.rst = Signal()
        self.stop = Signal()
        self.reset = Signal()
        self.cd_init = ClockDomain()
        self.cd_por = ClockDomain()
        self.cd_sys = ClockDomain()
        self.cd_sys2x = ClockDomain()
        self.cd_sys2x_i = ClockDomain()
        clk100, rst_n = platform.request("clk100"), platform.request("rst_n")
        waits = Signal(max=_POWER_ON_CYCLES + 1, reset=_POWER_ON_CYCLES)
        self.comb += self.cd_por.clk.eq(clk100)
        self.sync.por += If(waits != 0, waits.eq(waits - 1))
        self.pll = pll = ECP5PLL()
        self.comb += pll.reset.eq((waits != 0) | ~rst_n | self.rst)
        pll.register_clkin(clk100, _INPUT_HZ)
        pll.create_clkout(self.cd_sys2x_i, 2 * sys_clk_hz)
        pll.create_clkout(self.cd_init, _INIT_HZ)
        self.specials += [
            Instance(
                "ECLKSYNCB",
                i_ECLKI=self.cd_sys2x_i.clk,
                i_STOP=self.stop,
                o_ECLKO=self.cd_sys2x.clk,
            ),
            Instance(
                "CLKDIVF",
                p_DIV="2.0",
                i_ALIGNWD=0,
                i_CLKI=self.cd_sys2x.clk,
                i_RST=self.reset,
                o_CDIVX=self.cd_sys.clk,
            ),
            AsyncResetSynchronizer(self.cd_sys, ~pll.locked | self.reset),
        ]


def _parts(sys_clk_hz: int) -> Parts:
    platform = lambdaconcept_ecpix5.Platform(device="85F", toolchain=TOOLCHAIN)
    crg = _Crg(platform, sys_clk_hz)
    phy = ECP5DDRPHY(platform.request("ddram"), sys_clk_freq=sys_clk_hz)
    crg.comb += [crg.stop.eq(phy.init.stop), crg.reset.eq(phy.init.reset)]
    return Parts(platform, crg, phy, MT41K256M16(sys_clk_hz, "1:2"))


BOARD = ecp5(
    name="ecpix5_85f",
    title="ECPIX-5 85F",
    part="LFE5UM5G-85F-8BG554I",
    sys_clk_hz=75_000_000,
    dram_bytes=512 << 20,
    loader="ecpix5",
    parts=_parts,
)
