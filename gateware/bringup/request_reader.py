"""From the bodies of frames to requests."""

from amaranth import Cat, Module, Signal
from amaranth.lib import stream, wiring
from amaranth.lib.wiring import In, Out

from kiwicha.gateware.cfu import CFU_COMMAND

__all__ = ["RequestReader"]

_WORD_BYTES = 4


class RequestReader(wiring.Component):
    """Take bodies apart: number, operation, and words.

    The words are the request's fields, and the frame's CRC as one more.

    Parameters
    ----------
    instructions : int
        Most instructions of a request.

    Members
    -------
    i : ``In(stream.Signature(8, always_ready=True))``
        Bytes of a body, and of its CRC.
    is_end, is_good : ``In(1)``
        As those of `FrameDecoder`.
    accepts : ``In(1)``
        Requests are wanted. One of which a byte comes while they are not is dropped.
    is_request : ``Out(1)``
        High for one cycle after the end of a good frame. What follows is stable from then on,
        until bytes are accepted again.
    number, op : ``Out(8)``
        The body's first two bytes.
    word : ``Out(32)``
        The first word of the fields.
    count : ``Out(range(instructions + 2))``
        Whole instructions among the fields; ``instructions + 1`` are too many.
    is_empty, is_word, is_instructions : ``Out(1)``
        The fields are none, one word, or instructions and no more than that.
    write : ``Out(1)``
        High for one cycle with each instruction, whatever the operation.
    write_index, instruction
        See ``write``.
    """

    def __init__(self, *, instructions: int) -> None:
        self.instructions = instructions
        super().__init__({
            "i": In(stream.Signature(8, always_ready=True)),
            "is_end": In(1),
            "is_good": In(1),
            "accepts": In(1),
            "is_request": Out(1),
            "number": Out(8),
            "op": Out(8),
            "word": Out(32),
            "count": Out(range(instructions + 2)),
            "is_empty": Out(1),
            "is_word": Out(1),
            "is_instructions": Out(1),
            "write": Out(1),
            "write_index": Out(range(instructions)),
            "instruction": Out(CFU_COMMAND),
        })

    def elaborate(self, platform: object) -> Module:
        """Build counts of bytes and words, and the registers of the words."""
        m = Module()
        has_op = Signal()
        is_dropped = Signal()
        is_fresh = Signal(init=1)
        byte = Signal(range(_WORD_BYTES))
        place = Signal(range(3))
        second = Signal(32)
        shift = Signal(24)
        word = Cat(shift, self.i.payload)
        takes = self.i.valid & self.accepts & ~is_dropped
        is_word_end = takes & has_op & ~is_fresh & (byte == _WORD_BYTES - 1)
        has_room = self.count < self.instructions
        m.d.comb += [
            self.write.eq(is_word_end & (place == 2) & has_room),
            self.write_index.eq(self.count),
            self.instruction.function_id.eq(self.word),
            self.instruction.inputs_0.eq(second),
            self.instruction.inputs_1.eq(word),
        ]
        m.d.sync += self.is_request.eq(0)
        with m.If(self.is_end):
            # The CRC makes one word more, and no byte may be left over.
            is_whole = byte == 0
            has_word = (place != 0) | (self.count != 0)
            m.d.sync += [
                self.is_request.eq(self.is_good & has_op & has_word & ~is_dropped & self.accepts),
                self.is_empty.eq(is_whole & (self.count == 0) & (place == 1)),
                self.is_word.eq(is_whole & (self.count == 0) & (place == 2)),
                self.is_instructions.eq(
                    is_whole & (place == 1) & (self.count != 0) & (self.count <= self.instructions)
                ),
                is_dropped.eq(0),
                is_fresh.eq(1),
            ]
        with m.Elif(self.i.valid & ~self.accepts):
            m.d.sync += is_dropped.eq(1)
        with m.Elif(takes & is_fresh):
            m.d.sync += [
                self.number.eq(self.i.payload),
                *(has_op.eq(0), is_fresh.eq(0)),
                *(byte.eq(0), place.eq(0), self.count.eq(0)),
            ]
        with m.Elif(takes & ~has_op):
            m.d.sync += [self.op.eq(self.i.payload), has_op.eq(1)]
        with m.Elif(takes):
            m.d.sync += [shift.eq(Cat(shift[8:], self.i.payload)), byte.eq(byte + 1)]
            with m.If(is_word_end):
                m.d.sync += place.eq(place + 1)
                with m.If(place == 0):
                    m.d.sync += self.word.eq(word)
                with m.Elif(place == 1):
                    m.d.sync += second.eq(word)
                with m.Else():
                    m.d.sync += place.eq(0)
                    with m.If(self.count <= self.instructions):
                        m.d.sync += self.count.eq(self.count + 1)
        return m
