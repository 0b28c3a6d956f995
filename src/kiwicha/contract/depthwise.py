"""The depthwise unit's part of the contract: sizes of its buffers and its passes."""

from kiwicha.contract.engine import DEEP_MACS, has_packed

__all__ = [
    "LINE_COLUMNS",
    "LINE_SLOTS",
    "MAX_PASS_COLUMNS",
    "MAX_UNIT_KERNEL",
    "PAIR_CHANNELS",
    "PARAMETER_PLACES",
    "PASS_BEATS",
    "PASS_PLACES",
    "ROW_SUMS",
    "UNIT_CHANNELS",
    "UNIT_MACS",
    "UNIT_TAPS",
    "fabric_chains_of",
    "has_own_reads",
    "has_own_results",
    "pass_columns",
    "passes_of",
]

UNIT_CHANNELS = 8
"""Channels of a group: what the unit computes side by side."""
PAIR_CHANNELS = 2 * UNIT_CHANNELS
"""Channels of two groups, whose input comes together."""
UNIT_TAPS = 3
"""Rows, and columns, of the kernel that a pass covers."""
UNIT_MACS = (64, 128, 256)
"""Products per cycle of the arrays beside which there can be a unit: their requantizers have as
many lanes as it has channels, or more."""
LINE_SLOTS = 8
"""Input rows that the unit holds."""
LINE_COLUMNS = 256
"""Columns of such a row, at most; and of an output row."""
MAX_PASS_COLUMNS = 1023
"""Columns of a pass, at most."""
ROW_SUMS = 512
"""Pixels of 8 sums that the unit holds until they are taken, a power of two."""
MAX_UNIT_KERNEL = LINE_SLOTS - 1
"""Rows of a kernel, at most, so that a row can come while others are read; columns likewise."""
PASS_PLACES = 64
"""Passes of groups whose weights the unit holds."""
PARAMETER_PLACES = 60
"""Groups whose parameters it holds."""
PASS_BEATS = 5
"""Beats of 16 bytes of a pass in a weight stream: 9 words of 8 channels, and one that is 0."""


def fabric_chains_of(macs: int) -> int:
    """Return how many of the unit's `UNIT_CHANNELS` channels have multipliers from LUTs.

    The array with `DEEP_MACS` leaves multipliers of an A7-100T for half of them.

    Parameters
    ----------
    macs : int
        One of `UNIT_MACS`: products per cycle of the array.
    """
    return UNIT_CHANNELS // 2 if macs == DEEP_MACS else 0


def has_own_reads(macs: int) -> bool:
    """Return whether the unit beside an array has a port of the scratchpad of its own.

    Packed convolutions with `DEEP_MACS` take all bytes of each read, and leave none for it. With
    half as many products one that reads two rows of 8 bytes still takes each second read.

    Parameters
    ----------
    macs : int
        One of `UNIT_MACS`.
    """
    return has_packed(macs)


def has_own_results(macs: int) -> bool:
    """Return whether the unit has a requantizer of its own.

    Two beats of a packed result, of 8 bytes each, fill a line. They are written at once, and the
    unit writes in the cycles that this leaves. With `DEEP_MACS` each result is such a line already.

    Parameters
    ----------
    macs : int
        One of `UNIT_MACS`.
    """
    return has_packed(macs) and macs != DEEP_MACS


def passes_of(kernel_rows: int, kernel_columns: int) -> tuple[int, int]:
    """Return how many passes a kernel needs for its rows, and for its columns.

    Parameters
    ----------
    kernel_rows, kernel_columns : int
        Size of the kernel, 1 or more.
    """
    return -(-kernel_rows // UNIT_TAPS), -(-kernel_columns // UNIT_TAPS)


def pass_columns(output_columns: int, stride_columns: int) -> int:
    """Return the columns of a pass over a row: sums of the same output are 4 cycles apart.

    Parameters
    ----------
    output_columns, stride_columns : int
        1 or more.
    """
    return max((output_columns - 1) * stride_columns + UNIT_TAPS, UNIT_TAPS + 1)
