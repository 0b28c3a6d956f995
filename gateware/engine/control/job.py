"""Hardware layouts of the engine's descriptors, and of what the walkers issue."""

from amaranth import Shape, signed, unsigned
from amaranth.lib import data

from kiwicha.contract.engine import EngineJob, EngineTransfer
from kiwicha.contract.layout import Struct

__all__ = ["ADDRESS_BITS", "INDEX_BITS", "JOB", "OPERATION", "POSITION", "TRANSFER", "layout_of"]

ADDRESS_BITS = 18
"""Byte address in the largest scratchpad, 256 KiB."""
POSITION = signed(ADDRESS_BITS + 2)
"""Byte address or offset that may lie before the scratchpad or behind it."""
INDEX_BITS = 10
"""Number of a weight word."""

_SHAPES: dict[str, Shape] = {
    "u8": unsigned(8),
    "u16": unsigned(16),
    "u32": unsigned(32),
    "i8": signed(8),
    "i16": signed(16),
    "i32": signed(32),
}


def layout_of(kind: type[Struct]) -> data.StructLayout:
    """Return the layout of a stored structure: bit 8 k is bit 0 of its byte k.

    Raises
    ------
    TypeError
        If a field is an array, a float or a reference.
    """
    members: dict[str, Shape] = {}
    for name, field, _ in kind.layout():
        if field.base not in _SHAPES or field.count != 1:
            raise TypeError(f"{kind.__name__}.{name} must be one integer, not {field}")
        members[name] = _SHAPES[field.base]
    return data.StructLayout(members)


JOB = layout_of(EngineJob)
TRANSFER = layout_of(EngineTransfer)

OPERATION = data.StructLayout({
    "address": ADDRESS_BITS,
    "low": range(17),
    "high": range(17),
    "index": INDEX_BITS,
    "first": 1,
    "shift": 1,
    "last": 1,
    "is_dropped": 1,
})
"""One cycle of work: bytes ``low`` to ``high - 1`` of the 16 at ``address`` are data, the others
count as the zero point; ``index`` is the weight word; ``first``, ``shift`` and ``last`` as in
`MacArray`; a result with ``is_dropped`` is not written."""
