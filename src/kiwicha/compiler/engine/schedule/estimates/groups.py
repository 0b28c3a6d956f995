"""Stripes of a move whose inputs are loaded, or outputs stored, together: long parts of planes.

A transfer takes some forty cycles besides its bytes, and moves of single bytes leave it no line to
hide them. Of what lies in planes in the arena there is a transfer for each plane. So that these are
long, most of the scratchpad holds one side of the move; the other side comes or goes in small
stripes, each without such parts.
"""

import math
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kiwicha.compiler.engine.ir.move_operations import MoveOperation
from kiwicha.compiler.engine.schedule.stripes.cascade import Cascade, Room, Striping

__all__ = ["grouped_cycles", "grouped_stripings"]

_FEWEST_PLANES = 16
"""With fewer, their parts are long in any stripes."""
_ROWS = (4, 8, 12, 16, 24, 32, 48, 64, 96, 128)
"""Rows of a stripe that are tried: tiles have four."""
_MOST_BYTES = 1 << 13
"""Bytes of a stripe that are tried, at most, if it has more rows than one."""


def grouped_stripings(
    cascade: Cascade, free: int, needed: Callable[[Striping], int]
) -> Iterator[Striping]:
    """Yield stripings of a move with groups as large as fit.

    Parameters
    ----------
    cascade : Cascade
        Any; only of a single move there are such.
    free : int
        Bytes of the scratchpad.
    needed : callable
        Gives the bytes that a striping needs.
    """
    move = cascade.operations[-1]
    if len(cascade.operations) > 1 or not isinstance(move, MoveOperation):
        return
    if cascade.most_planes < _FEWEST_PLANES:
        return
    rows, row_bytes = move.window.output_rows, cascade.region.output_row_bytes(move)
    loads = any(cascade.planes(tensor) is not None for tensor in cascade.inputs)
    for height in {min(count, rows) for count in (1, *_ROWS)}:
        if height not in cascade.heights or (height > 1 and height * row_bytes > _MOST_BYTES):
            continue
        for is_loads in (True,) if move.planes == 1 else (False, True)[: 1 + loads]:
            found = _largest(cascade, height, is_loads, free, needed)
            if found is not None:
                yield found


def _largest(
    cascade: Cascade, height: int, is_loads: bool, free: int, needed: Callable[[Striping], int]
) -> Striping | None:
    """Return the striping with the fewest groups, all about as large; None if none fits."""

    def striping(count: int) -> Striping:
        if is_loads:
            return Striping(cascade, height, False, Room.OPERATION, loads_for=count)
        return Striping(cascade, height, True, Room.STORE, stores_of=count)

    stripes = -(-cascade.operations[-1].window.output_rows // height)
    low, high = 1, stripes
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if needed(striping(middle)) <= free else (low, middle - 1)
    count = -(-stripes // -(-stripes // low))
    found = striping(count)
    return found if count > 1 and needed(found) <= free else None


def grouped_cycles(
    striping: Striping,
    compute: NDArray[np.float64],
    free: NDArray[np.float64],
    loads: NDArray[np.floating[Any]],
    stores: NDArray[np.floating[Any]],
) -> float:
    """Return what such stripes take, from the first load to the last store.

    Parameters
    ----------
    striping : Striping
        With groups.
    compute, free : ndarray of float64 [stripes]
        Cycles of jobs, and those of them beside which lines can be transferred.
    loads, stores : ndarray of float64
        Cycles of the transfers of each group, or of each stripe on the other side.
    """
    waited, beside, alone = stores, loads[1:], loads[:1]
    if striping.loads_for > 1:
        waited, beside, alone = loads, stores[:-1], stores[-1:]
    left = max(math.fsum(beside) - math.fsum(free), 0.0)
    return math.fsum([*waited, *compute, *alone, left])
