"""What the two sizes of Digilent Arty A7 share."""

from typing import Any

from litedram.phy.s7ddrphy import A7DDRPHY
from litex.gen import LiteXModule
from litex.soc.cores.clock import S7IDELAYCTRL, S7PLL
from litex_boards.platforms import digilent_arty
from migen import ClockDomain

from kiwicha.boards.board import CLOCK_MARGIN, Board, Parts
from kiwicha.boards.capacity import CAPACITY
from kiwicha.boards.family import Family
from kiwicha.contract.memories import DDR3_QUARTER_RATE
from kiwicha.sim.soc.dram import chip

__all__ = ["arty"]

_INPUT_HZ = 100_000_000
_IDELAY_HZ = 200_000_000
# LiteDRAM's memory clock is four times that of the system, with a quadrature clock for the strobes.
_PHASES = DDR3_QUARTER_RATE.phases
_TOOLCHAINS = ("vivado", "openxc7")


class _Crg(LiteXModule):
    """Clocks: ``sys``, those of the DDR3 interface, and the reference of the input delays."""

    def __init__(self, platform: Any, sys_clk_hz: int) -> None:
        self.cd_sys = ClockDomain()
        self.cd_sys4x = ClockDomain()
        self.cd_sys4x_dqs = ClockDomain()
        self.cd_idelay = ClockDomain()
        self.pll = pll = S7PLL(speedgrade=-1)
        self.comb += pll.reset.eq(~platform.request("cpu_reset"))
        pll.register_clkin(platform.request("clk100"), _INPUT_HZ)
        ddr_hz, margin = _PHASES * sys_clk_hz, CLOCK_MARGIN
        pll.create_clkout(self.cd_sys, sys_clk_hz, margin=margin)
        pll.create_clkout(self.cd_sys4x, ddr_hz, margin=margin)
        pll.create_clkout(self.cd_sys4x_dqs, ddr_hz, phase=90, margin=margin)
        pll.create_clkout(self.cd_idelay, _IDELAY_HZ)
        self.idelayctrl = S7IDELAYCTRL(self.cd_idelay)


def arty(*, size: str, part: str) -> Board:
    """Return an Arty A7.

    Parameters
    ----------
    size : str
        ``35`` or ``100``.
    part : str
        Its FPGA.
    """

    def parts(sys_clk_hz: int) -> Parts:
        # The script and constraints of openXC7 derive from these; LiteX's own lack INTERNAL_VREF.
        platform = digilent_arty.Platform(variant=f"a7-{size}", toolchain="vivado")
        platform.device = part
        phy = A7DDRPHY(
            platform.request("ddram"), memtype="DDR3", nphases=_PHASES, sys_clk_freq=sys_clk_hz
        )
        crg = _Crg(platform, sys_clk_hz)
        return Parts(platform, crg, phy, chip(DDR3_QUARTER_RATE, sys_clk_hz))

    name = f"arty_a7_{size}"
    return Board(
        name=name,
        title=f"Arty A7-{size}T",
        family=Family.XC7,
        part=part,
        memory=DDR3_QUARTER_RATE,
        dram_bytes=256 << 20,
        capacity=CAPACITY[name],
        toolchains=_TOOLCHAINS,
        loader=f"arty_a7_{size}t",
        parts=parts,
        # Headers JB and JC, whose pins have no resistors in between.
        camera_pins=tuple(f"{name}:{pin}" for name in ("pmodb", "pmodc") for pin in range(8)),
        # The first pins of header JD: 1 MHz passes its resistors.
        microphone_pins=tuple(f"pmodd:{pin}" for pin in range(3)),
    )
