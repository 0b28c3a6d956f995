"""What the timing of a cell is made of; times are in picoseconds."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from kiwicha.boards.timing.netlist import Cell, Pin

__all__ = ["Arc", "Capture", "CellTiming", "Launch", "pins_of"]


@dataclass(frozen=True)
class Launch:
    """Outputs that change some time after the clock.

    Parameters
    ----------
    pins : tuple of Pin
        Where paths begin.
    ps : int
        From the clock to the output.
    """

    pins: tuple[Pin, ...]
    ps: int


@dataclass(frozen=True)
class Capture:
    """Inputs that must be stable some time before the clock.

    Parameters
    ----------
    pins : tuple of Pin
        Where paths end.
    ps : int
        The setup time; less than zero where the clock comes later than the data.
    """

    pins: tuple[Pin, ...]
    ps: int


@dataclass(frozen=True)
class Arc:
    """Outputs that follow inputs: each of them each.

    Parameters
    ----------
    inputs, outputs : tuple of Pin
        From where to where.
    ps : int
        The delay.
    """

    inputs: tuple[Pin, ...]
    outputs: tuple[Pin, ...]
    ps: int


@dataclass(frozen=True)
class CellTiming:
    """All that a path can meet in a cell.

    Parameters
    ----------
    arcs : tuple of Arc
        Ways through it.
    launches : tuple of Launch
        Where paths begin.
    captures : tuple of Capture
        Where they end.
    clocks : tuple of Pin
        Inputs that are clocks.
    """

    arcs: tuple[Arc, ...] = ()
    launches: tuple[Launch, ...] = ()
    captures: tuple[Capture, ...] = ()
    clocks: tuple[Pin, ...] = ()


def pins_of(pins: Mapping[Pin, int], ports: Iterable[str]) -> tuple[Pin, ...]:
    """Return the connected bits of some ports.

    Parameters
    ----------
    pins : mapping
        Inputs or outputs of a `Cell`.
    ports : iterable of str
        Names.
    """
    wanted = set(ports)
    return tuple(pin for pin in pins if pin[0] in wanted)


def captures(cell: Cell, times: Mapping[str, int]) -> tuple[Capture, ...]:
    """Return a capture for each port of a table of setup times that the cell uses."""
    found = ((pins_of(cell.inputs, [port]), ps) for port, ps in times.items())
    return tuple(Capture(pins, ps) for pins, ps in found if pins)
