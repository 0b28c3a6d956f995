"""Requantization of pixels into words, and of single values."""

from amaranth import Cat, Module, Mux, Signal, signed, unsigned
from amaranth.lib import data, stream, wiring
from amaranth.lib.fifo import SyncFIFO
from amaranth.lib.memory import Memory
from amaranth.lib.wiring import In, Out

from kiwicha.contract.cfu import LANES, RESULT_FIFO_DEPTH
from kiwicha.gateware.instructions.mac import validated_multipliers
from kiwicha.gateware.instructions.requantize import RequantizeKind, Requantizer

__all__ = ["OUTPUT_PARAMETERS", "SCALE", "SINGLE_VALUE", "RequantizeUnit"]

SCALE = data.StructLayout({"lane": 2, "multiplier": unsigned(31), "shift": signed(6)})
"""Scale of a lane."""

OUTPUT_PARAMETERS = data.StructLayout({
    "offset": signed(8),
    "minimum": signed(8),
    "maximum": signed(8),
})
"""Zero point and clamp."""

SINGLE_VALUE = data.StructLayout({"lane": 2, "value": signed(32), "is_rescale": 1})
"""One accumulator and the lane whose scale it takes."""


class RequantizeUnit(wiring.Component):
    """Requantize four accumulators at a time into a queue of words, or single values.

    A pixel's accumulators pass the one `Requantizer` lane by lane. With four multipliers they
    arrive together and are copied, with one they arrive lane by lane.

    Latency with four multipliers: from ``pixels`` to ``words`` 10 cycles; from ``values`` to
    ``results`` 5 cycles. Throughput: a pixel every 4 cycles; a value every cycle. With one
    multiplier both are those of its `Requantizer`.

    Parameters
    ----------
    multipliers : int
        1 or 4.

    Members
    -------
    scales : ``In(stream.Signature(SCALE, always_ready=True))``
        Set a lane's scale; not while a pixel is coming, nor in the four cycles after a pixel.
        Unspecified before the first.
    outputs : ``In(stream.Signature(OUTPUT_PARAMETERS, always_ready=True))``
        Set zero point and clamp, at first all 0; only while ``is_idle``.
    pixels : ``In(stream.Signature(ArrayLayout(signed(32), multipliers)))``
        Accumulators, with space for each pixel in ``words``. With four multipliers always ready,
        for pixels that are at least four cycles apart.
    values : ``In(stream.Signature(SINGLE_VALUE, always_ready=True))``
        Single values; not in the four cycles after a pixel; with one multiplier only while
        ``is_idle``, between pixels.
    words : ``Out(stream.Signature(32))``
        Four int8, lane 0 in the least significant byte; RESULT_FIFO_DEPTH of them can wait.
    results : ``Out(stream.Signature(signed(32), always_ready=True))``
        Answers to ``values``.
    is_idle : ``Out(1)``
        Nothing is on its way to ``words`` or ``results``.

    Raises
    ------
    ValueError
        If ``multipliers`` is neither.
    """

    def __init__(self, *, multipliers: int = LANES) -> None:
        self.multipliers = validated_multipliers(multipliers)
        pixel = data.ArrayLayout(signed(32), multipliers)
        super().__init__({
            "scales": In(stream.Signature(SCALE, always_ready=True)),
            "outputs": In(stream.Signature(OUTPUT_PARAMETERS, always_ready=True)),
            "pixels": In(stream.Signature(pixel, always_ready=multipliers == LANES)),
            "values": In(stream.Signature(SINGLE_VALUE, always_ready=True)),
            "words": Out(stream.Signature(32)),
            "results": Out(stream.Signature(signed(32), always_ready=True)),
            "is_idle": Out(1),
        })

    def elaborate(self, platform: object) -> Module:
        """Build the scales, the requantizer, what goes to it, and the packer."""
        m = Module()
        m.submodules.requantizer = requantizer = Requantizer(multipliers=self.multipliers)
        m.submodules.scales = scales = Memory(
            shape=data.StructLayout({"multiplier": unsigned(31), "shift": signed(6)}),
            depth=LANES,
            init=[],
        )
        write, read = scales.write_port(), scales.read_port(domain="comb")
        parameters = Signal(OUTPUT_PARAMETERS)
        m.d.comb += [
            write.en.eq(self.scales.valid),
            write.addr.eq(self.scales.payload.lane),
            write.data.multiplier.eq(self.scales.payload.multiplier),
            write.data.shift.eq(self.scales.payload.shift),
            requantizer.output_offset.eq(parameters.offset),
            requantizer.minimum.eq(parameters.minimum),
            requantizer.maximum.eq(parameters.maximum),
        ]
        with m.If(self.outputs.valid):
            m.d.sync += parameters.eq(self.outputs.payload)

        lane = Signal(range(LANES))
        is_busy = Signal()
        accumulator = Signal(signed(32))
        if self.multipliers == LANES:
            pixel = Signal(data.ArrayLayout(signed(32), LANES))
            with m.If(is_busy):
                m.d.sync += [lane.eq(lane + 1), is_busy.eq(lane != LANES - 1)]
            with m.If(self.pixels.valid):
                m.d.sync += [pixel.eq(self.pixels.payload), is_busy.eq(1)]
            m.d.comb += accumulator.eq(pixel[lane])
        else:
            with m.If(self.pixels.valid & self.pixels.ready):
                m.d.sync += lane.eq(lane + 1)
            m.d.comb += [
                is_busy.eq(self.pixels.valid),
                accumulator.eq(self.pixels.payload[0]),
                self.pixels.ready.eq(requantizer.i.ready),
            ]

        command = requantizer.i.payload
        single = self.values.payload
        kind = Mux(single.is_rescale, RequantizeKind.RESCALE, RequantizeKind.VALUE)
        m.d.comb += [
            read.addr.eq(Mux(is_busy, lane, single.lane)),
            requantizer.i.valid.eq(is_busy | self.values.valid),
            command.accumulator.eq(Mux(is_busy, accumulator, single.value)),
            command.multiplier.eq(read.data.multiplier),
            command.shift.eq(read.data.shift),
            command.kind.eq(Mux(is_busy, RequantizeKind.LANE, kind)),
            self.is_idle.eq(~is_busy & requantizer.is_idle),
        ]
        self._elaborate_results(m, requantizer)
        return m

    def _elaborate_results(self, m: Module, requantizer: Requantizer) -> None:
        """Build the packer of lanes and the queue of words."""
        m.submodules.queue = queue = SyncFIFO(width=32, depth=RESULT_FIFO_DEPTH)
        result = requantizer.o.payload
        is_lane = requantizer.o.valid & (result.kind == RequantizeKind.LANE)
        earlier_lanes = Signal(8 * (LANES - 1))
        count = Signal(range(LANES))
        word = Cat(earlier_lanes, result.value[:8])
        with m.If(is_lane):
            m.d.sync += [earlier_lanes.eq(word[8:]), count.eq(count + 1)]
        m.d.comb += [
            requantizer.o.ready.eq(1),
            queue.w_data.eq(word),
            queue.w_en.eq(is_lane & (count == LANES - 1)),
            self.words.payload.eq(queue.r_data),
            self.words.valid.eq(queue.r_rdy),
            queue.r_en.eq(self.words.ready),
            self.results.valid.eq(requantizer.o.valid & (result.kind != RequantizeKind.LANE)),
            self.results.payload.eq(result.value),
        ]
