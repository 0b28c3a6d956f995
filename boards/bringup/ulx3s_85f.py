"""Radiona ULX3S with an LFE5U-85F: a PLL behind the oscillator of 25 MHz."""

from fractions import Fraction
from typing import Any

from amaranth import Const, Instance, Module, Signal
from amaranth.lib import io
from amaranth_boards.ulx3s import ULX3S_85F_Platform

from kiwicha.boards.bringup.board import BringUpBoard
from kiwicha.errors import BoardError

__all__ = ["BOARD"]

_INPUT_HZ = 25_000_000
# Ref: Lattice, ECP5 and ECP5-5G sysCLOCK PLL/DLL usage guide, FPGA-TN-02200: the oscillator runs
# from 400 to 800 MHz, and dividers go to 128.
_OSCILLATOR_HZ = 600_000_000
_LARGEST_DIVIDER = 128


def _make_clock(m: Module, platform: Any, clock: Signal, clock_hz: int) -> Any:
    """Multiply the oscillator's frequency; wait until the PLL has locked."""
    ratio = Fraction(clock_hz, _INPUT_HZ)
    divider = round(_OSCILLATOR_HZ / clock_hz)
    if not 1 <= divider <= _LARGEST_DIVIDER or ratio.denominator > 8 or ratio.numerator > 80:
        raise BoardError(
            f"clock must be a simple multiple of {_INPUT_HZ} Hz that the PLL can make, not"
            f" {clock_hz} Hz"
        )
    m.submodules.clock = oscillator = io.Buffer("i", platform.request("clk25", dir="-"))
    m.submodules.button = button = io.Buffer("i", platform.request("button_pwr", dir="-"))
    is_locked = Signal()
    m.submodules.pll = Instance(
        "EHXPLLL",
        a_FREQUENCY_PIN_CLKI=str(_INPUT_HZ / 1e6),
        a_FREQUENCY_PIN_CLKOP=str(clock_hz / 1e6),
        p_CLKI_DIV=ratio.denominator,
        p_CLKFB_DIV=ratio.numerator,
        p_CLKOP_DIV=divider,
        p_CLKOP_ENABLE="ENABLED",
        # The output's edges are those of the oscillator.
        p_CLKOP_CPHASE=divider - 1,
        p_CLKOP_FPHASE=0,
        p_FEEDBK_PATH="CLKOP",
        i_CLKI=oscillator.i,
        i_CLKFB=clock,
        i_RST=Const(0),
        i_STDBY=Const(0),
        i_PHASESEL0=Const(0),
        i_PHASESEL1=Const(0),
        i_PHASEDIR=Const(0),
        i_PHASESTEP=Const(0),
        i_PHASELOADREG=Const(0),
        i_PLLWAKESYNC=Const(0),
        i_ENCLKOP=Const(1),
        o_CLKOP=clock,
        o_LOCK=is_locked,
    )
    platform.add_clock_constraint(clock, clock_hz)
    return ~is_locked | button.i


def _idle_pins(m: Module, platform: Any) -> None:
    # Low would let the board's radio module reset the FPGA.
    radio = platform.request("esp32", dir="-")
    m.submodules.radio = pin = io.Buffer("o", radio.gpio0)
    m.d.comb += pin.o.eq(1)


BOARD = BringUpBoard(platform=ULX3S_85F_Platform, make_clock=_make_clock, idle_pins=_idle_pins)
