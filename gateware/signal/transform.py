"""Fourier transforms of real samples, stage by stage."""

from amaranth import Array, Cat, Const, Module, Mux, Signal, Value, signed
from amaranth.lib import data, wiring
from amaranth.lib.memory import Memory
from amaranth.lib.wiring import In, Out

from kiwicha.contract.signal import transform_roots
from kiwicha.gateware.signal.interfaces import (
    CIRCLE_BITS,
    FACTORS,
    NUMBER,
    PLACE_BITS,
    PRODUCTS,
)
from kiwicha.gateware.signal.places import HALF_BITS, leg_place

__all__ = ["Transform"]

LEGS = 4
"""Cycles of a butterfly: numbers that it reads, one in a cycle, and writes."""
_DELAY = 10
"""From the first read of a butterfly to its first write."""
_TIME_BITS = PLACE_BITS + 3
"""Of a cycle of a stage; the highest bit is that of the sign."""
_FRACTION_BITS = 15

# What a leg passes, in cycles from its read.
_DIVIDED, _FACTOR, _TURNED, _LAST = 3, 3, 5, 6


class Transform(wiring.Component):
    """Turn points to a spectrum, in place.

    Each stage reads a number per cycle and writes one `_DELAY` cycles later. A butterfly of two
    takes as long as one of four, as one whose second and fourth numbers are 0. At last the spectrum
    of real numbers is made from that of half as many complex ones, two numbers at a time, in the
    cycles of a butterfly too.

    Latency: for 2**n points ``stages * (points + 10) + 2 * points + 14`` cycles, where one of two
    counts twice its points.

    Members
    -------
    start : ``In(1)``
        Begin; the points are in their first places.
    half_bits : ``In(HALF_BITS)``
        Bits of the count of points; stable while it runs.
    scale : ``In(5)``
        By how many bits points are shifted up first; likewise.
    is_running : ``Out(1)``
        From the cycle after ``start`` to that of the last write.
    read_place : ``Out(PLACE_BITS)``
    number : ``In(NUMBER)``
        What is there, a cycle later.
    write_enable : ``Out(1)``
    write_place : ``Out(PLACE_BITS)``
    write_number : ``Out(NUMBER)``
        Writes.
    left, right : ``Out(FACTORS)``
    products : ``In(PRODUCTS)``
        Products of these, 2 cycles later.
    last : ``Out(signed(16))``
        The number at the highest frequency, which is real and has no place; stays.

    Notes
    -----
    Ref: `kiwicha.numerics.fourier.real_transform`.
    """

    def __init__(self) -> None:
        super().__init__({
            "start": In(1),
            "half_bits": In(HALF_BITS),
            "scale": In(5),
            "is_running": Out(1),
            "read_place": Out(PLACE_BITS),
            "number": In(NUMBER),
            "write_enable": Out(1),
            "write_place": Out(PLACE_BITS),
            "write_number": Out(NUMBER),
            "left": Out(FACTORS),
            "right": Out(FACTORS),
            "products": In(PRODUCTS),
            "last": Out(signed(16)),
        })

    def elaborate(self, platform: object) -> Module:
        """Build the count of cycles and stages, and the way of a number."""
        m = Module()
        # One more than the cycle of the stage would be without the others: reads and writes.
        read_time = Signal(_TIME_BITS)
        write_time = Signal(_TIME_BITS)
        length_bits = Signal(range(PLACE_BITS + 2))
        is_pair, is_split, is_first = Signal(), Signal(), Signal()
        self._count(m, read_time, write_time, length_bits, is_pair, is_split, is_first)

        mask = Signal(PLACE_BITS)
        m.d.comb += mask.eq((1 << self.half_bits) - 1)
        read_butterfly, read_leg = read_time[2:-1], read_time[:2]
        write_butterfly, write_leg = write_time[2:-1], write_time[:2]
        m.d.comb += [
            self.read_place.eq(
                self._place(read_butterfly, read_leg, read_leg[1], length_bits, is_pair, is_split)
                & mask
            ),
            self.write_place.eq(
                self._place(
                    write_butterfly, write_leg, write_leg[0], length_bits, is_pair, is_split
                )
                & mask
            ),
        ]
        divided = self._divide(m, read_leg, is_pair, is_split, is_first)
        turned, even = self._turn(m, read_time, divided, length_bits, is_pair, is_split)
        self._combine(m, read_time, write_time, divided, turned, even, is_pair, is_split)
        return m

    def _count(
        self,
        m: Module,
        read_time: Signal,
        write_time: Signal,
        length_bits: Signal,
        is_pair: Signal,
        is_split: Signal,
        is_first: Signal,
    ) -> None:
        """Build the count of cycles, and what comes behind each stage."""
        half = Signal(PLACE_BITS + 1)
        butterflies = Signal(PLACE_BITS)
        m.d.comb += [
            half.eq(1 << self.half_bits),
            butterflies.eq(Mux(is_split, (half >> 1) + 1, Mux(is_pair, half >> 1, half >> 2))),
        ]
        is_end = Signal()
        m.d.comb += is_end.eq(write_time == Cat(Const(LEGS - 1, 2), (butterflies - 1)[:PLACE_BITS]))
        begins = Signal()
        m.d.comb += begins.eq(self.start | (self.is_running & is_end))
        with m.If(begins):
            m.d.sync += [read_time.eq(0), write_time.eq(-_DELAY)]
        with m.Else():
            m.d.sync += [read_time.eq(read_time + 1), write_time.eq(write_time + 1)]
        with m.If(self.start):
            m.d.sync += [
                self.is_running.eq(1),
                is_first.eq(1),
                is_split.eq(0),
                is_pair.eq(self.half_bits[0]),
                length_bits.eq(0),
            ]
        with m.Elif(begins):
            after = Signal.like(length_bits)
            m.d.comb += after.eq(length_bits + Mux(is_pair, 1, 2))
            m.d.sync += [
                is_first.eq(0),
                is_pair.eq(0),
                length_bits.eq(after),
                is_split.eq(after == self.half_bits),
                self.is_running.eq(~is_split),
            ]

    @staticmethod
    def _place(
        butterfly: Value,
        leg: Value,
        other: Value,
        length_bits: Signal,
        is_pair: Signal,
        is_split: Signal,
    ) -> Value:
        """Return the place of a leg; ``other`` tells the second number of a pair."""
        mirrored = Mux(leg[0], -butterfly, butterfly)
        pair = Cat(other, butterfly)
        whole = leg_place(butterfly[: PLACE_BITS - 2], leg, length_bits)
        return Mux(is_split, mirrored[:PLACE_BITS], Mux(is_pair, pair[:PLACE_BITS], whole))

    def _divide(
        self, m: Module, read_leg: Value, is_pair: Signal, is_split: Signal, is_first: Signal
    ) -> data.View:
        """Build what divides a number that was read, `_DIVIDED` cycles after its read."""
        number = Signal(NUMBER, reset_less=True)
        divided = Signal(NUMBER, reset_less=True)
        # A cycle after a read the leg is the next one.
        is_mirrored = is_split & (read_leg == 2)
        scale = Mux(is_first, self.scale, 0)
        for part in ("re", "im"):
            value = Value.cast(self.number[part])
            scaled = (value << scale)[:16].as_signed()
            if part == "im":
                scaled = Mux(is_mirrored, -scaled, scaled)
            m.d.sync += number[part].eq(scaled)
            half = 1 << (_FRACTION_BITS - 1)
            by_2 = (number[part] << (_FRACTION_BITS - 1)) - number[part] + half
            by_4 = (number[part] << (_FRACTION_BITS - 2)) - number[part] + half
            m.d.sync += divided[part].eq(
                Mux(is_pair | is_split, by_2 >> _FRACTION_BITS, by_4 >> _FRACTION_BITS)
            )
        return divided

    def _turn(
        self,
        m: Module,
        read_time: Signal,
        divided: data.View,
        length_bits: Signal,
        is_pair: Signal,
        is_split: Signal,
    ) -> tuple[data.View, data.View]:
        """Build the product with a root; return it, and the sum of two numbers of a split.

        The first leg of a butterfly, and both of two, pass by.
        """
        m.submodules.circle = circle = Memory(shape=NUMBER, depth=1 << CIRCLE_BITS, init=_circle())
        port = circle.read_port()
        # The root is asked for a cycle before it is multiplied.
        ahead = Signal(_TIME_BITS)
        m.d.comb += ahead.eq(read_time - (_FACTOR - 1))
        leg = ahead[:2]
        # Of a split the second leg is turned, by a root that the butterfly alone decides.
        shift = Signal(range(CIRCLE_BITS + 1))
        m.d.comb += shift.eq(
            Mux(is_split, PLACE_BITS - self.half_bits, CIRCLE_BITS - 2 - length_bits)
        )
        inside = ahead[2:-1] & Mux(is_split, -1, (1 << length_bits) - 1)
        step = Signal(CIRCLE_BITS)
        m.d.comb += step.eq(inside << shift)
        m.d.comb += port.addr.eq(
            Mux(
                is_split,
                step + (1 << (CIRCLE_BITS - 2)),
                Mux(leg[0], step, 0) + Mux(leg[1], step << 1, 0),
            )
        )
        root = port.data

        before = [Signal(NUMBER, name=f"divided_s{k}", reset_less=True) for k in (1, 2)]
        m.d.sync += [before[0].eq(divided), before[1].eq(before[0])]
        factor = Signal(NUMBER)
        even = Signal(NUMBER, reset_less=True)
        for part in ("re", "im"):
            near = before[0][part]
            m.d.comb += factor[part].eq(Mux(is_split, near - divided[part], divided[part]))
        with m.If(is_split & (read_time[:2] == (1 + _DIVIDED) % LEGS)):
            m.d.sync += [even[part].eq(before[0][part] + divided[part]) for part in ("re", "im")]
        for k, (of_number, of_root) in enumerate((
            ("re", "re"),
            ("im", "im"),
            ("re", "im"),
            ("im", "re"),
        )):
            m.d.comb += [
                self.left[k].eq(factor[of_number]),
                self.right[k].eq(root[of_root]),
            ]
        turned = Signal(NUMBER, reset_less=True)
        passing = (read_time - _TURNED)[:2]
        products = self.products
        half = 1 << (_FRACTION_BITS - 1)
        for part, total in (
            ("re", products[0] - products[1] + half),
            ("im", products[2] + products[3] + half),
        ):
            plain = Mux(is_pair & passing[0], 0, before[1][part])
            passes = ~is_split & (is_pair | (passing == 0))
            m.d.sync += turned[part].eq(
                Mux(passes, plain, (total >> _FRACTION_BITS)[:16].as_signed())
            )
        return turned, even

    def _combine(
        self,
        m: Module,
        read_time: Signal,
        write_time: Signal,
        divided: data.View,
        turned: data.View,
        even: data.View,
        is_pair: Signal,
        is_split: Signal,
    ) -> None:
        """Build the sums of a butterfly, which are written one after the other."""
        earlier = [Signal(NUMBER, name=f"turned_s{k}", reset_less=True) for k in (1, 2, 3)]
        m.d.sync += earlier[0].eq(turned)
        m.d.sync += [earlier[k].eq(earlier[k - 1]) for k in (1, 2)]
        sums, differences = (
            [Signal(NUMBER, name=f"{name}_{k}", reset_less=True) for k in range(2)]
            for name in ("sum", "difference")
        )
        a, b, c, d = earlier[2], earlier[1], earlier[0], turned
        last_leg = Signal(2)
        m.d.comb += last_leg.eq((read_time - _LAST)[:2])
        with m.If(is_split):
            with m.If(last_leg == 1):
                m.d.sync += [sums[0].eq(even), sums[1].eq(turned)]
        with m.Elif(last_leg == LEGS - 1):
            for k, (first, second) in enumerate(((a, c), (b, d))):
                for part in ("re", "im"):
                    m.d.sync += [
                        sums[k][part].eq(first[part] + second[part]),
                        differences[k][part].eq(first[part] - second[part]),
                    ]
        # Of a pair of numbers the second one is the third leg: two of the four are 0.
        (even_, outer), (odd, inner) = sums, differences
        quarter = (inner.im, -inner.re)
        leg = write_time[:2]
        result = self.write_number
        splits = {
            "re": Array([even_.re + outer.re, even_.re - outer.re]),
            "im": Array([even_.im + outer.im, outer.im - even_.im]),
        }
        middle = Signal(NUMBER, reset_less=True)
        # Of frequency 0: the sum is real, and so is the difference, that of the highest frequency.
        with m.If(is_split & (read_time == _DIVIDED)):
            m.d.sync += [
                middle.re.eq(divided.re + divided.im),
                self.last.eq(divided.re - divided.im),
            ]
        is_zero = is_split & (write_time[2:] == 0)
        for part, turn in zip(("re", "im"), quarter, strict=True):
            values = Array([
                even_[part] + outer[part],
                odd[part] + turn,
                even_[part] - outer[part],
                odd[part] - turn,
            ])
            with m.If(is_zero):
                m.d.comb += result[part].eq(middle.re if part == "re" else 0)
            with m.Elif(is_split):
                m.d.comb += result[part].eq(splits[part][leg[0]] >> 1)
            with m.Else():
                m.d.comb += result[part].eq(values[leg])
        is_written = Mux(is_split, ~leg[1] & ~(is_zero & leg[0]), ~is_pair | ~leg[1])
        m.d.comb += self.write_enable.eq(self.is_running & ~write_time[-1] & is_written)


def _circle() -> list[dict[str, int]]:
    """Return the roots of one of the largest transform of real numbers."""
    return [{"re": re, "im": im} for re, im in transform_roots(1 << CIRCLE_BITS)]
