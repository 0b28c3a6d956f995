"""Sums of the array's operations, held while the next ones are summed."""

from amaranth import Module, Mux, Signal, Value, signed
from amaranth.lib import data, stream, wiring
from amaranth.lib.wiring import In, Out

from kiwicha.gateware.engine.multiply_accumulate import PACKED_SHIFT, PACKED_SUM_BITS, SUM_BITS

__all__ = ["ResultShadows"]

_SECOND_BITS = PACKED_SUM_BITS - PACKED_SHIFT + 1


class ResultShadows(wiring.Component):
    """Accumulators of 32 bits, and a shadow register for each, from which results go out.

    The last of the operations that make up a result clears the accumulators and copies the sums,
    itself included, to the shadows. One cycle later they go out, and then a second beat, if there
    is one: one cycle after the first, or two with ``is_wide``.

    Parameters
    ----------
    outputs : int
        Sums of a beat.
    has_seconds : bool
        Second sums are accumulated as well.
    tag_bits : int
        Width of ``tag``.

    Members
    -------
    arrived, last, tag
        An operation's sums are here, it is the last one of a result, its tag.
    is_summing : ``In(1)``
        It is added to those before; else accumulators are 0.
    is_joined : ``In(1)``
        The result is ``addends``; else ``lowers``, and ``uppers`` as second beat.
    has_second_beat : ``In(1)``
        There is one: ``uppers``, or the sums of ``seconds`` if ``is_joined``.
    is_wide : ``In(1)``
        The second beat is delayed.
    addends : ``In(ArrayLayout(signed(32), outputs))``
        What an operation adds.
    lowers, uppers : ``In(ArrayLayout(signed(25), outputs))``
        Sums of the depthwise chains.
    seconds : ``In(ArrayLayout(signed(20), outputs))``
        Only with ``has_seconds``: what an operation adds to second sums.
    results : ``Out(stream.Signature(StructLayout(sums, beat, tag), always_ready=True))``
        As of the `MacArray`.
    """

    def __init__(self, *, outputs: int, has_seconds: bool, tag_bits: int) -> None:
        self.outputs = outputs
        self.has_seconds = has_seconds
        chains = data.ArrayLayout(signed(SUM_BITS), outputs)
        seconds = {"seconds": In(data.ArrayLayout(signed(_SECOND_BITS), outputs))}
        result = data.StructLayout({
            "sums": data.ArrayLayout(signed(32), outputs),
            "beat": 1,
            "tag": tag_bits,
        })
        super().__init__({
            **(seconds if has_seconds else {}),
            "arrived": In(1),
            "last": In(1),
            "tag": In(tag_bits),
            "is_summing": In(1),
            "is_joined": In(1),
            "has_second_beat": In(1),
            "is_wide": In(1),
            "addends": In(data.ArrayLayout(signed(32), outputs)),
            "lowers": In(chains),
            "uppers": In(chains),
            "results": Out(stream.Signature(result, always_ready=True)),
        })

    def elaborate(self, platform: object) -> Module:
        """Build the controls of the beats, then accumulators and shadows."""
        m = Module()
        loads, advances = Signal(), Signal()
        loads_s1, loads_s2, advances_s1 = Signal(), Signal(), Signal()
        m.d.comb += [
            loads.eq(self.arrived & self.last),
            advances.eq(self.has_second_beat & Mux(self.is_wide, loads_s2, loads_s1)),
            self.results.valid.eq(loads_s1 | advances_s1),
            self.results.payload.beat.eq(advances_s1),
        ]
        m.d.sync += [loads_s1.eq(loads), loads_s2.eq(loads_s1), advances_s1.eq(advances)]
        with m.If(loads):
            m.d.sync += self.results.payload.tag.eq(self.tag)
        for number in range(self.outputs):
            total = self._accumulated(m, f"_{number}", self.addends[number], loads)
            shadow = Signal(signed(32), name=f"shadow_{number}", reset_less=True)
            upper: Value = self.uppers[number]
            if self.has_seconds:
                second = self._accumulated(m, f"_second_{number}", self.seconds[number], loads)
                upper = Mux(self.is_joined, second, upper)
            kept = Signal(upper.shape(), name=f"upper_shadow_{number}", reset_less=True)
            with m.If(loads):
                # The accumulator is 0 in DEPTHWISE, and the total then the sum of the last cell.
                m.d.sync += [
                    shadow.eq(Mux(self.is_joined, total, self.lowers[number])),
                    kept.eq(upper),
                ]
            with m.Elif(advances):
                m.d.sync += shadow.eq(kept)
            m.d.comb += self.results.payload.sums[number].eq(shadow)
        return m

    def _accumulated(self, m: Module, name: str, addend: Value, clears: Signal) -> Signal:
        """Return the sum of what has come since the last result, and of what comes now."""
        accumulator = Signal(signed(32), name=f"accumulator{name}")
        total = Signal(signed(32), name=f"total{name}")
        # In this order the choice of addend costs no LUT of its own.
        m.d.comb += total.eq(accumulator + addend)
        with m.If(clears):
            m.d.sync += accumulator.eq(0)
        with m.Elif(self.arrived & self.is_summing):
            m.d.sync += accumulator.eq(total)
        return total
