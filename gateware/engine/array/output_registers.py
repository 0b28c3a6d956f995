"""Sums of the array's operations, held while the next ones are summed."""

from amaranth import Module, Mux, Signal, Value, signed
from amaranth.lib import data, stream, wiring
from amaranth.lib.wiring import In, Out

from kiwicha.gateware.engine.array.mac_cell import PACKED_SHIFT, PACKED_SUM_BITS, SUM_BITS

__all__ = ["ResultShadows"]

_SECOND_BITS = PACKED_SUM_BITS - PACKED_SHIFT + 1


class ResultShadows(wiring.Component):
    """Accumulators of 32 bits, and a shadow register for each, from which results go out.

    The last of the operations that make up a result clears the accumulators and copies the sums,
    itself included, to the shadows. One cycle later they begin to go out, ``lanes`` sums in a beat
    and a beat per cycle, or in two with ``is_wide``.

    Parameters
    ----------
    outputs : int
        Sums of a result, or of each half of one that has two.
    lanes : int
        Sums of a beat: ``outputs``, or a divisor of it.
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
        The result is ``addends``; else ``lowers``, and ``uppers`` as second half.
    has_second_half : ``In(1)``
        There is one: ``uppers``, or the sums of ``seconds`` if ``is_joined``.
    is_wide : ``In(1)``
        Beats are two cycles apart.
    addends : ``In(ArrayLayout(signed(32), outputs))``
        What an operation adds.
    lowers, uppers : ``In(ArrayLayout(signed(25), outputs))``
        Sums of the depthwise chains.
    maxima : ``In(ArrayLayout(unsigned(8), outputs))``
        Joined with the first beat by OR: either these or the sums are 0.
    seconds : ``In(ArrayLayout(signed(20), outputs))``
        Only with ``has_seconds``: what an operation adds to second sums.
    results : ``Out(stream.Signature(StructLayout(sums, beat, tag), always_ready=True))``
        As of the `MacArray`.
    """

    def __init__(self, *, outputs: int, lanes: int, has_seconds: bool, tag_bits: int) -> None:
        self.outputs = outputs
        self.lanes = lanes
        self.has_seconds = has_seconds
        chains = data.ArrayLayout(signed(SUM_BITS), outputs)
        seconds = {"seconds": In(data.ArrayLayout(signed(_SECOND_BITS), outputs))}
        result = data.StructLayout({
            "sums": data.ArrayLayout(signed(32), lanes),
            "beat": range(2 * outputs // lanes),
            "tag": tag_bits,
        })
        super().__init__({
            **(seconds if has_seconds else {}),
            "arrived": In(1),
            "last": In(1),
            "tag": In(tag_bits),
            "is_summing": In(1),
            "is_joined": In(1),
            "has_second_half": In(1),
            "is_wide": In(1),
            "addends": In(data.ArrayLayout(signed(32), outputs)),
            "lowers": In(chains),
            "uppers": In(chains),
            "maxima": In(data.ArrayLayout(8, outputs)),
            "results": Out(stream.Signature(result, always_ready=True)),
        })

    def elaborate(self, platform: object) -> Module:
        """Build the controls of the beats, then accumulators and shadows."""
        m = Module()
        result = self.results.payload
        loads = Signal()
        advances = Signal()
        is_paused = Signal()
        half = self.outputs // self.lanes
        last_beat = Mux(self.has_second_half, 2 * half - 1, half - 1)
        m.d.comb += [
            loads.eq(self.arrived & self.last),
            advances.eq(Mux(self.is_wide, is_paused, self.results.valid)),
        ]
        m.d.sync += [self.results.valid.eq(loads), is_paused.eq(self.results.valid)]
        with m.If(loads):
            m.d.sync += [result.tag.eq(self.tag), result.beat.eq(0)]
        with m.Elif(advances & (result.beat != last_beat)):
            m.d.sync += [self.results.valid.eq(1), result.beat.eq(result.beat + 1)]
        shadows, kept = [], []
        for number in range(self.outputs):
            total = self._accumulated(m, f"_{number}", self.addends[number], loads)
            shadow = Signal(signed(32), name=f"shadow_{number}", reset_less=True)
            upper: Value = self.uppers[number]
            if self.has_seconds:
                second = self._accumulated(m, f"_second_{number}", self.seconds[number], loads)
                upper = Mux(self.is_joined, second, upper)
            upper_shadow = Signal(upper.shape(), name=f"upper_shadow_{number}", reset_less=True)
            with m.If(loads):
                # The accumulator is 0 in DEPTHWISE, and the total then the sum of the last cell.
                m.d.sync += [
                    shadow.eq(
                        Mux(self.is_joined, total, self.lowers[number]) | self.maxima[number]
                    ),
                    upper_shadow.eq(upper),
                ]
            shadows.append(shadow)
            kept.append(upper_shadow)
        # Behind a beat, everything moves down by one.
        following = [*shadows, *kept][self.lanes :]
        with m.If(advances & ~loads):
            m.d.sync += [
                place.eq(value) for place, value in zip([*shadows, *kept], following, strict=False)
            ]
        m.d.comb += [total.eq(shadow) for total, shadow in zip(result.sums, shadows, strict=False)]
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
