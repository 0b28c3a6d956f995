"""One lane of the decoder of blocks: a bit stream, of which each step decodes 8 bytes."""

from typing import Any

from amaranth import Cat, Const, Module, Mux, Signal, Value
from amaranth.lib import data, wiring
from amaranth.lib.memory import Memory
from amaranth.lib.wiring import In, Out

from kiwicha.contract.codec import (
    BEAT_BYTES,
    BLOCK_BYTES,
    MAX_WIDTH,
    NIBBLE_BITS,
    QUADS,
    WIDTH_BITS,
    WIDTH_PAIRS,
)
from kiwicha.gateware.engine.weights.shifter import shifted

__all__ = ["WIDTHS_WRITE", "BlockLane"]

_BEAT_NIBBLES = 8 * BEAT_BYTES // NIBBLE_BITS
_OFFSET_BITS = (_BEAT_NIBBLES - 1).bit_length()
_QUAD_BITS = NIBBLE_BITS * MAX_WIDTH
_PAIR = data.StructLayout({"first": WIDTH_BITS, "second": WIDTH_BITS})

WIDTHS_WRITE = data.StructLayout({
    "address": range(WIDTH_PAIRS),
    "pair": _PAIR,
    "enable": 1,
})
"""A pair of widths, as in `kiwicha.program.codec.blocks`."""


class BlockLane(wiring.Component):
    """Two beats of a bit stream and a table of pairs of widths.

    A lane that has asked for a beat, and not got it, may step as long as it does not ask again.

    Latency: 2 cycles with ``advances`` from ``step`` to ``value``. Throughput: a step per cycle.

    Members
    -------
    table : ``In(WIDTHS_WRITE)``
        Sets a pair.
    beat : ``In(128)``
        The beat that is loaded.
    load : ``In(1)``
        Load it as the following one.
    restart : ``In(1)``
        Begin with the following beat.
    step : ``In(1)``
        Decode a block. Not with ``restart``, and only with ``advances``.
    advances : ``In(1)``
        What was decoded moves on.
    asks : ``Out(1)``
        The next block ends a beat: with ``step`` the following one is to be loaded.
    value : ``Out(64)``
        The bytes of a block, those of the first quad least significant.
    """

    def __init__(self) -> None:
        super().__init__({
            "table": In(WIDTHS_WRITE),
            "beat": In(8 * BEAT_BYTES),
            "load": In(1),
            "restart": In(1),
            "step": In(1),
            "advances": In(1),
            "asks": Out(1),
            "value": Out(8 * BLOCK_BYTES),
        })

    def elaborate(self, platform: object) -> Module:
        """Build the loop of name, length and offset; then shift planes, and widen them to bytes.

        The next name is found while a step is being decided, and kept: whether a lane asks, and so
        whether all step, does not wait for a shifter.
        """
        m = Module()
        # Lengths lie in a memory of their own: nothing but a sum follows it in the loop.
        m.submodules.lengths = lengths = Memory(shape=WIDTH_BITS + 1, depth=WIDTH_PAIRS, init=[])
        m.submodules.widths = widths = Memory(shape=_PAIR, depth=WIDTH_PAIRS, init=[])
        length, pair = lengths.read_port(domain="comb"), widths.read_port(domain="comb")
        for memory, written in (
            (lengths, self.table.pair.first + self.table.pair.second + 1),
            (widths, self.table.pair),
        ):
            write = memory.write_port()
            m.d.comb += [
                write.addr.eq(self.table.address),
                write.data.eq(written),
                write.en.eq(self.table.enable),
            ]
        current, following = (
            Signal(8 * BEAT_BYTES, name=name, reset_less=True) for name in ("current", "following")
        )
        window = Cat(current, following)
        offset = Signal(_OFFSET_BITS)
        end = Signal(_OFFSET_BITS + 1)
        name = Signal(NIBBLE_BITS, reset_less=True)
        m.d.comb += [
            length.addr.eq(name),
            end.eq(offset + length.data),
            self.asks.eq(end[-1]),
        ]
        with m.If(self.step):
            # A block that ends a beat is followed by one of the next beat, which is there.
            next_name = shifted(m, window, end, NIBBLE_BITS, NIBBLE_BITS)
            m.d.sync += [offset.eq(end), name.eq(next_name)]
        with m.If(self.restart):
            m.d.sync += [offset.eq(0), name.eq(following[:NIBBLE_BITS])]
        with m.If(self.restart | (self.step & self.asks)):
            m.d.sync += current.eq(following)
        with m.If(self.load):
            m.d.sync += following.eq(self.beat)
        self._widen(m, window[NIBBLE_BITS:], offset, name, pair)
        return m

    def _widen(self, m: Module, window: Value, offset: Signal, name: Signal, pair: Any) -> None:
        """Find the planes of both quads, and the bytes that they are."""
        planes_s1 = Signal(QUADS * _QUAD_BITS, reset_less=True)
        name_s1 = Signal(NIBBLE_BITS, reset_less=True)
        with m.If(self.advances):
            m.d.sync += [
                planes_s1.eq(shifted(m, window, offset, QUADS * _QUAD_BITS, NIBBLE_BITS)),
                name_s1.eq(name),
            ]
        m.d.comb += pair.addr.eq(name_s1)
        # The shifter wants as many bits as its largest offset reaches.
        longest = Cat(planes_s1, Const(0, NIBBLE_BITS * 3))
        quads = (
            (pair.data.first, planes_s1[:_QUAD_BITS]),
            (pair.data.second, shifted(m, longest, pair.data.first, _QUAD_BITS, NIBBLE_BITS)),
        )
        for number, (width, planes) in enumerate(quads):
            planes_s2 = Signal(_QUAD_BITS, name=f"planes_s2_{number}", reset_less=True)
            is_stored_s2 = Signal(MAX_WIDTH - 1, name=f"is_stored_s2_{number}", reset_less=True)
            sign = Mux(width == 0, 0, planes[:NIBBLE_BITS])
            with m.If(self.advances):
                m.d.sync += [
                    planes_s2.eq(Cat(sign, planes[NIBBLE_BITS:])),
                    is_stored_s2.eq(Cat(width > bit + 1 for bit in range(MAX_WIDTH - 1))),
                ]
            for place in range(NIBBLE_BITS):
                sign_s2 = planes_s2[place]
                bits = [
                    Mux(is_stored_s2[bit], planes_s2[NIBBLE_BITS * (bit + 1) + place], sign_s2)
                    for bit in range(MAX_WIDTH - 1)
                ]
                octet = self.value.word_select(NIBBLE_BITS * number + place, 8)
                m.d.comb += octet.eq(Cat(*bits, sign_s2))
