"""Values of earlier cycles."""

from typing import Any

from amaranth import Module, Signal

__all__ = ["delayed"]


def delayed(m: Module, value: Any, cycles: int, name: str, *, is_reset: bool = False) -> Any:
    """Return ``value`` as it was some cycles ago; without a reset it can be a shift register.

    Parameters
    ----------
    m : Module
        Where the registers are.
    value : Value
        What is delayed.
    cycles : int
        By how many cycles, 0 or more.
    name : str
        Of the registers, with ``_s1`` for the first.
    is_reset : bool
        The registers are reset to 0.
    """
    for stage in range(1, cycles + 1):
        following = Signal(value.shape(), name=f"{name}_s{stage}", reset_less=not is_reset)
        m.d.sync += following.eq(value)
        value = following
    return value
