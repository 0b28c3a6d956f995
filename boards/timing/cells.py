"""The timing of every type of cell that a design is made of."""

from collections.abc import Callable, Mapping

from kiwicha.boards.timing import block_rams, multipliers, slice_memories, slices
from kiwicha.boards.timing.cell_timing import CellTiming
from kiwicha.boards.timing.netlist import Cell
from kiwicha.errors import ToolError

__all__ = ["CLOCK_BUFFERS", "timing_of"]

CLOCK_BUFFERS = ("BUFG",)
"""Cells that clocks go through."""

_TIMINGS: Mapping[str, Callable[[Cell], CellTiming]] = {
    **slices.TIMINGS,
    **slice_memories.TIMINGS,
    **block_rams.TIMINGS,
    **multipliers.TIMINGS,
}


def timing_of(cell: Cell) -> CellTiming:
    """Return the timing of a cell.

    Raises
    ------
    ToolError
        If its type, or a port of it, is not known.
    """
    if cell.kind in CLOCK_BUFFERS:
        return CellTiming(clocks=tuple(cell.inputs))
    timing = _TIMINGS.get(cell.kind)
    if timing is None:
        raise ToolError(
            f"type of a cell must be one whose timing is known, not {cell.kind} ({cell.name})"
        )
    return timing(cell)
