"""Timing of memories and shift registers that are made of LUTs.

The source is that of `kiwicha.boards.timing.slices`: Project X-Ray's ``slicem.sdf``.
"""

from collections.abc import Callable, Mapping

from kiwicha.boards.timing.cell_timing import Arc, CellTiming, Launch, captures, pins_of
from kiwicha.boards.timing.netlist import Cell
from kiwicha.boards.timing.slices import LUT_PS

__all__ = ["TIMINGS"]

_CLOCK_PS = 156
_FASTEST_CLOCK_PS = 126
"""From the clock pin of a slice with memory to its LUTs, at most and at least."""

_READ_AFTER_WRITE = _CLOCK_PS + 1190
_DATA = 461 - _FASTEST_CLOCK_PS
_WRITE_ADDRESS = 362 - _FASTEST_CLOCK_PS
_WRITE_ENABLE = 654 - _FASTEST_CLOCK_PS

_SHIFTED = _CLOCK_PS + 1481
_LAST = _CLOCK_PS + 1114
_SHIFT_DATA = 178 - _FASTEST_CLOCK_PS
_SHIFT_ENABLE = 638 - _FASTEST_CLOCK_PS


def _memory(
    reads: Mapping[str, str], write_address: tuple[str, ...], data: tuple[str, ...]
) -> Callable[[Cell], CellTiming]:
    """Return the timing of a memory.

    Parameters
    ----------
    reads : mapping
        The output for each start of an address port's name.
    write_address : tuple of str
        Starts of the names of the address ports that writes use.
    data : tuple of str
        Ports of the data.
    """

    def timing(cell: Cell) -> CellTiming:
        def starting(prefixes: tuple[str, ...]) -> list[str]:
            return [port for port, _ in cell.inputs if port.rstrip("0123456789") in prefixes]

        arcs = (
            Arc(pins_of(cell.inputs, starting((address,))), pins_of(cell.outputs, [output]), LUT_PS)
            for address, output in reads.items()
        )
        times = {
            **dict.fromkeys(data, _DATA),
            **dict.fromkeys(starting(write_address), _WRITE_ADDRESS),
            "WE": _WRITE_ENABLE,
        }
        return CellTiming(
            arcs=tuple(arc for arc in arcs if arc.inputs and arc.outputs),
            launches=(Launch(tuple(cell.outputs), _READ_AFTER_WRITE),),
            captures=captures(cell, times),
            clocks=pins_of(cell.inputs, ["WCLK"]),
        )

    return timing


def _shift_register(cell: Cell) -> CellTiming:
    address = tuple(pin for pin in cell.inputs if pin[0].rstrip("0123456789") == "A")
    output = pins_of(cell.outputs, ["Q"])
    return CellTiming(
        arcs=(Arc(address, output, LUT_PS),) if address and output else (),
        launches=(
            Launch(output, _SHIFTED),
            Launch(pins_of(cell.outputs, ["Q15", "Q31"]), _LAST),
        ),
        captures=captures(cell, {"D": _SHIFT_DATA, "CE": _SHIFT_ENABLE}),
        clocks=pins_of(cell.inputs, ["CLK"]),
    )


_FOUR = _memory(
    {f"ADDR{port}": f"DO{port}" for port in "ABCD"},
    ("ADDRD",),
    ("DIA", "DIB", "DIC", "DID"),
)
_TWO = _memory({"A": "SPO", "DPRA": "DPO"}, ("A",), ("D",))
TIMINGS: Mapping[str, Callable[[Cell], CellTiming]] = {
    **dict.fromkeys(("RAM32M", "RAM64M"), _FOUR),
    **dict.fromkeys(("RAM32X1D", "RAM64X1D"), _TWO),
    **dict.fromkeys(("SRL16E", "SRLC16E", "SRLC32E"), _shift_register),
}
"""By type of cell."""
