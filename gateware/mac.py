"""Multiply-accumulate of four int8 products per cycle into 16 accumulators."""

from amaranth import Module, Mux, Signal, signed
from amaranth.lib import data, stream, wiring
from amaranth.lib.memory import Memory
from amaranth.lib.wiring import In, Out

from kiwicha.isa import LANES, PIXELS

__all__ = ["MAC_COMMAND", "MAC_RESULT", "Mac"]

MAC_COMMAND = data.StructLayout({
    "mac": 1,
    "mac_lanes": 1,
    "bias": 1,
    "start": 1,
    "read": 1,
    "write": 1,
    "push": 1,
    "index": 4,
    "inputs_0": 32,
    "inputs_1": 32,
})
"""One flag per instruction, at most one set; operands as `kiwicha.isa` defines them."""

MAC_RESULT = data.StructLayout({
    "accumulators": data.ArrayLayout(signed(32), LANES),
    "lane": 2,
    "is_push": 1,
})
"""The accumulators of one pixel; ``lane`` is what READ asked for."""

_OPERATION = data.StructLayout({
    **dict.fromkeys(("mac", "mac_lanes", "bias", "start", "read", "write", "push"), 1),
    "lane": 2,
    "pixel": 2,
})


class Mac(wiring.Component):
    """Four multipliers, 16 int32 accumulators and the biases they start from.

    Commands execute in order, each as if it took one cycle. The accumulators are four memories,
    one per lane, of one word per pixel. START does not write them: it marks every accumulator as
    fresh and takes a copy of the biases, and a fresh accumulator reads as its lane's copy.

    After reset every bias and every accumulator is 0.

    Latency: a command reads and writes the accumulators in the third cycle after the one that takes
    it; ``o`` is valid in that cycle. Throughput: one command per cycle, always.

    Members
    -------
    i : ``In(stream.Signature(MAC_COMMAND, always_ready=True))``
        For ``mac`` and ``mac_lanes``, ``inputs_0`` holds activations and ``inputs_1`` weights.
    input_offset : ``In(signed(9))``
        Added to each activation of a command that is taken in the same cycle.
    o : ``Out(stream.Signature(MAC_RESULT, always_ready=True))``
        Answer to ``read`` and ``push``.

    Notes
    -----
    Registers stand before and after each multiplier, where a DSP48E1 has its own.
    """

    def __init__(self) -> None:
        super().__init__({
            "i": In(stream.Signature(MAC_COMMAND, always_ready=True)),
            "input_offset": In(signed(9)),
            "o": Out(stream.Signature(MAC_RESULT, always_ready=True)),
        })

    def elaborate(self, platform: object) -> Module:
        """Build stage 1 to 3: operands, products, addends; the accumulators follow stage 3."""
        m = Module()
        command = self.i.payload

        operation_s1, operation_s2, operation_s3 = (Signal(_OPERATION) for _ in range(3))
        value_s1, value_s2, value_s3 = (Signal(32) for _ in range(3))
        for name in ("mac", "mac_lanes", "bias", "start", "read", "write", "push"):
            m.d.sync += operation_s1[name].eq(command[name] & self.i.valid)
        # PUSH and MAC_LANES have a pixel as index, the others pixel * LANES + lane or a lane.
        is_pixel = command.push | command.mac_lanes
        m.d.sync += [
            operation_s1.lane.eq(command.index[:2]),
            operation_s1.pixel.eq(Mux(is_pixel, command.index[:2], command.index[2:])),
            operation_s2.eq(operation_s1),
            operation_s3.eq(operation_s2),
            value_s1.eq(command.inputs_0),
            value_s2.eq(value_s1),
            value_s3.eq(value_s2),
        ]

        products_s2 = [Signal(signed(18), name=f"product_s2_{k}") for k in range(LANES)]
        for k, product_s2 in enumerate(products_s2):
            activation_s1 = Signal(signed(10), name=f"activation_s1_{k}")
            weight_s1 = Signal(signed(8), name=f"weight_s1_{k}")
            activation = command.inputs_0.word_select(k, 8).as_signed()
            m.d.sync += [
                activation_s1.eq(activation + self.input_offset),
                weight_s1.eq(command.inputs_1.word_select(k, 8)),
                product_s2.eq(activation_s1 * weight_s1),
            ]

        dot_s2 = (products_s2[0] + products_s2[1]) + (products_s2[2] + products_s2[3])
        addends_s3 = [Signal(dot_s2.shape(), name=f"addend_s3_{k}") for k in range(LANES)]
        for product_s2, addend_s3 in zip(products_s2, addends_s3, strict=True):
            with m.If(operation_s2.mac_lanes):
                m.d.sync += addend_s3.eq(product_s2)
            with m.Elif(operation_s2.mac):
                m.d.sync += addend_s3.eq(dot_s2)
            with m.Else():
                m.d.sync += addend_s3.eq(0)

        for k, addend_s3 in enumerate(addends_s3):
            self._elaborate_lane(m, k, operation_s3, value_s3, addend_s3)
        m.d.comb += [
            self.o.valid.eq(operation_s3.read | operation_s3.push),
            self.o.payload.lane.eq(operation_s3.lane),
            self.o.payload.is_push.eq(operation_s3.push),
        ]
        return m

    def _elaborate_lane(
        self, m: Module, lane: int, operation: data.View, value: Signal, addend: Signal
    ) -> None:
        """Build the accumulators of one lane, which are read and written in one cycle."""
        memory = Memory(shape=signed(32), depth=PIXELS, init=[])
        m.submodules[f"accumulators_{lane}"] = memory
        write, read = memory.write_port(), memory.read_port(domain="comb")
        bias = Signal(signed(32), name=f"bias_{lane}")
        start_bias = Signal(signed(32), name=f"start_bias_{lane}")
        is_fresh = Signal(PIXELS, name=f"is_fresh_{lane}", init=-1)

        is_lane = operation.lane == lane
        accumulator = Signal(signed(32), name=f"accumulator_{lane}")
        with m.If(operation.write):
            m.d.comb += accumulator.eq(value)
        with m.Elif(is_fresh.bit_select(operation.pixel, 1)):
            m.d.comb += accumulator.eq(start_bias)
        with m.Else():
            m.d.comb += accumulator.eq(read.data)
        m.d.comb += [
            read.addr.eq(operation.pixel),
            write.addr.eq(operation.pixel),
            write.en.eq(operation.mac_lanes | ((operation.mac | operation.write) & is_lane)),
            # The addend comes first: the carry chain takes it straight from its register, and the
            # choice above falls into the LUTs before the chain. It is 0 for READ and PUSH.
            write.data.eq(addend + accumulator),
            self.o.payload.accumulators[lane].eq(write.data),
        ]
        with m.If(operation.start):
            m.d.sync += [start_bias.eq(bias), is_fresh.eq(-1)]
        with m.Elif(write.en):
            m.d.sync += is_fresh.bit_select(operation.pixel, 1).eq(0)
        with m.If(operation.bias & is_lane):
            m.d.sync += bias.eq(value)
