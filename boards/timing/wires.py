"""What wires take, before anything is placed: an estimate from the number of their loads.

A wire inside a slice, or from a cell to its neighbour in a column, has a place of its own and takes
next to nothing. Every other wire is assumed to be as long as wires with so many loads usually are.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass

from kiwicha.boards.timing.netlist import Cell, Pin
from kiwicha.boards.timing.slices import D_FROM, FLIP_FLOPS, LUT_PS, OUT_OF_SLICE

__all__ = ["DOUBLING", "NET_PS", "SPREAD", "Wire", "data_setup_ps", "is_lut", "route_ps", "wire"]

NET_PS = 550
"""What a wire with one load takes."""
DOUBLING = 0.10
"""How much more it takes for each doubling of the loads, as a share of `NET_PS`."""
SPREAD = 0.02
"""The same for each unit by which the square root of the loads is more than 1: their slices cover
an area, and the farthest one counts."""

_DEDICATED: Mapping[tuple[str, str, str, str], int] = {
    ("CARRY4", "CO", "CARRY4", "CI"): 0,
    ("LUT", "", "CARRY4", "S"): 0,
    **{("LUT", "", "MUXF7", port): 24 for port in ("I0", "I1")},
    **{("MUXF7", "O", "MUXF8", port): 0 for port in ("I0", "I1")},
    ("SRLC32E", "Q31", "SRLC32E", "D"): 0,
    # What Vivado assumes before it places.
    ("DSP48E1", "PCOUT", "DSP48E1", "PCIN"): 55,
}
"""What wires take that go one way only: from type and port to type and port."""
_FROM_INSIDE = {
    (kind, port) for _, _, kind, port in _DEDICATED if kind.startswith(("CARRY", "MUX"))
}
_FROM_INSIDE -= {("CARRY4", "CI")}
"""Inputs that only their own slice can reach: what comes from elsewhere goes through a LUT."""
_LUTS = ("LUT", "INV")
_IN_LUTS = (*_LUTS, "RAM32", "RAM64", "SRL")


@dataclass(frozen=True)
class Wire:
    """The way from an output to an input, in picoseconds.

    Parameters
    ----------
    route_ps : int
        In wires.
    logic_ps : int
        In the multiplexer at the edge of a slice, or in a LUT that lets a signal through.
    """

    route_ps: int
    logic_ps: int = 0


def is_lut(cell: Cell) -> bool:
    """Return whether a cell is logic in a LUT."""
    return cell.kind.startswith(_LUTS)


def route_ps(loads: int, net_ps: int = NET_PS) -> int:
    """Return what a wire takes that the router is free to place.

    Parameters
    ----------
    loads : int
        Inputs that it leads to.
    net_ps : int
        What it takes with one.
    """
    growth = DOUBLING * math.log2(loads) + SPREAD * (math.sqrt(loads) - 1)
    return round(net_ps * (1 + growth))


def dedicated_ps(driver: tuple[Cell, Pin] | None, reader: tuple[Cell, Pin]) -> int | None:
    """Return what a wire takes that is always the same; None if it has to be routed."""
    if driver is None:
        return None
    (source, (output, _)), (target, (port, _)) = driver, reader
    is_inside = source.kind.startswith(_IN_LUTS) and target.kind in {"CARRY4", "MUXF7"}
    start = ("LUT", "") if is_inside else (source.kind, output)
    return _DEDICATED.get((*start, target.kind, port))


def wire(
    driver: tuple[Cell, Pin] | None, reader: tuple[Cell, Pin] | None, loads: int, net_ps: int
) -> Wire:
    """Return the way from an output to an input.

    Parameters
    ----------
    driver, reader : tuple of Cell and Pin, or None
        From where to where; None is a port of the design.
    loads : int
        Inputs that the output leads to by wires that are routed.
    net_ps : int
        What a wire with one load takes.
    """
    always = dedicated_ps(driver, reader) if reader is not None else None
    if always is not None:
        return Wire(always)
    logic = 0
    if driver is not None:
        logic += OUT_OF_SLICE.get((driver[0].kind, driver[1][0]), 0)
    if reader is not None and (reader[0].kind, reader[1][0]) in _FROM_INSIDE:
        logic += LUT_PS
    return Wire(route_ps(loads, net_ps), logic)


def data_setup_ps(driver: tuple[Cell, Pin] | None, reader: tuple[Cell, Pin]) -> int | None:
    """Return the setup time of a flip-flop behind what it stores; None if it is not in its slice.

    A flip-flop takes the place behind the LUT, multiplexer or sum that it stores.
    """
    if driver is None or reader[0].kind not in FLIP_FLOPS or reader[1][0] != "D":
        return None
    source, (output, _) = driver
    kind = "LUT" if is_lut(source) else source.kind
    if (source.kind, output) == ("CARRY4", "CO"):
        return None
    return next((ps for start, ps in D_FROM.items() if kind.startswith(start)), None)
