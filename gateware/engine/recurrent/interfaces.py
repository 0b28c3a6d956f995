"""What passes between the parts that make steps of LSTMs, and when."""

from amaranth import Cat, Mux, Value

from kiwicha.contract.latencies import RECURRENT_UNIT_CYCLES

__all__ = ["PHASES", "PHASE_BITS", "SHORT_BITS", "phase_of", "saturated"]

PHASES = RECURRENT_UNIT_CYCLES
"""Cycles of a unit in each part. All parts count them together, and do the same in a phase for one
unit after the other."""
PHASE_BITS = (PHASES - 1).bit_length()
SHORT_BITS = 16


def phase_of(cycle: int) -> int:
    """Return the phase of a cycle, counted from the first read of a unit."""
    return cycle % PHASES


def saturated(value: Value, bits: int) -> Value:
    """Return a signed number limited to fewer bits."""
    upper, sign = value[bits - 1 :], value[-1]
    fits = upper.all() | ~upper.any()
    kept = Mux(fits, value[: bits - 1], (~sign).replicate(bits - 1))
    return Cat(kept, sign).as_signed()
