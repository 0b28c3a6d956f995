"""How long a bit of the serial line is."""

__all__ = ["BAUD_TOLERANCE", "MIN_CYCLES_PER_BIT", "bit_cycles"]

BAUD_TOLERANCE = 0.025
"""A sender's bits may be so much longer or shorter than the receiver's."""

MIN_CYCLES_PER_BIT = 16
"""Below, the receiver's samples would not be apart."""
_MAX_ERROR = 0.01


def bit_cycles(clock_hz: int, baud: int) -> int:
    """Return the cycles of a bit, `MIN_CYCLES_PER_BIT` or more.

    Parameters
    ----------
    clock_hz : int
        Frequency of the clock.
    baud : int
        Bits per second.

    Raises
    ------
    ValueError
        If the clock is too slow, or no whole number of cycles comes within 1 % of a bit.
    """
    cycles = round(clock_hz / baud) if baud > 0 else 0
    if cycles < MIN_CYCLES_PER_BIT:
        raise ValueError(
            f"clock must have {MIN_CYCLES_PER_BIT} cycles or more per bit, not {clock_hz} Hz at"
            f" {baud} bits per second"
        )
    if abs(cycles * baud / clock_hz - 1) > _MAX_ERROR:
        raise ValueError(
            f"bit must be within 1 % of a whole number of cycles, not {clock_hz / baud:g} cycles"
        )
    return cycles
