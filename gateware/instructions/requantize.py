"""Requantization: int32 accumulators to int8, in TFLite's arithmetic."""

import enum
import itertools

from amaranth import Cat, Const, Module, Mux, Signal, Value, signed, unsigned
from amaranth.lib import data, stream, wiring
from amaranth.lib.wiring import In, Out

from kiwicha.contract.cfu import LANES
from kiwicha.gateware.instructions.mac import validated_multipliers

__all__ = ["REQUANTIZE_COMMAND", "REQUANTIZE_RESULT", "RequantizeKind", "Requantizer"]


class RequantizeKind(enum.IntEnum):
    """What becomes of a result."""

    LANE = 0
    """One of the four int8 of a word."""
    VALUE = 1
    """An int8 that answers an instruction."""
    RESCALE = 2
    """An int32 that answers an instruction: neither zero point nor clamp."""


REQUANTIZE_COMMAND = data.StructLayout({
    "accumulator": signed(32),
    "multiplier": unsigned(31),
    "shift": signed(6),
    "kind": RequantizeKind,
})
"""What to scale by ``multiplier * 2**(shift - 31)``; ``shift`` is -31 to 30."""

REQUANTIZE_RESULT = data.StructLayout({"value": signed(32), "kind": RequantizeKind})

# The 32 x 31 bit product is four products that fit a DSP48E1 (25 x 18 bits, signed).
_LOW_BITS = 24
_MULTIPLIER_LOW_BITS = 17


class Requantizer(wiring.Component):
    """Scale, add the output's zero point, clamp.

    Equals ``kiwicha.numerics.requantization.requantize``, and its
    ``multiply_by_quantized_multiplier`` for `RequantizeKind.RESCALE`, for every int32 accumulator,
    multiplier and shift: the left shift and the sum with the zero point wrap to 32 bits.

    Latency with four multipliers: 5 cycles. Throughput: one value per cycle while ``o.ready``.

    Latency with one multiplier: 9 cycles and one more for each place of the shift, left or right.
    Throughput: one value at a time.

    Parameters
    ----------
    multipliers : int
        1 or 4.

    Members
    -------
    i : ``In(stream.Signature(REQUANTIZE_COMMAND))``
        Values and their scales.
    output_offset : ``In(signed(8))``
        The output's zero point.
    minimum, maximum : ``In(signed(8))``
        The clamp; minimum <= maximum. These three are stable while a value is under way.
    o : ``Out(stream.Signature(REQUANTIZE_RESULT))``
        Results, in the order of ``i``.
    is_idle : ``Out(1)``
        No value is under way.

    Raises
    ------
    ValueError
        If ``multipliers`` is neither.

    Notes
    -----
    Ref: gemmlowp fixedpoint.h, SaturatingRoundingDoublingHighMul: with a multiplier that is not
    negative it never saturates and equals ``(a * b + 2**30) >> 31``. RoundingDivideByPOT rounds
    half away from zero, which is ``(2 * (x - (x < 0)) >> e) + 1 >> 1`` for an exponent e > 0.
    """

    def __init__(self, *, multipliers: int = LANES) -> None:
        self.multipliers = validated_multipliers(multipliers)
        super().__init__({
            "i": In(stream.Signature(REQUANTIZE_COMMAND)),
            "output_offset": In(signed(8)),
            "minimum": In(signed(8)),
            "maximum": In(signed(8)),
            "o": Out(stream.Signature(REQUANTIZE_RESULT)),
            "is_idle": Out(1),
        })

    def elaborate(self, platform: object) -> Module:
        """Build the pipeline, or with one multiplier the sequence of its steps."""
        m = Module()
        if self.multipliers == 1:
            self._elaborate_sequence(m)
        else:
            self._elaborate_pipeline(m)
        return m

    def _elaborate_pipeline(self, m: Module) -> None:
        """Build stages that all advance or all wait."""
        advances = Signal()
        valid = Signal(5)
        kinds = [Signal(RequantizeKind, name=f"kind_s{k}") for k in range(1, 6)]
        m.d.comb += [
            self.o.valid.eq(valid[-1]),
            self.o.payload.kind.eq(kinds[-1]),
            advances.eq(self.o.ready | ~self.o.valid),
            self.i.ready.eq(advances),
            self.is_idle.eq(~valid.any()),
        ]
        with m.If(advances):
            m.d.sync += valid.eq(Cat(self.i.valid, valid))
            for source, target in itertools.pairwise([self.i.payload.kind, *kinds]):
                m.d.sync += target.eq(source)
            exponents = self._delayed_exponent(m)
            high_s3 = self._multiply(m)
            floor_s4 = self._shift_right(m, high_s3, exponents)
            total = Signal(signed(32))
            m.d.comb += total.eq(self._total(floor_s4, kinds[3]))
            m.d.sync += self.o.payload.value.eq(self._clamped(total, kinds[3]))

    def _delayed_exponent(self, m: Module) -> Signal:
        """Return the right shift, 0 to 31, as stage 3 has it."""
        stages = [Signal(5, name=f"exponent_s{k}") for k in range(1, 4)]
        shift = self.i.payload.shift
        m.d.sync += stages[0].eq(Mux(shift < 0, -shift, 0))
        for source, target in itertools.pairwise(stages):
            m.d.sync += target.eq(source)
        return stages[-1]

    def _multiply(self, m: Module) -> Signal:
        """Build stages 1 to 3; return the rounded high half of the doubled product."""
        command = self.i.payload
        factor_s1 = Signal(signed(32))
        multiplier_s1 = Signal(31)
        left = Signal(5)
        m.d.comb += left.eq(Mux(command.shift < 0, 0, command.shift))
        m.d.sync += [
            factor_s1.eq(command.accumulator << left),
            multiplier_s1.eq(command.multiplier),
        ]

        x_low, x_high = factor_s1[:_LOW_BITS], factor_s1[_LOW_BITS:].as_signed()
        m_low, m_high = multiplier_s1[:_MULTIPLIER_LOW_BITS], multiplier_s1[_MULTIPLIER_LOW_BITS:]
        low_low_s2 = Signal(len(x_low) + len(m_low))
        low_high_s2 = Signal(len(x_low) + len(m_high))
        high_low_s2 = Signal(signed(len(x_high) + len(m_low)))
        high_high_s2 = Signal(signed(len(x_high) + len(m_high)))
        m.d.sync += [
            low_low_s2.eq(x_low * m_low),
            low_high_s2.eq(x_low * m_high),
            high_low_s2.eq(x_high * m_low),
            high_high_s2.eq(x_high * m_high),
        ]

        # Bits below 2**17, and below 2**24 after the first sum, cannot carry into bit 31: the other
        # summands are multiples. The rounding constant 2**30 is 2**6 at the weight of 2**24, below
        # the least bit of high_high.
        low = (low_low_s2[_MULTIPLIER_LOW_BITS:] + low_high_s2)[_LOW_BITS - _MULTIPLIER_LOW_BITS :]
        rounding = Const(1 << (30 - _LOW_BITS), _MULTIPLIER_LOW_BITS)
        high = high_low_s2 + Cat(rounding, high_high_s2).as_signed()
        high_s3 = Signal(signed(32))
        m.d.sync += high_s3.eq((low + high) >> (31 - _LOW_BITS))
        return high_s3

    def _shift_right(self, m: Module, high_s3: Signal, exponent_s3: Signal) -> Signal:
        """Build stage 4; return twice the quotient, before rounding and floored."""
        doubled = Signal(signed(34))
        # One bit, read as signed, is 0 or -1.
        minus_away = ((high_s3 < 0) & exponent_s3.any()).as_signed()
        m.d.comb += doubled.eq(Cat(Const(0, 1), high_s3 + minus_away).as_signed())
        floor_s4 = Signal(signed(33))
        m.d.sync += floor_s4.eq(doubled >> exponent_s3)
        return floor_s4

    def _elaborate_sequence(self, m: Module) -> None:
        """Build one register that is shifted left, multiplied and shifted right."""
        command, kind = self.i.payload, self.o.payload.kind
        value = Signal(signed(32))
        shift = Signal(signed(6))
        # Twice the multiplier: the result is the high half of the product.
        multiplier = Signal(32)
        # The last bit that was shifted out, and whether one before it was set.
        half = Signal()
        is_above = Signal()
        step = Signal(range(6))
        total = Signal(signed(36))
        self._sum_products(m, step, value, multiplier, total)
        m.d.comb += self.o.payload.value.eq(self._clamped(value, kind))
        with m.FSM():
            with m.State("IDLE"):
                m.d.comb += [self.is_idle.eq(1), self.i.ready.eq(1)]
                m.d.sync += [
                    value.eq(command.accumulator),
                    shift.eq(command.shift),
                    multiplier.eq(command.multiplier << 1),
                    kind.eq(command.kind),
                    half.eq(0),
                    is_above.eq(0),
                ]
                with m.If(self.i.valid):
                    m.next = "LEFT"
            with m.State("LEFT"):
                with m.If(shift > 0):
                    m.d.sync += [value.eq(value << 1), shift.eq(shift - 1)]
                with m.Else():
                    m.next = "MULTIPLY"
            with m.State("MULTIPLY"):
                m.d.sync += step.eq(step + 1)
                with m.If(step == 5):
                    m.d.sync += [step.eq(0), value.eq(total)]
                    m.next = "RIGHT"
            with m.State("RIGHT"):
                with m.If(shift < 0):
                    m.d.sync += [value.eq(value >> 1), shift.eq(shift + 1)]
                    m.d.sync += [half.eq(value[0]), is_above.eq(is_above | half)]
                with m.Else():
                    # Halves go away from zero.
                    rounds_up = half & (is_above | ~value[-1])
                    m.d.sync += value.eq(self._total(Cat(rounds_up, value).as_signed(), kind))
                    m.next = "DONE"
            with m.State("DONE"):
                m.d.comb += self.o.valid.eq(1)
                with m.If(self.o.ready):
                    m.next = "IDLE"

    @staticmethod
    def _sum_products(
        m: Module, step: Signal, value: Signal, multiplier: Signal, total: Signal
    ) -> None:
        """Build a product of 32 x 32 bits in four steps; ``total`` is its high half in step 5.

        The products of the low halves, of the mixed ones and of the high halves follow each other;
        half a word is dropped before the mixed ones, and before the last.
        """
        half_value = Signal(signed(17))
        half_multiplier = Signal(signed(17))
        addend = Signal(total.shape())
        m.d.sync += [
            half_value.eq(Mux(step[1], value[16:].as_signed(), value[:16])),
            half_multiplier.eq(Mux(step[0], multiplier[16:], multiplier[:16])),
            total.eq(half_value * half_multiplier + addend),
        ]
        with m.Switch(step):
            with m.Case(1):
                m.d.comb += addend.eq(1 << 31)
            with m.Case(3):
                m.d.comb += addend.eq(total)
            with m.Default():
                m.d.comb += addend.eq(total >> 16)

    def _total(self, floor: Value, kind: Value) -> Value:
        """Return twice the quotient, floored, after rounding and with the zero point added."""
        # Rounding up in the last bit and twice the zero point are one summand.
        offset = Mux(kind == RequantizeKind.RESCALE, 0, self.output_offset)
        return (floor + Cat(Const(1, 1), offset).as_signed())[1:33].as_signed()

    def _clamped(self, total: Value, kind: Value) -> Value:
        """Return an int32 as the result of its kind."""
        low_byte = total[:8].as_signed()
        is_above_int8 = ~total[-1] & total[7:31].any()
        is_below_int8 = total[-1] & ~total[7:31].all()
        is_above = is_above_int8 | (~is_below_int8 & (low_byte > self.maximum))
        is_below = is_below_int8 | (low_byte < self.minimum)
        clamped = Mux(is_above, self.maximum, Mux(is_below, self.minimum, low_byte))
        return Mux(kind == RequantizeKind.RESCALE, total, clamped)
