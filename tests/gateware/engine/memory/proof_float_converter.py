"""What is proven of the converter between float32 and int8: for every number, table and stall.

Each stage of a QUANTIZE holds what `FloatScale` says of the number that is there with it, whatever
its bits are: NaN, infinities and numbers below the smallest normal one are no exceptions. That a
table makes outputs exact is checked where it is made (`kiwicha.program.float_tables`).
"""

import itertools
from typing import Any

from amaranth import Const, Module, Mux, Signal, Value
from amaranth.hdl import Assert

from kiwicha.contract.floats import (
    FLOAT_GUESS,
    FLOAT_INDEX_BITS,
    FLOAT_STEP_BITS,
    FLOAT_TABLE_WORDS,
    FloatScale,
)
from kiwicha.gateware.engine.descriptors import layout_of
from kiwicha.gateware.engine.memory.float_converter import FloatConverter
from tests.support.gateware.proof import Rules, signals_of

__all__ = ["float_converter"]

_FRACTION_BITS = 23
_LARGEST_INDEX = 2**FLOAT_INDEX_BITS - 1
_LAST_GUESS = FLOAT_TABLE_WORDS - 1


def float_converter(dut: FloatConverter) -> Rules:
    """State what each stage of a QUANTIZE holds, from a number's bits to its byte."""
    own = signals_of(dut)

    def rules(m: Module, submodules: Any) -> None:
        (table,) = submodules.memory.read_ports
        scale = layout_of(FloatScale)(own["scale"])
        is_fresh = _fresh(m, own)

        def holds(stage: int, fact: Value) -> None:
            m.d.comb += Assert(~is_fresh[stage] | fact)

        numbers = {stage: own[f"number_s{stage}"] for stage in range(2, 8)}
        holds(2, own["distance_s2"] == _distance(scale, numbers[2]))
        holds(2, own["leading_s2"] == _leading(numbers[2]))
        holds(2, own["sign_s2"] == numbers[2][-1])
        holds(3, own["magnitude"] == _magnitude(scale, numbers[3]))
        holds(3, own["sign_s3"] == numbers[3][-1])
        holds(4, own["index_s4"] == _index(scale, numbers[4]))
        product, total = (Signal(own[name].shape()) for name in ("product_s5", "sum_s6"))
        product_s5 = _later(m, own, product, "own_product_s5")
        start = (scale.zero_point << FLOAT_STEP_BITS) + int(FLOAT_GUESS * 2**FLOAT_STEP_BITS)
        m.d.comb += [
            # A table has no more bits of a step.
            product.eq(own["index_s4"] * scale.step[: FLOAT_STEP_BITS - 1]),
            total.eq(product_s5 + start),
            Assert(own["product_s5"] == product_s5),
            Assert(own["sum_s6"] == _later(m, own, total, "own_sum_s6")),
        ]
        guess = _guess(own["sum_s6"])
        is_store = dut.conversion.is_store
        m.d.comb += Assert(is_store | (table.addr == guess))
        _check_output(m, dut, own, guess, numbers[7], table.data)

    return rules


def _later(m: Module, own: dict[str, Signal], value: Signal, name: str) -> Signal:
    """Return what a value was before the stages moved last."""
    later = Signal(value.shape(), name=name)
    with m.If(own["moves"]):
        m.d.sync += later.eq(value)
    return later


def _fresh(m: Module, own: dict[str, Signal]) -> list[Value]:
    """Return for each stage whether its number came after the present scale."""
    changes, is_later = Signal(name="scale_changes"), Signal(name="is_later")
    earlier_scale = Signal(own["scale"].shape(), name="earlier_scale")
    m.d.sync += [earlier_scale.eq(own["scale"]), is_later.eq(1)]
    m.d.comb += changes.eq(is_later & (own["scale"] != earlier_scale))
    stages: list[Value] = [Const(1), ~changes]
    fresh = [Const(1), *(Signal(name=f"fresh_s{stage}") for stage in range(2, 8))]
    for earlier, later in itertools.pairwise(fresh):
        with m.If(own["moves"]):
            m.d.sync += later.eq(earlier & ~changes if later is not fresh[1] else 1)
        with m.Elif(changes):
            m.d.sync += later.eq(0)
    return [*stages, *(found & ~changes for found in fresh[1:])]


def _distance(scale: Any, number: Value) -> Value:
    """Return how many octaves a number is below the largest ones that matter."""
    return scale.octave - number[_FRACTION_BITS:-1]


def _leading(number: Value) -> Value:
    """Return the leading bits of a number's magnitude; the smallest ones count as normal ones."""
    kept = FLOAT_INDEX_BITS - 1
    return number[_FRACTION_BITS - kept : _FRACTION_BITS] | (1 << kept)


def _magnitude(scale: Any, number: Value) -> Value:
    """Return an index without its sign, as `FloatScale` says."""
    distance = _distance(scale, number)
    below = Mux(distance < FLOAT_INDEX_BITS, distance, FLOAT_INDEX_BITS)[:4]
    return Mux(distance < 0, _LARGEST_INDEX, _leading(number) >> below)


def _index(scale: Any, number: Value) -> Value:
    """Return the index of a number, as `FloatScale` says."""
    magnitude = _magnitude(scale, number)
    return Mux(number[-1], -1 - magnitude, magnitude)


def _guess(total: Value) -> Value:
    """Return a guess, 0 to 255, from its sum with bits behind the point."""
    whole = total >> FLOAT_STEP_BITS
    return Mux(whole < 0, 0, Mux(whole > _LAST_GUESS, _LAST_GUESS, whole))[:8]


def _check_output(
    m: Module,
    dut: FloatConverter,
    own: dict[str, Signal],
    guess: Value,
    number: Signal,
    threshold: Value,
) -> None:
    """State that an output is its guess, or one more if the number is above that threshold."""
    own_guess = Signal(8, name="own_guess")
    m.d.comb += own_guess.eq(guess)
    guess_s7 = _later(m, own, own_guess, "own_guess_s7")
    guess_s8 = _later(m, own, guess_s7, "own_guess_s8")
    ordered = Mux(number[-1], number ^ 0x7FFF_FFFF, number).as_signed()
    is_more = Signal(name="own_is_more")
    m.d.comb += is_more.eq(ordered > threshold.as_signed())
    is_more_s8 = _later(m, own, is_more, "own_is_more_s8")
    output = Signal(8, name="own_output")
    m.d.comb += output.eq(guess_s8 + is_more_s8)
    output_s9 = _later(m, own, output, "own_output_s9")
    data = dut.conversion.data
    word = Signal(32, name="own_word")
    with m.If(own["moves"]):
        # Of the four bytes of a word the last one comes last; an output of 0 is the byte -128.
        m.d.sync += word.eq((output_s9 ^ 0x80) << 24 | word >> 8)
    m.d.comb += [
        Assert(own["guess_s7"] == guess_s7),
        Assert(own["guess_s8"] == guess_s8),
        Assert(own["is_more_s8"] == is_more_s8),
        Assert(own["output_s9"] == output_s9),
        Assert(data == word),
    ]
