"""Entries of tables, in the words that the weight memories give."""

from collections.abc import Sequence

from amaranth import Cat, Module, Mux, Signal, Value
from amaranth.lib import data

from kiwicha.contract.engine import TABLE_ENTRY_BYTES
from kiwicha.contract.latencies import WEIGHT_READ_CYCLES
from kiwicha.gateware.delay import delayed
from kiwicha.gateware.engine.array.interfaces import LANES

__all__ = ["tabulated_of"]

_INT32_BYTES = 4
_HALF = LANES // 2


def tabulated_of(
    m: Module,
    pair: int,
    words: Sequence[data.View],
    x: Value,
    is_second: Value,
    is_max: Signal,
) -> Value:
    """Return the int32 of a chain pair.

    A word has one entry, or half of one, whose other half is in the word of another lane. With a
    word for each of more pairs than `LANES` it has two, and the lowest bit of ``x`` chooses.

    Parameters
    ----------
    m : Module
        Where registers are.
    pair : int
        Number of the pair.
    words : sequence of View
        Words of weights, and behind them, if there are so many pairs, those of packed weights.
    x : Value
        Input of the pair, with the operation.
    is_second : Value
        The second int32 of the entry; with the words.
    is_max : Signal
        The job is a MAX: its word of zeros is none of packed weights.
    """
    if len(words) == LANES:
        octets = [weight[:8] for lane in (pair, pair + _HALF) for weight in words[lane % LANES]]
        # Both halves of a word of 8 bytes, or words of 4 bytes of two lanes.
        first, second = Cat(octets[:4]), Cat(octets[4:8])
        return Mux(is_second, second, first).as_signed()
    octets = [weight[:8] for weight in words[pair]]
    is_odd = delayed(m, x[0], WEIGHT_READ_CYCLES, f"is_odd_{pair}")
    first, second = (
        Mux(
            is_odd,
            Cat(octets[TABLE_ENTRY_BYTES:][place : place + _INT32_BYTES]),
            Cat(octets[place : place + _INT32_BYTES]),
        )
        for place in (0, _INT32_BYTES)
    )
    entry = Mux(is_second, second, first)
    return (Mux(is_max, 0, entry) if pair >= LANES else entry).as_signed()
