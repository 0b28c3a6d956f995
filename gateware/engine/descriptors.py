"""Hardware layouts of the engine's descriptors."""

from amaranth import Shape, signed, unsigned
from amaranth.hdl import ShapeLike
from amaranth.lib import data

from kiwicha.contract.engine import LINE_BYTES, EngineJob, EngineTransfer
from kiwicha.contract.layout import Struct
from kiwicha.contract.moves import EngineMove
from kiwicha.contract.recurrences import EngineRecurrence
from kiwicha.contract.short_elements import EngineShortElements

__all__ = [
    "ADDRESS_BITS",
    "BYTE_BITS",
    "JOB",
    "LINE_BITS",
    "MOVE",
    "RECURRENCE",
    "SHORT_ELEMENTS",
    "TRANSFER",
    "layout_of",
]

ADDRESS_BITS = 18
"""Byte address in the largest scratchpad, 256 KiB."""
BYTE_BITS = (LINE_BYTES - 1).bit_length()
"""Number of a byte within its line of the scratchpad, or its word of DRAM."""
LINE_BITS = ADDRESS_BITS - BYTE_BITS
"""Number of a line of the scratchpad."""

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
        If a field is a float or a reference.
    """
    members: dict[str, ShapeLike] = {}
    for name, field, _ in kind.layout():
        if field.base not in _SHAPES:
            raise TypeError(f"{kind.__name__}.{name} must be of integers, not {field}")
        shape = _SHAPES[field.base]
        members[name] = shape if field.count == 1 else data.ArrayLayout(shape, field.count)
    return data.StructLayout(members)


JOB = layout_of(EngineJob)
MOVE = layout_of(EngineMove)
RECURRENCE = layout_of(EngineRecurrence)
SHORT_ELEMENTS = layout_of(EngineShortElements)
TRANSFER = layout_of(EngineTransfer)
