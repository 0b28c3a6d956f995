"""The reciprocal of a row's sum and its products with exponentials, or the sum's logarithm."""

from amaranth import Cat, Const, Module, Mux, Signal, Value, signed
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from kiwicha.gateware.engine.softmax.interfaces import (
    EXPONENT_BITS,
    EXPONENTIAL_BITS,
    FRACTION_BITS,
    SUM_BITS,
)
from kiwicha.gateware.engine.softmax.logarithm import Logarithm
from kiwicha.gateware.engine.softmax.product import FACTOR_BITS, Product

__all__ = ["Quotients"]

_FIRST = 1515870810
"""48/17 in Q2.29, which with `RECIPROCAL_SLOPE` gives the first estimate."""
_ONE = 1 << 29
_LIMIT = 1 << 30
"""2 in Q2.29: no reciprocal has as much but that of 1/2."""
_LARGEST = 2**32 - 2
"""What it is taken for then, as a factor."""
_OPERATIONS = 7
"""The first estimate, and two for each of three steps."""
_CYCLES = 3
"""Of an operation: two of the product, and one of the sum behind it."""


class Quotients(wiring.Component):
    """The reciprocal of a sum, then exponentials times that reciprocal, by one multiplier.

    The sum is shifted to d in Q0.32, 1/2 to 1. From an estimate x of 1/d, in Q2.29, one step of
    Newton and Raphson gives ``x + x * (1 - d * x)``. Each product is rounded, half up.

    With ``has_logarithm`` the logarithm of the sum instead, whose last product has the place of a
    quotient and stays there: exponentials have no effect.

    Latency: 22 cycles from ``begins`` until an exponential can be taken; 4 cycles from there to its
    quotient; 41 cycles from ``begins`` to the logarithm. Throughput: an exponential per cycle.

    Members
    -------
    has_logarithm : ``In(1)``
        The logarithm is wanted; stable from ``begins`` until it is used.
    begins : ``In(1)``
        ``sum`` is complete; exponentials of the row before are no longer taken.
    sum : ``In(SUM_BITS)``
        Sum of exponentials in Q12.19, 1 or more.
    takes : ``In(1)``
        Take an exponential.
    exponential : ``In(EXPONENTIAL_BITS)``
        In Q0.31.
    quotient : ``Out(32)``
        Its product with 1 / d / 2 in Q0.31, below 1: the exponential by the sum is
        ``2**-exponent`` of it. Or the logarithm in Q6.25.
    exponent : ``Out(EXPONENT_BITS)``
        How many bits the sum has more than 1 has; from 2 cycles after ``begins`` on.

    Notes
    -----
    Ref: gemmlowp fixedpoint.h, one_over_one_plus_x_for_x_in_0_1.
    """

    def __init__(self) -> None:
        super().__init__({
            "has_logarithm": In(1),
            "begins": In(1),
            "sum": In(SUM_BITS),
            "takes": In(1),
            "exponential": In(EXPONENTIAL_BITS),
            "quotient": Out(32),
            "exponent": Out(EXPONENT_BITS),
        })

    def elaborate(self, platform: object) -> Module:
        """Build the operations and the factors that they need."""
        m = Module()
        m.submodules.product = product = Product()
        m.submodules.logarithm = logarithm = Logarithm()
        # Twice the reciprocal in Q0.31 in the end; before, its estimate.
        a = Signal(signed(FACTOR_BITS), reset_less=True)
        b = Signal(signed(FACTOR_BITS), reset_less=True)
        d = Signal(32, reset_less=True)
        m.d.comb += [product.a.eq(a), product.b.eq(b)]
        begins_s1, normalized = self._normalize(m)

        # Operation 0 gives the first estimate, odd ones an error, the others a better estimate.
        operation, turn, is_dividing = Signal(range(_OPERATIONS)), Signal(range(_CYCLES)), Signal()
        is_first, is_error = operation == 0, operation[0] & is_dividing
        addend = Mux(is_error, _ONE, Mux(is_first, _FIRST, a[2:]))
        addend = Mux(is_dividing, addend, logarithm.addend)
        result = self._rounded_sum(m, product, addend, is_error)
        estimate = Mux(is_first, result, Cat(a[:2], result[:29]))
        twice_result = Cat(Const(0, 1), result).as_signed()
        with m.If(is_dividing):
            m.d.sync += turn.eq(turn + 1)
            with m.If(turn == _CYCLES - 1):
                m.d.sync += [turn.eq(0), operation.eq(operation + 1)]
                with m.If(is_error):
                    m.d.sync += b.eq(twice_result)
                with m.Else():
                    m.d.sync += [a.eq(estimate), b.eq(d)]
                with m.If(operation == _OPERATIONS - 1):
                    is_largest = estimate >= _LIMIT
                    m.d.sync += a.eq(Mux(is_largest, _LARGEST, Cat(Const(0, 2), estimate[:30])))
                    m.d.sync += [b.eq(logarithm.b), is_dividing.eq(0), operation.eq(0)]
        with m.If(begins_s1 | logarithm.loads_a):
            m.d.sync += a.eq(logarithm.a)
        with m.If(begins_s1):
            m.d.sync += [b.eq(normalized), d.eq(normalized)]
        with m.Elif(logarithm.loads_b):
            other = Mux(logarithm.takes_d, d, logarithm.b)
            m.d.sync += b.eq(Mux(logarithm.takes_result, twice_result, other))
        with m.If(logarithm.loads_d):
            m.d.sync += d.eq(logarithm.next_d)
        with m.If((begins_s1 & ~self.has_logarithm) | logarithm.divides):
            m.d.sync += is_dividing.eq(1)
        m.d.comb += [
            logarithm.has_logarithm.eq(self.has_logarithm),
            logarithm.begins.eq(begins_s1),
            logarithm.exponent.eq(self.exponent),
            logarithm.d.eq(d),
            logarithm.result.eq(result),
        ]
        with m.If(self.takes & ~self.has_logarithm):
            m.d.sync += b.eq(self.exponential)
        m.d.sync += self.quotient.eq(result)
        return m

    def _normalize(self, m: Module) -> tuple[Signal, Value]:
        """Build the shift of the sum; return when it is there, 1 cycle after ``begins``, and it."""
        begins_s1 = Signal()
        exponent_s1 = Signal(EXPONENT_BITS, reset_less=True)
        leading = Signal(EXPONENT_BITS)
        for more in range(SUM_BITS - FRACTION_BITS):
            with m.If(self.sum[FRACTION_BITS + more]):
                m.d.comb += leading.eq(more)
        m.d.sync += [begins_s1.eq(self.begins), exponent_s1.eq(leading)]
        with m.If(begins_s1):
            m.d.sync += self.exponent.eq(exponent_s1)
        return begins_s1, (Cat(Const(0, 31 - FRACTION_BITS), self.sum) >> exponent_s1)[:32]

    def _rounded_sum(self, m: Module, product: Product, addend: Value, subtracts: Value) -> Signal:
        """Return an addend plus or minus the upper half of the product, rounded half up."""
        high = Signal(33)
        total = Signal(34)
        m.d.comb += [
            high.eq(product.high[:33] ^ subtracts.replicate(33)),
            # In the lowest bits the last bit of the product meets 1: a carry into the sum.
            total.eq(Cat(Const(1, 1), addend[:32]) + high),
        ]
        result = Signal(signed(32))
        m.d.comb += result.eq(total[1:33])
        return result
