"""The logarithm of a row's sum: operands of its products."""

from amaranth import Cat, Const, Module, Mux, Signal, Value, signed
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from kiwicha.gateware.engine.softmax.interfaces import EXPONENT_BITS, RECIPROCAL_SLOPE
from kiwicha.gateware.engine.softmax.product import FACTOR_BITS

__all__ = ["Logarithm"]

_LOG_2 = 1488522236
"""Logarithm of 2 in Q0.31, like the constants below."""
_ROOT_HALF = 1518500250
"""2**(-1/2)."""
_QUARTER_ROOT = 1805811301
"""2**(-1/4): the middle of r."""
_CUBE = 117049297
"""11/240 2**(1/4)."""
_SQUARE = 127690142
"""1/20 2**(1/4)."""
_CONSTANT = 1057819769
"""2 / 2**(1/4) - 2**(1/4)."""
_LINEAR = 638450708
"""1/4 2**(1/4)."""

_SHIFT = 6
"""By which the numerator is divided: a logarithm is in Q5.26, a fraction in Q0.31."""
_QUARTERS_PLACE = 24
"""Of the bit that is a quarter, in twice a number of Q5.26."""
_NUMBER = 10
"""Fewest bits that a sum has more than 1 has, of those whose rounding decides nothing."""

# Steps of a cycle. Operands that are taken in one have their result three steps later: it is taken
# as the next operand, added to, or kept. The first operands are taken before step 2.
_REDUCED, _REDUCE = 4, 5
"""The sum by the root of 2 comes, and replaces the sum where it has a bit less."""
_Q_BY_Q, _Q_BY_LINEAR, _Q_BY_R, _SQUARE_BY_CONSTANT, _SQUARE_BY_Q = 6, 7, 8, 9, 10
_QUARTERS_BY_LOG_2, _SUM_BY_MEAN, _CUBE_BY_CONSTANT = 11, 12, 13
"""What is multiplied; two products with the square are taken one behind the other."""
_DENOMINATOR, _NUMERATOR = _SUM_BY_MEAN + 3, _CUBE_BY_CONSTANT + 3
"""They come; with the second one the division begins."""
_KEPT = (
    *(_REDUCED, _Q_BY_LINEAR + 3, _Q_BY_R + 3, _QUARTERS_BY_LOG_2 + 3),
    *(_DENOMINATOR, _NUMERATOR),
)
"""Of which steps the results are kept."""


class Logarithm(wiring.Component):
    """Operands of the products that give the logarithm of a row's sum, as TFLite computes it.

    The sum, d in Q0.32 and a power of two, becomes ``r * 2**(quarters / 4)`` with r of 2**(-1/2) to
    1. Its logarithm is that of the power and a quotient of two polynomials of q, the distance of r
    from 2**(-1/4). The products and the division are left to `Quotients`.

    Latency: 15 cycles from ``begins`` to ``divides``; what is held and ``b`` stay then. Throughput:
    a logarithm at a time.

    Members
    -------
    has_logarithm : ``In(1)``
        There is one to be computed; stable from ``begins`` until the logarithm is used.
    begins : ``In(1)``
        ``d`` is replaced by the sum.
    exponent : ``In(EXPONENT_BITS)``
        How many bits the sum has more than 1 has; from 1 cycle after ``begins`` on.
    d : ``In(32)``
        A number in Q0.32, 1/2 to 1, from 1 cycle after ``begins`` on.
    result : ``In(signed(32))``
        ``addend`` and ``a * b / 2**32``, rounded, of the operands of 2 cycles ago.
    loads_a : ``Out(1)``
    a : ``Out(signed(FACTOR_BITS))``
        The next first operand, also with ``begins``; without a logarithm the division's.
    loads_b : ``Out(1)``
    takes_result : ``Out(1)``
        The next second operand is twice the result, ...
    takes_d : ``Out(1)``
        ... or ``d``, or ...
    b : ``Out(signed(FACTOR_BITS))``
        ... this.
    addend : ``Out(32)``
        What is added to the product that comes out.
    loads_d : ``Out(1)``
    next_d : ``Out(32)``
        Replaces ``d``.
    divides : ``Out(1)``
        ``d`` is what is divided by; the last second operand is ``b``.

    Notes
    -----
    Ref: `kiwicha.numerics.logarithm.natural_logarithm`.
    """

    def __init__(self) -> None:
        super().__init__({
            "has_logarithm": In(1),
            "begins": In(1),
            "exponent": In(EXPONENT_BITS),
            "d": In(32),
            "result": In(signed(32)),
            "loads_a": Out(1),
            "a": Out(signed(FACTOR_BITS)),
            "loads_b": Out(1),
            "takes_result": Out(1),
            "takes_d": Out(1),
            "b": Out(signed(FACTOR_BITS)),
            "addend": Out(32),
            "loads_d": Out(1),
            "next_d": Out(32),
            "divides": Out(1),
        })

    def elaborate(self, platform: object) -> Module:
        """Build the steps, and what each of them takes."""
        m = Module()
        step = Signal(range(_NUMERATOR + 1))
        is_stepping = step.any()
        with m.If(self.begins & self.has_logarithm):
            m.d.sync += step.eq(2)
        with m.Elif(step == _NUMERATOR):
            m.d.sync += step.eq(0)
        with m.Elif(is_stepping):
            m.d.sync += step.eq(step + 1)

        # In the order of results: the last one is held until the next row begins.
        kept = [Signal(signed(32), name=f"kept_{k}", reset_less=True) for k in range(3)]
        keeps = Cat(step == k for k in _KEPT).any()
        with m.If(keeps):
            m.d.sync += [kept[0].eq(self.result), kept[1].eq(kept[0]), kept[2].eq(kept[1])]

        is_reduced = Signal(reset_less=True)
        with m.If(step == _REDUCE):
            m.d.sync += is_reduced.eq(self._is_reduced(kept[0]))
        is_denominator = step == _DENOMINATOR
        m.d.comb += [
            self.loads_d.eq(((step == _REDUCE) & self._is_reduced(kept[0])) | is_denominator),
            self.next_d.eq(
                Mux(
                    is_denominator,
                    Cat(Const(0, 1), self.result[1:31], Const(1, 1)),
                    Cat(Const(0, 2), kept[0][:30]),
                )
            ),
            self.divides.eq(step == _NUMERATOR),
        ]
        near = self._near(m, step)
        self._choose_factors(m, step, near, kept[0], is_reduced)
        self._choose_addend(m, step, near, kept[2])
        return m

    def _is_reduced(self, product: Signal) -> Value:
        """Return whether the sum by the root of 2 has a bit less than the sum, if it is rounded.

        The product is that of d / 2. It is large as well if ones of all its bits but those behind
        the sum's last one would be rounded up.
        """
        ones = Cat(
            product[bit] | (self.exponent < _NUMBER - bit if bit < _NUMBER else 0)
            for bit in range(30)
        )
        return ~product[30] & ((self.exponent >= _NUMBER) | ~ones.all())

    def _near(self, m: Module, step: Signal) -> Signal:
        """Build d and one of three numbers: q, q + `_CONSTANT`, and 4 times the mean."""
        near = Signal(signed(34))
        number = Signal(signed(34))
        m.d.comb += [number.eq(-2 * _QUARTER_ROOT), near.eq(self.d + number)]
        with m.If(step == _SUM_BY_MEAN - 1):
            m.d.comb += number.eq(_CONSTANT - 2 * _QUARTER_ROOT)
        with m.Elif(step == _SUM_BY_MEAN):
            m.d.comb += number.eq(2 * _QUARTER_ROOT + 2)
        return near

    def _choose_factors(
        self, m: Module, step: Signal, near: Signal, numerator: Signal, is_reduced: Signal
    ) -> None:
        """Build what each step takes."""
        m.d.comb += self.a.eq(Mux(self.has_logarithm, _ROOT_HALF, RECIPROCAL_SLOPE))
        constants = {
            _Q_BY_LINEAR: _LINEAR,
            _SQUARE_BY_CONSTANT: _SQUARE,
            _QUARTERS_BY_LOG_2: _LOG_2,
            _CUBE_BY_CONSTANT: _CUBE,
            _NUMERATOR: RECIPROCAL_SLOPE,
        }
        with m.Switch(step):
            for number, constant in constants.items():
                with m.Case(number):
                    m.d.comb += self.a.eq(constant)
            with m.Case(_SUM_BY_MEAN):
                m.d.comb += self.a.eq(near >> 2)
            with m.Case(_Q_BY_Q, _Q_BY_R, _SQUARE_BY_Q):
                m.d.comb += self.a.eq(near)

        # Ties away from zero.
        half = Mux(numerator[-1], (1 << _SHIFT - 1) - 1, 1 << _SHIFT - 1)
        divided = Signal(signed(32 - _SHIFT))
        quarters = Cat(Const(1, 1), ~is_reduced, self.exponent)
        m.d.comb += [
            divided.eq((numerator + half) >> _SHIFT),
            self.b.eq(divided),
            self.loads_a.eq(step.any()),
            self.loads_b.eq(step.any() & (step != _Q_BY_LINEAR) & (step != _SQUARE_BY_Q)),
            self.takes_d.eq((step == _Q_BY_R) | (step == _NUMERATOR)),
            self.takes_result.eq(
                (step == _SQUARE_BY_CONSTANT) | (step == _SUM_BY_MEAN) | (step == _CUBE_BY_CONSTANT)
            ),
        ]
        with m.If(step == _Q_BY_Q):
            m.d.comb += self.b.eq(Cat(Const(0, 1), near[: FACTOR_BITS - 1]).as_signed())
        with m.Elif(step == _QUARTERS_BY_LOG_2):
            m.d.comb += self.b.eq(quarters << _QUARTERS_PLACE)

    def _choose_addend(self, m: Module, step: Signal, near: Signal, held: Signal) -> None:
        """Build what is added to a product, and the registers that choose it."""
        near_s1 = Signal(32, reset_less=True)
        adds_near, adds_held = Signal(), Signal()
        m.d.sync += [
            near_s1.eq(near),
            adds_near.eq(step == _SUM_BY_MEAN - 1),
            adds_held.eq(
                self.has_logarithm
                & (~step.any() | (step == _DENOMINATOR - 1) | (step == _NUMERATOR - 1))
            ),
        ]
        m.d.comb += self.addend.eq(Mux(adds_near, near_s1, Mux(adds_held, held, 0)))
