"""What passes between an address generator, its parts and the data path."""

from amaranth import signed
from amaranth.lib import data, stream, wiring
from amaranth.lib.wiring import In, Out

from kiwicha.contract.engine import CARRIED_LANES
from kiwicha.gateware.engine.descriptors import ADDRESS_BITS, JOB

__all__ = [
    "INDEX_BITS",
    "OPERATION",
    "OUTPUT_ROW",
    "POSITION",
    "ROW_BITS",
    "AddressGeneratorSignature",
]

POSITION = signed(ADDRESS_BITS + 2)
"""Byte address or offset that may lie before the scratchpad or behind it."""
INDEX_BITS = 10
"""Number of a weight word."""
ROW_BITS = 18
"""Number of an input row, signed."""

OPERATION = data.StructLayout({
    "address": ADDRESS_BITS,
    "low": range(17),
    "high": range(17),
    "carried": range(CARRIED_LANES + 1),
    "index": INDEX_BITS,
    "first": 1,
    "shift": 1,
    "last": 1,
    "is_dropped": 1,
    "ends_row": 1,
    "is_upper": 1,
})
"""One cycle of work: bytes ``low`` to ``high - 1`` of the 16 at ``address`` are data, the others
count as the zero point; in place of the first ``carried`` ones come those from byte 8 on of
the operation before it; ``index`` is the weight word; ``first``, ``shift`` and ``last`` as in
`MacArray`; a result with ``is_dropped`` is not written; ``ends_row`` on the last operation of an
output row of a window; with ``is_upper`` the bytes are the upper 8 of those that the operation
before it reads, which nothing else has to read."""

OUTPUT_ROW = data.StructLayout({
    "address": POSITION,
    "row": signed(ROW_BITS),
    "kernel_row": 8,
    "index": INDEX_BITS,
    "is_last": 1,
})
"""An output row's first kernel row inside the input: scratchpad address of its column 0, input row,
kernel row, the words that the kernel rows above it have; ``is_last`` on the last output row."""


class AddressGeneratorSignature(wiring.Signature):
    """Interface of an address generator, as the data path sees it.

    Members
    -------
    job : ``Out(JOB)``
        Stable from ``start`` to ``done`` of the last group.
    all_kernel_rows : ``Out(1)``
        CONV, MAX: no kernel row is skipped, those outside the input neither; stable like ``job``.
    is_first_group : ``Out(1)``
        The group is the job's first one; with ``start``.
    unit_rows_done : ``Out(16)``
        CONV: rows that the depthwise unit has written, for which those of the first group wait;
        without a unit 0, and no job waits.
    yields, pauses : ``Out(1)``
        No operation that ends a result is issued; none is.
    group_offset : ``Out(16)``
        First channel of the group, 0 for CONV; with ``start``.
    start : ``Out(1)``
        Begin with a group; only with ``is_free``.
    is_free : ``In(1)``
        The next group can be begun: the last output row of a group is under way, or none.
    operations : ``In(stream.Signature(OPERATION, always_ready=True))``
        Operations in order.
    is_held : ``In(1)``
        An operation is held back so that results are ``interval`` cycles apart.
    done : ``In(1)``
        High in the cycle of a group's last operation.
    """

    def __init__(self) -> None:
        super().__init__({
            "job": Out(JOB),
            "all_kernel_rows": Out(1),
            "is_first_group": Out(1),
            "unit_rows_done": Out(16),
            "yields": Out(1),
            "pauses": Out(1),
            "group_offset": Out(16),
            "start": Out(1),
            "is_free": In(1),
            "operations": In(stream.Signature(OPERATION, always_ready=True)),
            "is_held": In(1),
            "done": In(1),
        })
