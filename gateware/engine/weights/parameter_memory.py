"""Parameters of the output channels of two groups."""

from amaranth import Cat, Module, Signal
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


class ParameterMemory(wiring.Component):
    """Two banks of the parameters of some beats of channels each, in memories of a few words.

    Latency: 1 cycle from ``read_beat`` to ``parameters``; a write can be read one cycle later.

    Parameters
    ----------
    lanes : int
        Channels of a beat, a multiple of 4.
    beats : int
        Beats of a bank, a power of two.
    places : int
        Beats besides those of the banks: of 8 channels, for the depthwise unit.

    Members
    -------
    write : ``In(1)``
        Store ``beat``: one ``field`` of the 4 channels of a ``block``, in ``write_bank``.
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

    def __init__(self, *, lanes: int, beats: int, places: int = 0) -> None:
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
        super().__init__({
            **(ports if places else {}),
            "write": In(1),
            "write_bank": In(1),
            "block": In(range(self.blocks)),
            "field": In(range(FIELDS)),
            "beat": In(32 * PARAMETER_BLOCK),
            "read_bank": In(1),
            "read_beat": In(range(beats)),
            "parameters": Out(data.ArrayLayout(PARAMETERS, lanes)),
        })

    def elaborate(self, platform: object) -> Module:
        """Build a memory for each field of the channels of a block, and registers behind it."""
        m = Module()
        blocks_per_beat = self.lanes // PARAMETER_BLOCK
        depth = _BANKS * self.beats + self.places
        address = Signal(range(depth))
        read_address = Signal(range(depth))
        m.d.comb += [
            address.eq(Cat(self.block[(blocks_per_beat - 1).bit_length() :], self.write_bank)),
            read_address.eq(Cat(self.read_beat, self.read_bank)),
        ]
        if self.places:
            with m.If(self.writes_place):
                m.d.comb += address.eq(self.write_place + _BANKS * self.beats)
            with m.If(self.reads_place):
                m.d.comb += read_address.eq(self.read_place + _BANKS * self.beats)
        words = [self.beat.word_select(place, 32) for place in range(PARAMETER_BLOCK)]
        shifts = [split_shift(word[:_SHIFT_BITS].as_signed()) for word in words]
        for block in range(blocks_per_beat):
            is_addressed = (self.block % blocks_per_beat) == block
            stored = []
            for number, bits in enumerate(_BITS):
                fields = data.ArrayLayout(bits, PARAMETER_BLOCK)
                memory = Memory(shape=fields, depth=depth, init=[])
                m.submodules[f"memory_{number}_{block}"] = memory
                write, read = memory.write_port(), memory.read_port(domain="comb")
                written = (words, words, shifts)[number]
                m.d.comb += [
                    write.addr.eq(address),
                    Cat(write.data).eq(Cat(value[:bits] for value in written)),
                    write.en.eq(self.write & (self.field == number) & is_addressed),
                    read.addr.eq(read_address),
                ]
                stored.append(read.data)
            for place in range(PARAMETER_BLOCK):
                channel = block * PARAMETER_BLOCK + place
                parameters = Signal(PARAMETERS, name=f"parameters_{channel}", reset_less=True)
                m.d.sync += parameters.eq(Cat(values[place] for values in stored))
                m.d.comb += self.parameters[channel].eq(parameters)
        return m
