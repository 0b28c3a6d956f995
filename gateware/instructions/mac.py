"""Multiply-accumulate of four int8 products per cycle into 16 accumulators."""

import functools
import operator

from amaranth import Cat, Module, Mux, Signal, signed
from amaranth.lib import data, stream, wiring
from amaranth.lib.memory import Memory
from amaranth.lib.wiring import In, Out

from kiwicha.contract.cfu import LANES, PIXELS

__all__ = ["MAC_COMMAND", "Mac", "mac_result", "validated_multipliers"]

_FLAGS = ("mac", "mac_lanes", "bias", "start", "read", "write", "push")

MAC_COMMAND = data.StructLayout({
    **dict.fromkeys(_FLAGS, 1),
    "index": 4,
    "inputs_0": 32,
    "inputs_1": 32,
})
"""One flag per instruction, at most one set; operands as `kiwicha.contract.cfu` defines them."""


def mac_result(multipliers: int) -> data.StructLayout:
    """Return the layout of what READ and PUSH give: as many lanes as there are multipliers.

    ``lane`` is what READ asked for, among them.
    """
    return data.StructLayout({
        "accumulators": data.ArrayLayout(signed(32), multipliers),
        "lane": (multipliers - 1).bit_length(),
        "is_push": 1,
    })


def validated_multipliers(multipliers: int) -> int:
    """Return the number of multipliers if it is one per lane, or one.

    Raises
    ------
    ValueError
        If it is neither.
    """
    if multipliers not in {1, LANES}:
        raise ValueError(f"multipliers must be 1 or {LANES}, not {multipliers!r}")
    return multipliers


_OPERATION = data.StructLayout({
    **dict.fromkeys(_FLAGS, 1),
    "lane": 2,
    "pixel": 2,
})


class Mac(wiring.Component):
    """Multipliers, 16 int32 accumulators and the biases they start from.

    Commands execute in order. With a multiplier per lane each takes one cycle; with one multiplier
    ``mac``, ``mac_lanes`` and ``push`` pass through it lane by lane. The accumulators are one
    memory per multiplier. START does not write them: it marks every accumulator as fresh and takes
    a copy of the biases, and a fresh accumulator reads as its lane's copy.

    After reset every bias and every accumulator is 0.

    Latency: a command reads and writes the accumulators in the third cycle after the one that takes
    it; ``o`` is valid in that cycle. Throughput: one command per cycle, always; with one multiplier
    ``mac``, ``mac_lanes`` and ``push`` take `LANES` cycles, the last more if ``o`` waits.

    Parameters
    ----------
    multipliers : int
        1 or `LANES`.

    Members
    -------
    i : ``In(stream.Signature(MAC_COMMAND))``
        For ``mac`` and ``mac_lanes``, ``inputs_0`` holds activations and ``inputs_1`` weights.
        Always ready with a multiplier per lane.
    input_offset : ``In(signed(9))``
        Added to each activation of a command, from when it is taken until the next can be.
    o : ``Out(stream.Signature(mac_result(multipliers)))``
        Answer to ``read`` and ``push``, to this in ``LANES / multipliers`` pieces, lane 0 first.
        With a multiplier per lane, the receiver must always be ready.

    Raises
    ------
    ValueError
        If ``multipliers`` is neither.

    Notes
    -----
    Registers stand before and after each multiplier, where a DSP48E1 has its own.
    """

    def __init__(self, *, multipliers: int = LANES) -> None:
        self.multipliers = validated_multipliers(multipliers)
        is_full = multipliers == LANES
        super().__init__({
            "i": In(stream.Signature(MAC_COMMAND, always_ready=is_full)),
            "input_offset": In(signed(9)),
            "o": Out(stream.Signature(mac_result(multipliers), always_ready=is_full)),
        })

    def elaborate(self, platform: object) -> Module:
        """Build stage 1 to 3: operands, products, addends; the accumulators follow stage 3."""
        m = Module()
        command = self.i.payload
        passes = LANES // self.multipliers

        operation_s1 = Signal(_OPERATION)
        operation_s2 = Signal(_OPERATION)
        operation_s3 = Signal(_OPERATION)
        value_s1, value_s2, value_s3, weights_s1 = (
            Signal(32, name=name, reset_less=True)
            for name in ("value_s1", "value_s2", "value_s3", "weights_s1")
        )
        pass_s1 = Signal(range(passes))
        next_pass = Signal(range(passes))
        advances = Signal()
        takes = Signal()
        is_pixel_s1 = Signal()
        has_passes_s1 = Signal()
        m.d.comb += [
            advances.eq(~self.o.valid | self.o.ready),
            has_passes_s1.eq(operation_s1.mac | operation_s1.mac_lanes | operation_s1.push),
            takes.eq(advances & (~has_passes_s1 | (pass_s1 == passes - 1))),
            next_pass.eq(Mux(takes, 0, pass_s1 + 1)),
            # PUSH and MAC_LANES have a pixel as index, the others pixel * LANES + lane or a lane.
            is_pixel_s1.eq(operation_s1.push | operation_s1.mac_lanes),
        ]
        if passes > 1:
            m.d.comb += self.i.ready.eq(takes)
        with m.If(takes):
            for name in _FLAGS:
                m.d.sync += operation_s1[name].eq(command[name] & self.i.valid)
            is_pixel = command.push | command.mac_lanes
            m.d.sync += [
                operation_s1.lane.eq(command.index[:2]),
                operation_s1.pixel.eq(Mux(is_pixel, command.index[:2], command.index[2:])),
                value_s1.eq(command.inputs_0),
                weights_s1.eq(command.inputs_1),
            ]
        with m.If(advances):
            m.d.sync += [
                pass_s1.eq(next_pass),
                operation_s2.eq(operation_s1),
                operation_s3.eq(operation_s2),
                value_s2.eq(value_s1),
                value_s3.eq(value_s2),
            ]
            if passes > 1:
                with m.If(is_pixel_s1):
                    m.d.sync += operation_s2.lane.eq(pass_s1)
            addends_s3 = self._addends(m, next_pass, value_s1, weights_s1, operation_s2)
        for k, addend_s3 in enumerate(addends_s3):
            self._elaborate_memory(m, k, operation_s3, value_s3, addend_s3)
        m.d.comb += [
            self.o.valid.eq(operation_s3.read | operation_s3.push),
            self.o.payload.lane.eq(operation_s3.lane),
            self.o.payload.is_push.eq(operation_s3.push),
        ]
        return m

    def _addends(
        self,
        m: Module,
        next_pass: Signal,
        value_s1: Signal,
        weights_s1: Signal,
        operation_s2: data.View,
    ) -> list[Signal]:
        """Build the multipliers; return what stage 3 adds to the accumulators of each memory."""
        command = self.i.payload
        width = 8 * self.multipliers
        # The first pass comes from the command, the others from what was kept of it.
        activations = Cat(command.inputs_0[:width], value_s1[width:]).word_select(next_pass, width)
        weights = Cat(command.inputs_1[:width], weights_s1[width:]).word_select(next_pass, width)
        products_s2 = [Signal(signed(18), name=f"product_s2_{k}") for k in range(self.multipliers)]
        for k, product_s2 in enumerate(products_s2):
            activation_s1 = Signal(signed(10), name=f"activation_s1_{k}")
            weight_s1 = Signal(signed(8), name=f"weight_s1_{k}")
            m.d.sync += [
                activation_s1.eq(activations.word_select(k, 8).as_signed() + self.input_offset),
                weight_s1.eq(weights.word_select(k, 8)),
                product_s2.eq(activation_s1 * weight_s1),
            ]

        dot_s2 = functools.reduce(operator.add, products_s2)
        addends_s3 = [
            Signal(dot_s2.shape(), name=f"addend_s3_{k}") for k in range(self.multipliers)
        ]
        for product_s2, addend_s3 in zip(products_s2, addends_s3, strict=True):
            with m.If(operation_s2.mac_lanes):
                m.d.sync += addend_s3.eq(product_s2)
            with m.Elif(operation_s2.mac):
                m.d.sync += addend_s3.eq(dot_s2)
            with m.Else():
                m.d.sync += addend_s3.eq(0)
        return addends_s3

    def _elaborate_memory(
        self, m: Module, number: int, operation: data.View, value: Signal, addend: Signal
    ) -> None:
        """Build the accumulators behind one multiplier, which are read and written in one cycle."""
        lanes = LANES // self.multipliers
        memory = Memory(shape=signed(32), depth=PIXELS * lanes, init=[])
        m.submodules[f"accumulators_{number}"] = memory
        write, read = memory.write_port(), memory.read_port(domain="comb")
        biases = Signal(32 * lanes, name=f"biases_{number}")
        start_biases = Signal(32 * lanes, name=f"start_biases_{number}")
        is_fresh = Signal(PIXELS * lanes, name=f"is_fresh_{number}", init=-1)

        bits = (self.multipliers - 1).bit_length()
        is_here, lane = operation.lane[:bits] == number, operation.lane[bits:]
        address = Cat(lane, operation.pixel)
        accumulator = Signal(signed(32), name=f"accumulator_{number}")
        with m.If(operation.write):
            m.d.comb += accumulator.eq(value)
        with m.Elif(is_fresh.bit_select(address, 1)):
            m.d.comb += accumulator.eq(start_biases.word_select(lane, 32))
        with m.Else():
            m.d.comb += accumulator.eq(read.data)
        m.d.comb += [
            read.addr.eq(address),
            write.addr.eq(address),
            write.en.eq(operation.mac_lanes | ((operation.mac | operation.write) & is_here)),
            # The addend comes first: the carry chain takes it straight from its register, and the
            # choice above falls into the LUTs before the chain. It is 0 for READ and PUSH.
            write.data.eq(addend + accumulator),
            self.o.payload.accumulators[number].eq(write.data),
        ]
        with m.If(operation.start):
            m.d.sync += [start_biases.eq(biases), is_fresh.eq(-1)]
        with m.Elif(write.en):
            m.d.sync += is_fresh.bit_select(address, 1).eq(0)
        with m.If(operation.bias & is_here):
            m.d.sync += biases.word_select(lane, 32).eq(value)
