"""Eight requantizers side by side: int32 sums to int8, one beat per cycle or one in two."""

from amaranth import Cat, Const, Module, Mux, Signal, Value, signed
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from kiwicha.contract.engine import SQUARE_BITS, SUM_BITS
from kiwicha.contract.latencies import REQUANTIZER_CYCLES, SQUARE_CYCLES
from kiwicha.contract.short_elements import OPERAND_SHIFT
from kiwicha.gateware.delay import delayed
from kiwicha.gateware.engine.requantize.interfaces import PARAMETERS, RequantizerSignature
from kiwicha.gateware.engine.requantize.tag_queue import TagQueue

__all__ = ["OPERAND_LEFT", "Requantizer"]

# One pass takes a factor of SUM_BITS; the multiplier's parts are 15 and 16 bits wide. With its sign
# a number that is squared is as wide as the lower one.
_LOW_BITS = SQUARE_BITS - 1
# The wide mode's passes: 24 bits without sign, and the 8 above them.
_SPLIT = SUM_BITS - 1
OPERAND_LEFT = OPERAND_SHIFT - (31 - _SPLIT)
"""Bits to the left in a pass for an operand, whose product lacks the others."""


class Requantizer(wiring.Component):
    """Add the bias, scale, add the output's zero point, clamp.

    Equals ``kiwicha.numerics.requantization.requantize`` of ``sum + bias``, which wraps to 32 bits,
    for every multiplier and shift. Narrow beats must have ``(sum + bias) << left`` in 25 signed
    bits (-2**24 to 2**24 - 1); wide ones may have anything. With ``is_square`` it is the square of
    ``sum + bias`` that is scaled, which must have `SQUARE_BITS` signed bits. With ``is_short`` the
    result is an int16: its upper byte is clamped, and the lower one becomes 0 or 255 with it.

    Latency: `REQUANTIZER_CYCLES`, `WIDE_REQUANTIZER_CYCLES` with ``is_wide``, `SQUARE_CYCLES` more
    with ``is_square``. Throughput: a beat per cycle; with ``is_wide`` a beat in two cycles, and
    beats must not be closer. With ``is_square`` a beat in three cycles: beats are three cycles
    apart, or six and more.

    Parameters
    ----------
    lanes : int
        Values per beat, 1 to 16.
    tag_bits : int
        Width of ``tag``, 1 or more.
    has_int16 : bool
        Results can have 16 bits.

    Members
    -------
    See `RequantizerSignature`.

    Raises
    ------
    ValueError
        If a parameter is not such a number.

    Notes
    -----
    Ref: gemmlowp fixedpoint.h. The rounded high product is ``(x * multiplier + 2**30) >> 31``.
    RoundingDivideByPOT of it, by e > 0, is ``(2 * (high - (x < 0)) >> e) + 1 >> 1``: where the
    rounded product of a negative x is 0, both give 0. So both constants are one summand of the
    product, +-2**30, and no stage has more than one adder or one shifter.

    A square is the product of the sum and itself, in a pass before the two of ``is_wide``. It comes
    back to the adder of the first stage, where it takes the place of the bias.

    Beats with ``is_operand`` or ``is_product`` have one pass, and no results. The first is the
    scaled high product of an int16 that is `OPERAND_SHIFT` bits further to the left: what the pass
    leaves in place of the carry of a wide one. The second is that of an int16 and its other factor.
    """

    def __init__(self, *, lanes: int = 8, tag_bits: int = 1, has_int16: bool = False) -> None:
        if not isinstance(lanes, int) or not 1 <= lanes <= 16:
            raise ValueError(f"lanes must be an integer from 1 to 16, not {lanes!r}")
        if not isinstance(tag_bits, int) or tag_bits < 1:
            raise ValueError(f"tag_bits must be a positive integer, not {tag_bits!r}")
        self.lanes = lanes
        self.tag_bits = tag_bits
        self.has_int16 = has_int16
        signature = RequantizerSignature(lanes=lanes, tag_bits=tag_bits, has_int16=has_int16)
        super().__init__(signature.flip())

    def elaborate(self, platform: object) -> Module:
        """Build the controls and the lanes."""
        m = Module()
        beat = self.beats.payload
        valid = Signal(REQUANTIZER_CYCLES)
        # The second pass is one cycle behind the first, whose registers s1 still hold the beat.
        starts_s1 = Signal()
        is_high_s2 = Signal()
        is_high_s5 = delayed(m, is_high_s2, 3, "is_high_s2")
        is_complete_s5 = Mux(self.is_wide, is_high_s5, valid[4])
        # Three passes follow each other like those of one beat, the first one of a later beat.
        is_root_s1 = Signal()
        is_single: Value = self.is_operand | self.is_product if self.has_int16 else Const(0)
        has_square = delayed(m, is_root_s1, SQUARE_CYCLES - 1, "is_root_s1", is_reset=True)
        starts_wide: Value = self.beats.valid & self.is_wide
        if self.has_int16:
            starts_wide &= ~is_single
        starts = Mux(self.is_square, has_square, starts_wide)
        m.d.sync += [
            is_root_s1.eq(self.beats.valid & self.is_square),
            starts_s1.eq(starts),
            valid.eq(Cat(self.beats.valid, valid[:4], is_complete_s5, valid[5:])),
        ]
        is_second_s1 = Signal()
        m.d.sync += [is_second_s1.eq(starts_s1), is_high_s2.eq(is_second_s1)]
        is_whole_s1: Value = is_root_s1 | ~self.is_wide
        rounds_s1: Value = ~(is_root_s1 | is_second_s1)
        if self.has_int16:
            is_single_s1, is_product_s1, is_operand_s1 = Signal(), Signal(), Signal()
            m.d.sync += [
                is_single_s1.eq(is_single),
                is_product_s1.eq(self.is_product),
                is_operand_s1.eq(self.is_operand),
            ]
            is_whole_s1 |= is_single_s1
            rounds_s1 &= ~is_product_s1
            is_operand_s3 = delayed(m, is_operand_s1, 2, "is_operand_s1")
            is_operand_s6 = delayed(m, is_operand_s3, 3, "is_operand_s3")
            is_operand_s7 = delayed(m, is_operand_s6, 1, "is_operand_s6")
        m.submodules.tags = tags = TagQueue(tag_bits=self.tag_bits)
        m.d.comb += [
            tags.put.eq(self.beats.valid & ~is_single if self.has_int16 else self.beats.valid),
            tags.tag.eq(beat.tag),
            tags.take.eq(valid[-2]),
            self.comes.eq(valid[-2]),
            self.results.valid.eq(valid[-1]),
            self.results.payload.tag.eq(tags.taken),
        ]
        for lane in range(self.lanes):
            m.submodules[f"lane_{lane}"] = part = _Lane(has_int16=self.has_int16)
            if self.has_int16:
                m.d.comb += [
                    part.is_short.eq(self.is_short),
                    part.comes.eq(self.comes),
                    self.lowers[lane].eq(part.lower),
                    part.is_product_s1.eq(is_product_s1),
                    part.is_operand_s3.eq(is_operand_s3),
                    part.is_operand_s6.eq(is_operand_s6),
                    part.is_operand_s7.eq(is_operand_s7),
                    # The second operand is next.
                    part.adds_one_s7.eq(self.is_difference & is_operand_s6),
                    part.other.eq(self.others[lane]),
                    self.raised[lane].eq(part.raised),
                    self.products[lane].eq(part.product),
                ]
            m.d.comb += [
                part.is_valid.eq(self.beats.valid),
                part.has_square.eq(has_square),
                part.is_square.eq(self.is_square),
                part.is_root_s1.eq(is_root_s1),
                part.is_whole_s1.eq(is_whole_s1),
                part.rounds_s1.eq(rounds_s1),
                part.is_second_s1.eq(is_second_s1),
                part.is_wide.eq(self.is_wide),
                part.total.eq(beat.sums[lane]),
                part.parameters.eq(beat.parameters[lane]),
                part.zero_point.eq(self.zero_point),
                part.minimum.eq(self.minimum),
                part.maximum.eq(self.maximum),
                self.totals[lane].eq(part.total_s1),
                self.results.payload.values[lane].eq(part.value),
            ]
        return m


class _Lane(wiring.Component):
    """One requantizer; stages as in `Requantizer`, flags of stage 1 one cycle after the beat."""

    def __init__(self, *, has_int16: bool = False) -> None:
        self.has_int16 = has_int16
        short = {
            "is_short": In(1),
            "comes": In(1),
            "lower": Out(8),
            "is_product_s1": In(1),
            "is_operand_s3": In(1),
            "is_operand_s6": In(1),
            "is_operand_s7": In(1),
            "adds_one_s7": In(1),
            "other": In(signed(SQUARE_BITS)),
            "raised": Out(signed(32)),
            "product": Out(signed(32)),
        }
        super().__init__({
            **(short if has_int16 else {}),
            "is_valid": In(1),
            "has_square": In(1),
            "is_square": In(1),
            "is_root_s1": In(1),
            "is_whole_s1": In(1),
            "rounds_s1": In(1),
            "is_second_s1": In(1),
            "is_wide": In(1),
            "total": In(signed(32)),
            "parameters": In(PARAMETERS),
            "zero_point": In(signed(8)),
            "minimum": In(signed(8)),
            "maximum": In(signed(8)),
            "total_s1": Out(signed(32)),
            "value": Out(signed(8)),
        })

    def elaborate(self, platform: object) -> Module:
        """Build nine stages: bias, left shift, four of multiplication, right shift, sum, clamp."""
        m = Module()
        sum_s1 = Signal(signed(32), reset_less=True)
        multiplier_s1 = Signal(31, reset_less=True)
        left_s1 = Signal(5, reset_less=True)
        exponent_s1 = Signal(5, reset_less=True)
        square = Signal(signed(32))
        addend = Mux(self.has_square, square, self.parameters.bias)
        with m.If(self.is_valid | self.has_square):
            m.d.sync += [
                sum_s1.eq(_added(self.total, addend)),
                multiplier_s1.eq(self.parameters.multiplier),
                # Squares are shifted, their roots are not.
                left_s1.eq(Mux(self.is_square & ~self.has_square, 0, self.parameters.left)),
                exponent_s1.eq(self.parameters.right),
            ]
        m.d.comb += self.total_s1.eq(sum_s1)
        high_s6 = self._multiply(m, sum_s1, multiplier_s1, left_s1, exponent_s1.any(), square)
        exponent_s6 = delayed(m, exponent_s1, 5, "exponent_s1")

        floor_s7 = Signal(signed(33), reset_less=True)
        raised_s8 = Signal(signed(32), reset_less=True)
        # Rounding up in the last bit and twice the zero point are one summand. The zero point is
        # raised by 128: without a sign it takes no LUTs in the bits above.
        raised_zero = _other_half(self.zero_point)
        if self.has_int16:
            # Of 16 bits, half of their range instead of half of a byte's.
            raised_zero = Mux(self.is_short, 1 << 15, raised_zero)
            raised_zero = Mux(self.is_operand_s7, self.adds_one_s7, raised_zero)
            m.d.comb += [self.raised.eq(raised_s8), self.product.eq(square)]
        summand = Cat(Const(1, 1), raised_zero)
        m.d.sync += [
            floor_s7.eq(_shifted_right(Cat(Const(0, 1), high_s6), exponent_s6)),
            raised_s8.eq((floor_s7 + summand) >> 1),
        ]
        self._clamp(m, raised_s8)
        return m

    def _multiply(
        self,
        m: Module,
        sum_s1: Signal,
        multiplier_s1: Signal,
        left_s1: Signal,
        divides_s1: Value,
        square: Signal,
    ) -> Signal:
        """Build stages 2 to 6; return the rounded high product, less 1 where it is rounded down.

        And the square of a root, in its stage 4.
        """
        shifted = Signal(signed(32))
        factor_s2 = Signal(signed(SUM_BITS), reset_less=True)
        factor_s3 = Signal(signed(SUM_BITS), reset_less=True)
        low_s2 = Signal(signed(_LOW_BITS + 1), reset_less=True)
        high_s2 = Signal(31 - _LOW_BITS, reset_less=True)
        high_s3 = Signal(31 - _LOW_BITS, reset_less=True)
        # The rounding constant of the first pass: 2**30, or that minus 2**31.
        rounds_s2 = Signal(reset_less=True)
        rounds_s3 = Signal(reset_less=True)
        is_down_s2 = Signal(reset_less=True)
        is_down_s3 = Signal(reset_less=True)
        low_s1: Value = multiplier_s1[:_LOW_BITS]
        if self.has_int16:
            other_s1 = Signal(signed(SQUARE_BITS), reset_less=True)
            m.d.sync += other_s1.eq(self.other)
            low_s1 = Mux(self.is_product_s1, other_s1, low_s1)
        m.d.comb += shifted.eq(_shifted_left(sum_s1, left_s1))
        with m.If(self.is_whole_s1):
            m.d.sync += factor_s2.eq(shifted)
        with m.Elif(self.is_second_s1):
            m.d.sync += factor_s2.eq(shifted[_SPLIT:].as_signed())
        with m.Else():
            m.d.sync += factor_s2.eq(shifted[:_SPLIT])
        m.d.sync += [
            low_s2.eq(Mux(self.is_root_s1, sum_s1[:SQUARE_BITS], low_s1)),
            high_s2.eq(multiplier_s1[_LOW_BITS:]),
            rounds_s2.eq(self.rounds_s1),
            is_down_s2.eq(self.rounds_s1 & shifted[-1] & divides_s1),
            factor_s3.eq(factor_s2),
            high_s3.eq(high_s2),
            rounds_s3.eq(rounds_s2),
            is_down_s3.eq(is_down_s2),
        ]

        constant_s3: Value = Cat(Const(0, 30), rounds_s3, is_down_s3).as_signed()
        if self.has_int16:
            constant_s3 = self._constant(rounds_s3, is_down_s3)
        low_product_s3 = Signal(signed(SUM_BITS + _LOW_BITS), reset_less=True)
        high_product_s4 = Signal(signed(SUM_BITS + 31 - _LOW_BITS), reset_less=True)
        low_s4 = Signal(signed(len(low_product_s3) + 1), reset_less=True)
        high_s5 = Signal(signed(len(high_product_s4) + 1), reset_less=True)
        low_bits_s5 = Signal(_LOW_BITS, reset_less=True)
        m.d.sync += [
            low_product_s3.eq(factor_s2 * low_s2),
            low_s4.eq(low_product_s3 + constant_s3),
            high_product_s4.eq(factor_s3 * high_s3),
            high_s5.eq(high_product_s4 + (low_s4 >> _LOW_BITS)),
            low_bits_s5.eq(low_s4),
        ]
        m.d.comb += square.eq(low_s4)

        # The second pass adds what the first has above 2**24; bits below do not carry.
        carry_s6 = Signal(signed(33))
        with m.If(self.is_wide):
            m.d.sync += carry_s6.eq(high_s5 >> (_SPLIT - _LOW_BITS))
        with m.Else():
            m.d.sync += carry_s6.eq(0)
        product = Signal(signed(39))
        m.d.comb += product.eq(
            Mux(self.is_wide, Cat(low_bits_s5, high_s5), high_s5 >> (_SPLIT - _LOW_BITS))
        )
        high_s6 = Signal(signed(32), reset_less=True)
        m.d.sync += high_s6.eq((carry_s6 + product) >> (31 - _SPLIT))
        if not self.has_int16:
            return high_s6
        either_s6 = Signal(signed(32))
        m.d.comb += either_s6.eq(Mux(self.is_operand_s6, carry_s6, high_s6))
        return either_s6

    def _constant(self, rounds: Value, is_down: Value) -> Value:
        """Return the rounding constant of a pass: of one for an operand 2**7 times as small."""
        is_operand = self.is_operand_s3
        small = 30 - (31 - _SPLIT)
        is_half = Mux(is_operand, is_down, rounds)
        below = Cat(rounds & is_operand, (is_down & is_operand).replicate(30 - small - 1))
        return Cat(Const(0, small), below, is_half, is_down).as_signed()

    def _clamp(self, m: Module, raised_s8: Signal) -> None:
        """Build stage 9: from the result plus 128, of an int16 plus 2**15; it may have wrapped."""
        octet: Value = raised_s8[:8]
        sign = raised_s8[-1]
        is_wrapped = sign & ~raised_s8[7:31].any()
        has_more: Value = raised_s8[8:31].any()
        if self.has_int16:
            octet = Mux(self.is_short, raised_s8[8:16], octet)
            has_upper = raised_s8[16:31].any()
            has_more = has_upper | (~self.is_short & raised_s8[8:16].any())
            is_wrapped = sign & ~has_upper
            is_wrapped &= ~raised_s8[15] & (self.is_short | ~raised_s8[7:15].any())
        low_byte = _other_half(octet).as_signed()
        is_above_int8 = is_wrapped | (~sign & has_more)
        is_below_int8 = sign & ~is_wrapped
        is_above = is_above_int8 | (~is_below_int8 & (low_byte > self.maximum))
        is_below = is_below_int8 | (low_byte < self.minimum)
        value_s9 = Signal(signed(8), reset_less=True)
        m.d.comb += self.value.eq(value_s9)
        with m.If(is_above):
            m.d.sync += value_s9.eq(self.maximum)
        with m.Elif(is_below):
            m.d.sync += value_s9.eq(self.minimum)
        with m.Else():
            m.d.sync += value_s9.eq(low_byte)
        if self.has_int16:
            lower_s9 = Signal(8, reset_less=True)
            m.d.comb += self.lower.eq(lower_s9)
            with m.If(self.comes):
                m.d.sync += lower_s9.eq(Mux(is_above, 0xFF, Mux(is_below, 0, raised_s8[:8])))


def _added(value: Value, addend: Value) -> Value:
    """Return ``value + addend``, in the value's width.

    As a difference, because Yosys puts the operands of a sum into an order of its own: then a
    choice of addend in front of it needs no LUTs besides those of the sum.
    """
    difference = Cat(Const(0, 1), value).as_signed() - Cat(Const(1, 1), ~addend).as_signed()
    return difference[1 : len(value) + 1].as_signed()


def _other_half(octet: Value) -> Value:
    """Return a byte plus 128, modulo 256."""
    return Cat(octet[:-1], ~octet[-1])


def _shifted_left(value: Value, amount: Value) -> Value:
    """Return ``value << amount``, 0 to 31, in the value's width.

    A level of four inputs fills a LUT6; Yosys builds levels of two.
    """
    bits = len(value)
    for low in (0, 2):
        options = [Cat(Const(0, k << low), value)[:bits] for k in range(4)]
        value = _chosen(options, amount[low : low + 2])
    return Mux(amount[4], Cat(Const(0, 16), value)[:bits], value)


def _shifted_right(value: Value, amount: Value) -> Value:
    """Return ``value >> amount``, 0 to 31, filled with the value's uppermost bit."""
    sign = value[-1]
    for low in (0, 2):
        options = [Cat(value[k << low :], (k << low) * [sign]) for k in range(4)]
        value = _chosen(options, amount[low : low + 2])
    return Mux(amount[4], Cat(value[16:], 16 * [sign]), value).as_signed()


def _chosen(options: list[Value], index: Value) -> Value:
    lower, upper = (Mux(index[0], options[k + 1], options[k]) for k in (0, 2))
    return Mux(index[1], upper, lower)
