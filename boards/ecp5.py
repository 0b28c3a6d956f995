"""What the ECP5 boards share."""

from collections.abc import Callable
from typing import Any

from litex.gen import LiteXModule
from litex.soc.cores.clock import ECP5PLL
from migen import ClockDomain, If, Instance, Signal
from migen.genlib.resetsync import AsyncResetSynchronizer

from kiwicha.boards.board import CLOCK_MARGIN, Board, Parts
from kiwicha.boards.capacity import CAPACITY
from kiwicha.boards.family import Family
from kiwicha.contract.memories import Memory

__all__ = ["TOOLCHAIN", "Ddr3Clocks", "ecp5"]

TOOLCHAIN = "trellis"
"""LiteX's name for Yosys and nextpnr-ecp5."""

_INIT_HZ = 25_000_000
_POWER_ON_CYCLES = (1 << 16) - 1


class Ddr3Clocks(LiteXModule):
    """Clocks: ``sys``, ``sys2x`` for the DDR3 interface, which can stop both, and ``init``.

    Parameters
    ----------
    clock, reset_n : Signal
        Pins of the board's oscillator and of its reset button.
    input_hz, sys_clk_hz : int
        Frequencies of the oscillator and of the system.
    """

    def __init__(self, clock: Any, reset_n: Any, *, input_hz: int, sys_clk_hz: int) -> None:
        if sys_clk_hz == _INIT_HZ:
            # The report on timing could not tell them apart.
            raise ValueError("the clock that starts the memory has that frequency")
        self.stop = Signal()
        self.reset = Signal()
        self.cd_init = ClockDomain()
        self.cd_por = ClockDomain()
        self.cd_sys = ClockDomain()
        self.cd_sys2x = ClockDomain()
        self.cd_sys2x_i = ClockDomain()
        waits = Signal(max=_POWER_ON_CYCLES + 1, reset=_POWER_ON_CYCLES)
        self.comb += self.cd_por.clk.eq(clock)
        self.sync.por += If(waits != 0, waits.eq(waits - 1))
        self.pll = pll = ECP5PLL()
        self.comb += pll.reset.eq((waits != 0) | ~reset_n)
        pll.register_clkin(clock, input_hz)
        pll.create_clkout(self.cd_sys2x_i, 2 * sys_clk_hz, margin=CLOCK_MARGIN)
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

    def connect(self, phy: Any) -> None:
        """Let the DDR3 interface stop its clocks while it starts."""
        self.comb += [self.stop.eq(phy.init.stop), self.reset.eq(phy.init.reset)]


def ecp5(
    *,
    name: str,
    title: str,
    part: str,
    memory: Memory,
    dram_bytes: int,
    loader: str,
    parts: Callable[[int], Parts],
    has_sdcard: bool = False,
    camera_pins: tuple[str, ...] = (),
    microphone_pins: tuple[str, ...] = (),
) -> Board:
    """Return a board with an ECP5; arguments as for `Board`."""
    return Board(
        name=name,
        title=title,
        family=Family.ECP5,
        part=part,
        memory=memory,
        dram_bytes=dram_bytes,
        capacity=CAPACITY[name],
        toolchains=(TOOLCHAIN,),
        loader=loader,
        parts=parts,
        has_sdcard=has_sdcard,
        camera_pins=camera_pins,
        microphone_pins=microphone_pins,
    )
