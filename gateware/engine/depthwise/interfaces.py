"""What passes between the parts of the depthwise unit."""

from amaranth import Value, signed
from amaranth.lib import data, wiring
from amaranth.lib.wiring import In, Out

from kiwicha.contract.depthwise import (
    LINE_COLUMNS,
    LINE_SLOTS,
    PARAMETER_PLACES,
    PASS_PLACES,
    ROW_SUMS,
    UNIT_CHANNELS,
    UNIT_TAPS,
)
from kiwicha.gateware.engine.array.interfaces import OPERAND_BITS
from kiwicha.gateware.engine.weights.interfaces import UNIT_PARAMETERS

__all__ = [
    "COLUMN",
    "COLUMN_BITS",
    "LINE_NUMBER_BITS",
    "PARAMETER_BITS",
    "PASS_BITS",
    "PLACE_BITS",
    "SLOT_BITS",
    "TAP_WORD",
    "UnitFillSignature",
    "is_dense",
]

SLOT_BITS = (LINE_SLOTS - 1).bit_length()
"""Number of a line's place in the buffer."""
LINE_NUMBER_BITS = 16
"""Number of a line, counted through all groups of a job; it wraps."""
COLUMN_BITS = (LINE_COLUMNS - 1).bit_length()
"""Number of a column of a line."""
PASS_BITS = (PASS_PLACES - 1).bit_length()
"""Place of a pass's weights."""
PARAMETER_BITS = (PARAMETER_PLACES - 1).bit_length()
"""Place of a group's parameters."""

PLACE_BITS = (ROW_SUMS - 1).bit_length()
"""Where the sums of a pixel are held."""

COLUMN = data.StructLayout({
    "slot": SLOT_BITS,
    "is_second": 1,
    "rows": UNIT_TAPS,
    "column": COLUMN_BITS,
    "weights": PASS_BITS,
    "is_result": 1,
    "place": PLACE_BITS,
    "is_first": 1,
    "ends_row": 1,
})
"""A column on its way through the chains.

``slot`` is that of the pass's first kernel row, ``is_second`` tells which group of the pair it is
for, ``rows`` tells which of its kernel rows are data
there, ``column`` is its place in the line, ``weights`` is the place of the pass's. With
``is_result`` it ends a window, whose sum is kept at ``place``; ``is_first`` tells that nothing is
there before. ``ends_row`` is on the last column of a row's last pass."""

TAP_WORD = data.ArrayLayout(signed(OPERAND_BITS), UNIT_CHANNELS)
"""A weight of each channel."""


def is_dense(job: data.View) -> Value:
    """Return whether a read has two pixels of a job, whose only group lies without gaps."""
    return (job.groups == 1) & (job.column_step == UNIT_CHANNELS)


class UnitFillSignature(wiring.Signature):
    """Fills of the unit's memories, as their source sees them.

    Members
    -------
    command : ``Out(1)``
        A fill of ``passes`` passes is to begin; it does with ``ready``.
    passes : ``Out(range(PASS_PLACES + 1))``
        1 or more.
    ready : ``In(1)``
        There is room for it, and no other one is under way. Combinational.
    is_idle : ``In(1)``
        None is under way.
    beat : ``Out(1)``
        A beat is there.
    takes : ``In(1)``
        It is taken.
    words : ``Out(ArrayLayout(TAP_WORD, 2))``
        The weights of the beat that was taken two cycles ago.
    parameters : ``In(UNIT_PARAMETERS)``
        What the beat is, if it is one of parameters.
    """

    def __init__(self) -> None:
        super().__init__({
            "command": Out(1),
            "passes": Out(range(PASS_PLACES + 1)),
            "ready": In(1),
            "is_idle": In(1),
            "beat": Out(1),
            "takes": In(1),
            "words": Out(data.ArrayLayout(TAP_WORD, 2)),
            "parameters": In(UNIT_PARAMETERS),
        })
