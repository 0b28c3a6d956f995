"""A shifter that takes few LUT."""

from amaranth import Module, Signal, Value

__all__ = ["shifted"]


def shifted(m: Module, value: Value, offset: Value, bits: int, unit: int = 1) -> Value:
    """Return so many bits of a value from an offset on, by multiplexers of four.

    A plain shift becomes multiplexers of two: a third more LUT. Bits are any where not all that an
    offset with any two low bits would reach are there.

    Parameters
    ----------
    m : Module
        Gets the multiplexers.
    value : Value
        What is shifted.
    offset : Value
        Where the bits begin, in units.
    bits : int
        How many are returned.
    unit : int
        Bits of a unit.
    """
    end = len(offset)
    while end > 0:
        start = max(end - 2, 0)
        width = bits + unit * ((1 << start) - 1)
        stage = Signal(width, name=f"shifted_{bits}_{start}")
        with m.Switch(offset[start:end]):
            for number in range(1 << end - start):
                first = min(unit * (number << start), max(len(value) - width, 0))
                with m.Case(number):
                    m.d.comb += stage.eq(value[first : first + width])
        value, end = stage, start
    return value
