"""Timing of the logic of a slice: LUTs, multiplexers, carry chains and flip-flops.

Of a 7-series FPGA of speed grade -1. The numbers are those of the slow corner in Project X-Ray's
database (f4pga/prjxray-db, commit 0a0addedd73e7e4139d52a6d8db4258763e0f1f3, ``artix7/timings``:
``slicel.sdf``, ``slicem.sdf``); where the four places of a slice differ, the slowest counts.
"""

from collections.abc import Callable, Mapping

from kiwicha.boards.timing.cell_timing import Arc, CellTiming, Launch, captures, pins_of
from kiwicha.boards.timing.netlist import Cell, Pin

__all__ = ["D_FROM", "FLIP_FLOPS", "LUT_PS", "OUT_OF_SLICE", "TIMINGS"]

LUT_PS = 124
"""From any input of a LUT to its output."""
_CLOCK_PS = 116
_FASTEST_CLOCK_PS = 93
"""From the clock pin of a slice to its flip-flops, at most and at least."""

_CLOCK_TO_Q = _CLOCK_PS + 340


def _setup(way_ps: int, setup_ps: int) -> int:
    """Return the setup time at the pin of a slice; the clock has a way to go there, too."""
    return way_ps + setup_ps - _FASTEST_CLOCK_PS


_D_SETUP = -45
D_FROM = {
    "LUT": _setup(109, _D_SETUP),
    "MUXF": _setup(74, _D_SETUP),
    "CARRY4": _setup(76, _D_SETUP),
}
"""Setup time of D from what lies before the flip-flop in its slice, by the start of its type."""
_BYPASS = _setup(219, _D_SETUP)
_ENABLE = _setup(189, 109)
# An estimate: the database has only the time of an asynchronous set or reset, which is 405.
_RESET = 429
_RECOVERY = _setup(94, 404)

OUT_OF_SLICE = {
    **{("CARRY4", "O"): 182, ("CARRY4", "CO"): 305},
    **{("MUXF7", "O"): 175, ("MUXF8", "O"): 192},
}
"""What an output that is not one of a LUT takes to leave its slice."""

# From an input, by the port of the outputs: to their bits, the last ones of the four.
_CARRY: Mapping[Pin, Mapping[str, tuple[int, ...]]] = {
    ("CI", 0): {"O": (222, 334, 239, 313), "CO": (271, 157, 228, 114)},
    ("CYINIT", 0): {"O": (482, 598, 584, 642), "CO": (536, 494, 592, 580)},
    ("S", 0): {"O": (223, 400, 523, 582), "CO": (340, 433, 512, 508)},
    ("S", 1): {"O": (205, 558, 618), "CO": (469, 548, 528)},
    ("S", 2): {"O": (226, 330), "CO": (292, 376)},
    ("S", 3): {"O": (227,), "CO": (380,)},
    # The sum's own bit does not depend on DI.
    ("DI", 0): {"O": (407, 556, 615), "CO": (379, 465, 540, 526)},
    ("DI", 1): {"O": (537, 596), "CO": (445, 520, 507)},
    ("DI", 2): {"O": (438,), "CO": (356, 398)},
    ("DI", 3): {"O": (), "CO": (385,)},
}
_CARRY_BITS = 4


def _lut(cell: Cell) -> CellTiming:
    return CellTiming(arcs=(Arc(tuple(cell.inputs), tuple(cell.outputs), LUT_PS),))


def _multiplexer(data_ps: int, select_ps: int) -> Callable[[Cell], CellTiming]:
    def timing(cell: Cell) -> CellTiming:
        outputs = tuple(cell.outputs)
        return CellTiming(
            arcs=(
                Arc(pins_of(cell.inputs, ["I0", "I1"]), outputs, data_ps),
                Arc(pins_of(cell.inputs, ["S"]), outputs, select_ps),
            )
        )

    return timing


def _carry(cell: Cell) -> CellTiming:
    return CellTiming(
        arcs=tuple(
            Arc((pin,), ((port, bit),), ps)
            for pin, results in _CARRY.items()
            if pin in cell.inputs
            for port, times in results.items()
            for bit, ps in enumerate(times, start=_CARRY_BITS - len(times))
            if (port, bit) in cell.outputs
        )
    )


def _flip_flop(cell: Cell) -> CellTiming:
    times = {"D": _BYPASS, "CE": _ENABLE, "R": _RESET, "S": _RESET}
    return CellTiming(
        launches=(Launch(pins_of(cell.outputs, ["Q"]), _CLOCK_TO_Q),),
        captures=captures(cell, {**times, "CLR": _RECOVERY, "PRE": _RECOVERY}),
        clocks=pins_of(cell.inputs, ["C"]),
    )


FLIP_FLOPS = ("FDRE", "FDSE", "FDCE", "FDPE")
TIMINGS: Mapping[str, Callable[[Cell], CellTiming]] = {
    **{f"LUT{inputs}": _lut for inputs in range(1, 7)},
    # An inverter becomes a LUT, if it does not vanish in its neighbour.
    "INV": _lut,
    "MUXF7": _multiplexer(223, 296),
    "MUXF8": _multiplexer(104, 273),
    "CARRY4": _carry,
    **dict.fromkeys(FLIP_FLOPS, _flip_flop),
}
"""By type of cell."""
