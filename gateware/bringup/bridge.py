"""What answers requests of the serial line for a custom function unit."""

from amaranth import Const, Module, Mux, Signal, Value
from amaranth.lib import stream, wiring
from amaranth.lib.wiring import In, Out

from kiwicha.contract.serial import SERIAL_INSTRUCTIONS, SerialHello, SerialOp, SerialStatus
from kiwicha.gateware.bringup.burst import Burst
from kiwicha.gateware.bringup.frame_decoder import FrameDecoder
from kiwicha.gateware.bringup.frame_encoder import FrameEncoder
from kiwicha.gateware.bringup.request_reader import RequestReader
from kiwicha.gateware.cfu import CFU_COMMAND, CFU_RESPONSE

__all__ = ["LAMPS", "Bridge"]

LAMPS = 2
"""Lamps that `SerialOp.SHOW` lights."""
_WORD_BYTES = 4
_BODY_START_BYTES = 2


class Bridge(wiring.Component):
    """Answer the operations of the bring-up design, as `kiwicha.contract.serial` defines them.

    A frame that is damaged has no answer. A request that comes before the last one's answer is out
    has none either. A custom function unit that does not respond is reported, and no instruction
    reaches it until it is reset.

    Parameters
    ----------
    hello : SerialHello
        What the design says of itself.

    Members
    -------
    i : ``In(stream.Signature(8, always_ready=True))``
        Bytes from the line.
    has_error : ``In(1)``
        A byte was lost.
    o : ``Out(stream.Signature(8))``
        Bytes for the line.
    commands : ``Out(stream.Signature(CFU_COMMAND))``
        To the custom function unit.
    responses : ``In(stream.Signature(CFU_RESPONSE))``
        From it.
    resets : ``Out(1)``
        High for one cycle: reset the custom function unit.
    lamps : ``Out(LAMPS)``
        As the host wants them.
    has_answered : ``Out(1)``
        A request has come since the design started.
    """

    def __init__(self, *, hello: SerialHello) -> None:
        self.hello = hello
        super().__init__({
            "i": In(stream.Signature(8, always_ready=True)),
            "has_error": In(1),
            "o": Out(stream.Signature(8)),
            "commands": Out(stream.Signature(CFU_COMMAND)),
            "responses": In(stream.Signature(CFU_RESPONSE)),
            "resets": Out(1),
            "lamps": Out(LAMPS),
            "has_answered": Out(1),
        })

    def elaborate(self, platform: object) -> Module:
        """Build the line's side, the burst, and what goes from one to the other."""
        m = Module()
        longest = max(_WORD_BYTES * SERIAL_INSTRUCTIONS, SerialHello.size_bytes())
        m.submodules.decoder = decoder = FrameDecoder()
        m.submodules.reader = reader = RequestReader(instructions=SERIAL_INSTRUCTIONS)
        m.submodules.burst = burst = Burst(depth=SERIAL_INSTRUCTIONS)
        m.submodules.encoder = encoder = FrameEncoder(body_bytes=_BODY_START_BYTES + longest)
        wiring.connect(m, wiring.flipped(self.i), decoder.i)
        wiring.connect(m, decoder.o, reader.i)
        wiring.connect(m, encoder.o, wiring.flipped(self.o))
        wiring.connect(m, burst.commands, wiring.flipped(self.commands))
        wiring.connect(m, wiring.flipped(self.responses), burst.responses)
        m.d.comb += [
            decoder.has_error.eq(self.has_error),
            reader.is_end.eq(decoder.is_end),
            reader.is_good.eq(decoder.is_good),
            burst.write.eq(reader.write),
            burst.write_index.eq(reader.write_index),
            burst.instruction.eq(reader.instruction),
            burst.count.eq(reader.count),
        ]
        status = Signal(SerialStatus)
        is_hello = Signal()
        is_broken = Signal()
        bytes_left = Signal(range(longest + 1))
        at = Signal(range(longest))
        said = Const(int.from_bytes(self.hello.pack(), "little"), 8 * SerialHello.size_bytes())
        word = Mux(is_hello, said.word_select(at[2:], 32), burst.answer)
        m.d.comb += burst.read_index.eq(at[2:])

        with m.FSM():
            with m.State("IDLE"):
                m.d.comb += reader.accepts.eq(~reader.is_request)
                m.d.sync += [at.eq(0), bytes_left.eq(0), is_hello.eq(0)]
                with m.If(reader.is_request):
                    m.d.sync += self.has_answered.eq(1)
                    self._obey(m, reader, burst, encoder, status, is_hello, is_broken, bytes_left)
            with m.State("RUN"):
                with m.If(burst.is_done & burst.has_all):
                    m.d.sync += bytes_left.eq(burst.count << 2)
                    m.next = "NUMBER"
                with m.Elif(burst.is_done):
                    m.d.sync += [status.eq(SerialStatus.NO_RESPONSE), is_broken.eq(1)]
                    m.next = "NUMBER"
            self._answer(m, reader.number, status, word, at, bytes_left, encoder)
            with m.State("SEND"):
                with m.If(encoder.is_idle):
                    m.next = "IDLE"
        return m

    @staticmethod
    def _answer(
        m: Module,
        number: Signal,
        status: Signal,
        word: Value,
        at: Signal,
        bytes_left: Signal,
        encoder: FrameEncoder,
    ) -> None:
        """Build the states that give an answer to the encoder: number, status, bytes of words."""
        with m.State("NUMBER"):
            m.d.comb += [encoder.i.valid.eq(1), encoder.i.payload.byte.eq(number)]
            with m.If(encoder.i.ready):
                m.next = "STATUS"
        with m.State("STATUS"):
            m.d.comb += [
                encoder.i.valid.eq(1),
                encoder.i.payload.byte.eq(status),
                encoder.i.payload.is_last.eq(bytes_left == 0),
            ]
            with m.If(encoder.i.ready):
                m.next = "SEND"
                with m.If(bytes_left != 0):
                    m.next = "DATA"
        with m.State("DATA"):
            m.d.comb += [
                encoder.i.valid.eq(1),
                encoder.i.payload.byte.eq(word.word_select(at[:2], 8)),
                encoder.i.payload.is_last.eq(bytes_left == 1),
            ]
            with m.If(encoder.i.ready):
                m.d.sync += [at.eq(at + 1), bytes_left.eq(bytes_left - 1)]
                m.next = "READ"
                with m.If(bytes_left == 1):
                    m.next = "SEND"
        with m.State("READ"):
            m.next = "DATA"

    def _obey(
        self,
        m: Module,
        reader: RequestReader,
        burst: Burst,
        encoder: FrameEncoder,
        status: Signal,
        is_hello: Signal,
        is_broken: Signal,
        bytes_left: Signal,
    ) -> None:
        """Build what a request does; its answer starts in the next cycle unless it executes."""
        last_number = Signal(8)
        has_last = Signal()
        m.d.sync += [status.eq(SerialStatus.OK), has_last.eq(0)]
        m.next = "NUMBER"
        with m.If((reader.op == SerialOp.HELLO) & reader.is_empty):
            m.d.sync += [is_hello.eq(1), bytes_left.eq(SerialHello.size_bytes())]
        with m.Elif((reader.op == SerialOp.RESET) & reader.is_empty):
            m.d.comb += self.resets.eq(1)
            m.d.sync += is_broken.eq(0)
        with m.Elif((reader.op == SerialOp.SHOW) & reader.is_word):
            m.d.sync += self.lamps.eq(reader.word)
        with m.Elif((reader.op == SerialOp.EXECUTE) & reader.is_instructions):
            m.d.sync += [has_last.eq(1), last_number.eq(reader.number)]
            with m.If(has_last & (reader.number == last_number)):
                m.d.comb += encoder.again.eq(1)
                m.next = "SEND"
            with m.Elif(is_broken):
                m.d.sync += status.eq(SerialStatus.NO_RESPONSE)
            with m.Else():
                m.d.comb += burst.start.eq(1)
                m.next = "RUN"
        with m.Else():
            m.d.sync += status.eq(SerialStatus.BAD_OP)
