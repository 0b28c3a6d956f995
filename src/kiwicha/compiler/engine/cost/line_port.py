"""The scratchpad's line port, at which results go before transfers."""

import math
from collections.abc import Sequence

from kiwicha.contract.engine import LINE_BYTES
from kiwicha.contract.floats import FLOAT_BYTES
from kiwicha.contract.latencies import CONVERTED_BYTES_PER_CYCLE

__all__ = ["CONVERTED_LINE_CYCLES", "converted_line_cycles", "moved_at"]

CONVERTED_LINE_CYCLES = LINE_BYTES // (FLOAT_BYTES * CONVERTED_BYTES_PER_CYCLE)
"""What a line of DRAM takes that is converted."""
_LONGEST_SEARCH = 64 * CONVERTED_LINE_CYCLES
"""Cycles within which conversions and results are in step."""


def converted_line_cycles(cycles: int, writes: float, burst: int) -> float:
    """Return the cycles for a line of DRAM that is converted while a group has results.

    The conversion stops while its line waits for results in a row. When it goes on it is in step
    with them.

    Parameters
    ----------
    cycles : int
        Of the group.
    writes, burst
        Of them, those of results, and how many follow each other: see
        `kiwicha.compiler.engine.cost.job_work.Work`.
    """
    if not writes:
        return CONVERTED_LINE_CYCLES
    period = burst * cycles / writes
    if period <= burst:
        return math.inf
    now = lines = 0.0
    while True:
        now += CONVERTED_LINE_CYCLES
        lines += 1
        place = now % period
        if place >= period - burst:
            return (now + period - place) / lines
        if place < 1 or now > _LONGEST_SEARCH:
            return now / lines


def moved_at(
    shares: Sequence[tuple[float, float, float, float]],
    first: int,
    start: float,
    lines: float,
    is_stopped: bool,
) -> float:
    """Return when so many lines are moved through the line port, in cycles that are free.

    Parameters
    ----------
    shares : sequence of tuple
        From when to when which share of the cycles belongs to results, and what a line takes
        meanwhile that is converted; in order.
    first : int
        The first of them that ends after the start.
    start : float
        When the first line can move.
    lines : float
        How many do.
    is_stopped : bool
        They are converted on their way here, which stops while a line waits. (On its way to DRAM a
        line waits while the words of another one are converted.)
    """
    now = start
    pace = CONVERTED_LINE_CYCLES if is_stopped else 1
    for number in range(first, len(shares)):
        begin, end, share, slow = shares[number]
        if now + lines * pace <= begin:
            break
        if begin > now:
            lines -= (begin - now) / pace
            now = begin
        free = (end - now) / slow if is_stopped else (end - now) * (1.0 - share)
        if lines <= free:
            return now + lines * (slow if is_stopped else 1 / (1.0 - share))
        lines -= free
        now = end
    return now + lines * pace
