"""Parameters of the output channels of two groups."""

from amaranth import Cat, Module, Mux, Signal, Value
from amaranth.lib import data, wiring
from amaranth.lib.memory import Memory
from amaranth.lib.wiring import In, Out

from kiwicha.gateware.engine.requantize.interfaces import PARAMETERS, split_shift
from kiwicha.gateware.engine.weights.interfaces import FIELDS, PARAMETER_BLOCK

__all__ = ["ParameterMemory"]

_BITS = (32, 31, 10)
"""Bits that are stored of a bias, a multiplier and a shift."""
_SHIFT_BITS = 6
_BANKS = 2
_WAITING = {
    "is_pair": In(1),
    "is_read": In(_BANKS),
    "has_biases_only": In(1),
    "is_blocked": Out(1),
    "is_waiting": Out(1),
}


class ParameterMemory(wiring.Component):
    """Two banks of the parameters of some beats of channels each, in memories of a few words.

    Latency: 1 cycle from ``read_beat`` to ``parameters``; a write can be read one cycle later. With
    ``has_pairs`` biases wait in a register for what is still to be read of their bank, and can be
    read two cycles after their write at the earliest.

    Parameters
    ----------
    lanes : int
        Channels of a beat, a multiple of 4.
    beats : int
        Beats of a bank, a power of two.
    has_pairs : bool
        Two blocks can be written at a time, and while a bank is read; with 8 channels of a beat.
    places : int
        Beats besides those of the banks: of 8 channels, for the depthwise unit.

    Members
    -------
    write : ``In(1)``
        Store ``beat``: one ``field`` of the 4 channels of a ``block``, in ``write_bank``. With
        ``has_pairs`` it is as of the `FillSignature`, 256 bits, and not while
        ``is_blocked``.
    is_pair : ``In(1)``
        Only with ``has_pairs``: and that of the next block; the first one has an even number.
    is_read : ``In(2)``
        Only with ``has_pairs``: banks of which something is still to be read.
    has_biases_only : ``In(1)``
        Only with ``has_pairs``: if there is a write in the next cycle, it is of such a fill.
    is_blocked : ``Out(1)``
        Only with ``has_pairs``: no write is possible. A register.
    is_waiting : ``Out(1)``
        Only with ``has_pairs``: biases wait. A register.
    write_bank, block, field, beat
        What is written.
    read_bank : ``In(1)``
    read_beat : ``In(range(beats))``
        What is read.
    writes_place, write_place : ``In``
        Only with ``places``: the block is one of that place instead.
    reads_place, read_place : ``In``
        Likewise of what is read.
    parameters : ``Out(ArrayLayout(PARAMETERS, lanes))``
        Parameters of the channels of a beat.
    """

    def __init__(self, *, lanes: int, beats: int, has_pairs: bool = False, places: int = 0) -> None:
        self.has_pairs = has_pairs
        self.lanes = lanes
        self.beats = beats
        self.places = places
        ports = {
            "writes_place": In(1),
            "write_place": In(range(places)),
            "reads_place": In(1),
            "read_place": In(range(places)),
        }
        self.blocks = beats * lanes // PARAMETER_BLOCK
        self._written = data.StructLayout({
            "beat": (2 if has_pairs else 1) * 32 * PARAMETER_BLOCK,
            "block": range(self.blocks),
            "bank": range(_BANKS),
            "is_pair": 1,
        })
        super().__init__({
            **(_WAITING if has_pairs else {}),
            **(ports if places else {}),
            "write": In(1),
            "write_bank": In(1),
            "block": In(range(self.blocks)),
            "field": In(range(FIELDS)),
            "beat": In((2 if has_pairs else 1) * 32 * PARAMETER_BLOCK),
            "read_bank": In(1),
            "read_beat": In(range(beats)),
            "parameters": Out(data.ArrayLayout(PARAMETERS, lanes)),
        })

    def elaborate(self, platform: object) -> Module:
        """Build a memory for each field of the channels of a block, and registers behind it."""
        m = Module()
        at_once = Signal(self._written)
        m.d.comb += [
            at_once.beat.eq(self.beat),
            at_once.block.eq(self.block),
            at_once.bank.eq(self.write_bank),
        ]
        biases, writes_biases = at_once, self.write & (self.field == 0)
        if self.has_pairs:
            m.d.comb += at_once.is_pair.eq(self.is_pair)
            biases, writes_biases = self._waiting(m, at_once)
        fields = [
            (biases, writes_biases),
            *((at_once, self.write & (self.field == number)) for number in (1, 2)),
        ]
        blocks_per_beat = self.lanes // PARAMETER_BLOCK
        depth = _BANKS * self.beats + self.places
        read_address = Signal(range(depth))
        m.d.comb += read_address.eq(Cat(self.read_beat, self.read_bank))
        if self.places:
            with m.If(self.reads_place):
                m.d.comb += read_address.eq(self.read_place + _BANKS * self.beats)
        for block in range(blocks_per_beat):
            # Of a pair the second one.
            is_second = self.has_pairs and block % 2
            first = PARAMETER_BLOCK if is_second else 0
            stored = []
            for number, (bits, (written, is_written)) in enumerate(zip(_BITS, fields, strict=True)):
                shape = data.ArrayLayout(bits, PARAMETER_BLOCK)
                memory = Memory(shape=shape, depth=depth, init=[])
                m.submodules[f"memory_{number}_{block}"] = memory
                write, read = memory.write_port(), memory.read_port(domain="comb")
                part = written.block % blocks_per_beat
                is_addressed = part == block
                if is_second:
                    is_addressed |= written.is_pair & (part == block - 1)
                words = [
                    written.beat.word_select(first + place, 32) for place in range(PARAMETER_BLOCK)
                ]
                shifts = [split_shift(word[:_SHIFT_BITS].as_signed()) for word in words]
                values = (words, words, shifts)[number]
                address: Value = Cat(
                    written.block[(blocks_per_beat - 1).bit_length() :], written.bank
                )
                if self.places:
                    place_address = self.write_place + _BANKS * self.beats
                    address = Mux(self.writes_place, place_address, address)
                m.d.comb += [
                    write.addr.eq(address),
                    Cat(write.data).eq(Cat(value[:bits] for value in values)),
                    write.en.eq(is_written & is_addressed),
                    read.addr.eq(read_address),
                ]
                stored.append(read.data)
            for place in range(PARAMETER_BLOCK):
                channel = block * PARAMETER_BLOCK + place
                parameters = Signal(PARAMETERS, name=f"parameters_{channel}", reset_less=True)
                m.d.sync += parameters.eq(Cat(values[place] for values in stored))
                m.d.comb += self.parameters[channel].eq(parameters)
        return m

    def _waiting(self, m: Module, at_once: data.View) -> tuple[data.View, Value]:
        """Build the register of biases; return what it has, and whether that is written."""
        waiting = Signal(self._written, reset_less=True)
        is_written, takes, will_wait = Signal(), Signal(), Signal()
        m.d.comb += [
            is_written.eq(self.is_waiting & ~self.is_read.bit_select(waiting.bank, 1)),
            takes.eq(self.write & (self.field == 0)),
            will_wait.eq(takes | (self.is_waiting & ~is_written)),
        ]
        m.d.sync += [
            self.is_waiting.eq(will_wait),
            self.is_blocked.eq(
                self.is_read.bit_select(self.write_bank, 1) & (will_wait | ~self.has_biases_only)
            ),
        ]
        with m.If(takes):
            m.d.sync += waiting.eq(at_once)
        return waiting, is_written
