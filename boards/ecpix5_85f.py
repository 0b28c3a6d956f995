"""LambdaConcept ECPIX-5 with an LFE5UM5G-85F and DDR3."""

from litedram.phy import ECP5DDRPHY
from litex.build.generic_platform import IOStandard, Misc, Pins, Subsignal
from litex_boards.platforms import lambdaconcept_ecpix5

from kiwicha.boards.board import Parts
from kiwicha.boards.ecp5 import TOOLCHAIN, Ddr3Clocks, ecp5
from kiwicha.boards.sdcard_pins import SDCARD_RESOURCE
from kiwicha.contract.memories import DDR3_HALF_RATE
from kiwicha.sim.soc.dram import chip

__all__ = ["BOARD"]

_INPUT_HZ = 100_000_000

_PULLED_UP = Misc("PULLMODE=UP")
# LiteX calls mosi cmd, miso data[0] and cs_n data[3]. Between FPGA and card is a
# translator of levels with directions, 1 towards the card: of cmd, of data[3:1] and of data[0].
_SDCARD = (
    SDCARD_RESOURCE,
    0,
    Subsignal("clk", Pins("P24")),
    Subsignal("mosi", Pins("M24"), _PULLED_UP),
    Subsignal("miso", Pins("N26"), _PULLED_UP),
    Subsignal("cs_n", Pins("N21"), _PULLED_UP),
    Subsignal("unused", Pins("N25 N23"), _PULLED_UP),
    Subsignal("to_card", Pins("M23 P26")),
    Subsignal("from_card", Pins("N24")),
    IOStandard("LVCMOS33"),
)


def _parts(sys_clk_hz: int) -> Parts:
    platform = lambdaconcept_ecpix5.Platform(device="85F", toolchain=TOOLCHAIN)
    platform.add_extension([_SDCARD])
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
    has_sdcard=True,
    camera_pins=tuple(f"{name}:{pin}" for name in ("pmod0", "pmod1") for pin in range(8)),
    microphone_pins=tuple(f"pmod2:{pin}" for pin in range(3)),
)
