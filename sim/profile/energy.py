"""Dynamic energy of the CFU's core, estimated from counted toggles.

What an event costs in the FPGAs of the boards was not found published, so the figures are those
that others published for other chips, scaled. They can be replaced one by one.
"""

import enum
from collections.abc import Mapping
from dataclasses import dataclass

from kiwicha.errors import UsageError
from kiwicha.sim.profile.primitives import Primitive
from kiwicha.sim.profile.toggles import Toggles

__all__ = [
    "FIGURES",
    "LEFT_OUT",
    "UNCERTAINTY",
    "Event",
    "Figure",
    "Part",
    "energy_parts",
    "events_of",
    "with_figures",
]

_NANOMETRES, _VOLTS = 28, 1.0
"""Of 7-series FPGAs."""
UNCERTAINTY = 3
"""The sum may be wrong by such a factor: scaling from 220 nm is ideal at best, and what a bit of a
netlist becomes in LUTs and wires is not known here. It has not been compared with a measurement."""
LEFT_OUT = "static power, CPU, memory controller, pins and DRAM"
"""What is not estimated."""


class Event(enum.StrEnum):
    """What takes energy."""

    CLOCK = "clock"
    """A flip-flop is clocked, whether it changes or not."""
    FLIP_FLOP = "flip-flop"
    """A flip-flop changes."""
    LOGIC = "logic"
    """A net of logic changes."""
    PRODUCT = "product"
    """A bit of a product changes."""
    MEMORY = "memory"
    """A bit of a memory is read or written."""


@dataclass(frozen=True)
class Figure:
    """The energy of an event, where it is published.

    Parameters
    ----------
    picojoules : float
        Published.
    nanometres : int
        Size of that technology; 0 for a figure that is not scaled.
    volts : float
        Its supply.
    source : str
        Where, and how the figure follows from what stands there.
    """

    picojoules: float
    nanometres: int
    volts: float
    source: str

    @property
    def scaled(self) -> float:
        """Picojoules at the size and supply of 7-series FPGAs: C V**2, C in proportion to size."""
        if not self.nanometres:
            return self.picojoules
        size, supply = _NANOMETRES / self.nanometres, _VOLTS / self.volts
        return self.picojoules * size * supply**2

    @property
    def text(self) -> str:
        """What it comes from."""
        if not self.nanometres:
            return self.source
        return (
            f"{self.picojoules:g} pJ at {self.nanometres} nm and {self.volts:g} V ({self.source}), "
            f"scaled to {_NANOMETRES} nm and {_VOLTS:g} V"
        )


_ACTEL = "Actel, ProASIC PLUS Flash Family FPGAs, typical power dissipation: "
_HOROWITZ = "M. Horowitz, Computing's Energy Problem, ISSCC 2014: "
FIGURES: Mapping[Event, Figure] = {
    Event.CLOCK: Figure(1.3, 220, 2.5, f"{_ACTEL}P2, clock tree per storage tile and MHz"),
    Event.FLIP_FLOP: Figure(0.55, 220, 2.5, f"{_ACTEL}P5, half a period of a storage tile"),
    Event.LOGIC: Figure(0.7, 220, 2.5, f"{_ACTEL}P3, half a period of a logic tile"),
    Event.PRODUCT: Figure(
        0.025, 45, 0.9, f"{_HOROWITZ}8-bit multiplication 0.2 pJ, of whose 16 bits 8 change"
    ),
    Event.MEMORY: Figure(19.4, 220, 2.5, f"{_ACTEL}P6, memory block of 9 bits per MHz"),
}
"""What is taken where the user gives nothing else."""


@dataclass(frozen=True)
class Part:
    """The part of an event.

    Parameters
    ----------
    event : Event
        Which.
    count : int
        How often it happened.
    picojoules : float
        Each time.
    """

    event: Event
    count: int
    picojoules: float

    @property
    def microjoules(self) -> float:
        """In all."""
        return self.count * self.picojoules * 1e-6


def events_of(toggles: Toggles) -> dict[Event, int]:
    """Return how often each event happened.

    Parameters
    ----------
    toggles : Toggles
        Counted.
    """
    return {
        Event.CLOCK: toggles.bits[Primitive.FLIP_FLOP] * toggles.cycles,
        Event.FLIP_FLOP: toggles.toggles[Primitive.FLIP_FLOP],
        Event.LOGIC: toggles.toggles[Primitive.LOGIC],
        Event.PRODUCT: toggles.toggles[Primitive.MULTIPLIER],
        Event.MEMORY: toggles.accessed_bits,
    }


def energy_parts(toggles: Toggles, figures: Mapping[Event, Figure] = FIGURES) -> tuple[Part, ...]:
    """Return the parts of the energy.

    Parameters
    ----------
    toggles : Toggles
        Counted.
    figures : Mapping
        Energies of events.
    """
    return tuple(
        Part(event, count, figures[event].scaled) for event, count in events_of(toggles).items()
    )


def with_figures(given: list[str]) -> dict[Event, Figure]:
    """Return `FIGURES` with those that the user gives in their place.

    Parameters
    ----------
    given : list of str
        ``EVENT=PICOJOULES``, which are not scaled.

    Raises
    ------
    UsageError
        If there is no such event, or the number is none or below 0.
    """
    figures = dict(FIGURES)
    for text in given:
        name, _, number = text.partition("=")
        try:
            picojoules = float(number)
            event = Event(name)
        except ValueError:
            picojoules = -1.0
        if not 0 <= picojoules < float("inf"):
            known = ", ".join(Event)
            raise UsageError(
                f"an energy must be EVENT=PICOJOULES with an event of {known} and 0 or more "
                f"picojoules, not {text!r}"
            )
        figures[event] = Figure(picojoules, 0, _VOLTS, "given by the user")
    return figures
