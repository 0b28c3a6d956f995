"""LambdaConcept ECPIX-5 with an LFE5UM5G-85F and DDR3."""

from litedram.phy import ECP5DDRPHY
from litex_boards.platforms import lambdaconcept_ecpix5

from kiwicha.boards.board import Parts
from kiwicha.boards.ecp5 import TOOLCHAIN, Ddr3Clocks, ecp5
from kiwicha.contract.memories import DDR3_HALF_RATE
from kiwicha.sim.soc.dram import chip

__all__ = ["BOARD"]

_INPUT_HZ = 100_000_000


def _parts(sys_clk_hz: int) -> Parts:
    platform = lambdaconcept_ecpix5.Platform(device="85F", toolchain=TOOLCHAIN)
    crg = Ddr3Clocks(
        platform.request("clk100"),
        platform.request("rst_n"),
        input_hz=_INPUT_HZ,
        sys_clk_hz=sys_clk_hz,
    )
    phy = ECP5DDRPHY(platform.request("ddram"), sys_clk_freq=sys_clk_hz)
    crg.connect(phy)
    return Parts(platform, crg, phy, chip(DDR3_HALF_RATE, sys_clk_hz))


BOARD = ecp5(
    name="ecpix5_85f",
    title="ECPIX-5 85F",
    part="LFE5UM5G-85F-8BG554I",
    memory=DDR3_HALF_RATE,
    dram_bytes=512 << 20,
    loader="ecpix5",
    parts=_parts,
    camera_pins=tuple(f"{name}:{pin}" for name in ("pmod0", "pmod1") for pin in range(8)),
    microphone_pins=tuple(f"pmod2:{pin}" for pin in range(3)),
)
