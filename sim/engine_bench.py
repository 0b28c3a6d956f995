"""What the benches of the engine's components share."""

from collections.abc import Sequence
from typing import Any

from amaranth import Signal, Value
from amaranth.back import verilog

__all__ = ["component_verilog", "pack", "signed_fields", "unpack"]


def component_verilog(component: Any, top: str) -> str:
    """Return the Verilog of a component whose streams may be always ready.

    Nested members are joined by ``__``. The constant ``ready`` is no port.
    """
    ports = [
        Value.cast(value)
        for _, _, value in component.signature.flatten(component)
        if isinstance(Value.cast(value), Signal)
    ]
    text = verilog.convert(
        component, name=top, ports=ports, emit_src=False, strip_internal_attrs=True
    )
    return str(text)


def pack(values: Sequence[int], bits: int) -> int:
    """Return fields of a word, the first in the least significant bits."""
    mask = (1 << bits) - 1
    word = 0
    for value in reversed(values):
        word = word << bits | (int(value) & mask)
    return word


def unpack(word: int, bits: int, count: int) -> list[int]:
    """Return the unsigned fields of a word."""
    return [word >> bits * k & ((1 << bits) - 1) for k in range(count)]


def signed_fields(word: int, bits: int, count: int) -> list[int]:
    """Return the signed fields of a word."""
    half = 1 << (bits - 1)
    return [(field ^ half) - half for field in unpack(word, bits, count)]
