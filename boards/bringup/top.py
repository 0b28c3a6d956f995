"""The bring-up design on the pins of a board, and the files that a toolchain takes."""

from collections.abc import Mapping
from typing import Any

from amaranth import ClockDomain, Elaboratable, Module, Signal
from amaranth.back import rtlil
from amaranth.lib import io
from amaranth.lib.cdc import ResetSynchronizer

from kiwicha.boards.board import Board
from kiwicha.boards.bringup.board import BringUpBoard, load_pins
from kiwicha.boards.family import Family
from kiwicha.boards.flow.system import CONSTRAINTS, TOP, VIVADO_SCRIPT
from kiwicha.contract.configs import Config
from kiwicha.errors import BoardError
from kiwicha.gateware.bringup.bring_up import BringUp, check_parameters

__all__ = ["SOURCE", "bring_up_files", "bring_up_rtlil"]

SOURCE = f"{TOP}.v"
_VERILOG = {Family.ECP5: f"{TOP}.debug.v", Family.XC7: SOURCE}
"""Where amaranth's platforms have Verilog."""


class _Top(Elaboratable):
    """Join the design to clock, serial line and lamps."""

    def __init__(self, design: BringUp, pins: BringUpBoard) -> None:
        self._design = design
        self._pins = pins

    def elaborate(self, platform: Any) -> Module:
        """Build clock, reset and pads."""
        m = Module()
        m.domains.sync = domain = ClockDomain()
        domain.clk = clock = Signal(name="clock")
        is_reset = self._pins.make_clock(m, platform, clock, self._design.clock_hz)
        # It starts in reset: no register changes while the FPGA is still being configured.
        m.submodules.reset = ResetSynchronizer(is_reset, domain="sync")
        m.submodules.design = design = self._design
        line = platform.request("uart", 0, dir="-")
        m.submodules.rx = rx = io.Buffer("i", line.rx)
        m.submodules.tx = tx = io.Buffer("o", line.tx)
        m.d.comb += [design.rx.eq(rx.i), tx.o.eq(design.tx)]
        for number in range(len(design.lamps)):
            lamp = io.Buffer("o", platform.request("led", number, dir="-"))
            m.submodules[f"lamp_{number}"] = lamp
            m.d.comb += lamp.o.eq(design.lamps[number])
        if self._pins.idle_pins is not None:
            self._pins.idle_pins(m, platform)
        return m


def bring_up_files(board: Board, config: Config, baud: int) -> dict[str, bytes]:
    """Return Verilog and constraints, for Xilinx parts also Vivado's script, by name.

    Parameters
    ----------
    board : Board
        Where it runs, at the clock of the board's system.
    config : Config
        What the CFU has.
    baud : int
        Bits per second of the serial line.

    Raises
    ------
    UsageError
        If the bring-up design has no such board.
    BoardError
        If the configuration has an engine, or the line is too fast for the clock.
    """
    _, written = _planned(board, config, baud)
    names = {SOURCE: _VERILOG[board.family], CONSTRAINTS[board.family]: CONSTRAINTS[board.family]}
    if board.family is Family.XC7:
        names[VIVADO_SCRIPT] = VIVADO_SCRIPT
    files = {name: written[planned] for name, planned in names.items()}
    return {name: text.encode() if isinstance(text, str) else text for name, text in files.items()}


def bring_up_rtlil(board: Board, config: Config, baud: int) -> str:
    """Return the design as RTLIL; parameters and exceptions are those of `bring_up_files`."""
    design, _ = _planned(board, config, baud)
    text, _ = rtlil.convert_fragment(design, name=TOP, emit_src=False, propagate_domains=False)
    return str(text)


def _planned(board: Board, config: Config, baud: int) -> tuple[Any, Mapping[str, str | bytes]]:
    """Return the design with its pads, and the files that amaranth's platform makes of it."""
    pins = load_pins(board.name)
    try:
        check_parameters(config, board.sys_clk_hz, baud)
    except ValueError as error:
        raise BoardError(str(error)) from error
    top = _Top(BringUp(config=config, clock_hz=board.sys_clk_hz, baud=baud), pins)
    platform = pins.platform()
    prepare = platform.toolchain_prepare
    designs = []

    def kept(design: Any, *words: Any, **options: Any) -> Any:
        designs.append(design)
        return prepare(design, *words, **options)

    platform.toolchain_prepare = kept
    plan = platform.build(top, name=TOP, do_build=False, debug_verilog=True, emit_src=False)
    (design,) = designs
    return design, plan.files
