"""Sums with a choice in front of them."""

from amaranth import Cat, Const, Value

__all__ = ["added"]


def added(value: Value, addend: Value) -> Value:
    """Return ``value + addend``, in the value's width.

    As a difference, because Yosys puts the operands of a sum into an order of its own: then a
    choice of addend in front of it needs no LUTs besides those of the sum.
    """
    difference = Cat(Const(0, 1), value).as_signed() - Cat(Const(1, 1), ~addend).as_signed()
    return difference[1 : len(value) + 1].as_signed()
