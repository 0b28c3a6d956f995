"""Tags of the beats that are under way."""

from amaranth import Module, Signal
from amaranth.lib import wiring
from amaranth.lib.memory import Memory
from amaranth.lib.wiring import In, Out

__all__ = ["TagQueue"]

DEPTH = 16
"""Beats that can be under way: more than the requantizer has stages."""


class TagQueue(wiring.Component):
    """A queue of tags, in a memory of a few words.

    Latency: `DEPTH` tags can be in it; one that was put in comes out in the next cycle or later.

    Parameters
    ----------
    tag_bits : int
        Width of a tag.

    Members
    -------
    put : ``In(1)``
        ``tag`` is put in.
    tag : ``In(tag_bits)``
    take : ``In(1)``
        The tag that was put in first is taken, and is ``taken`` from the next cycle on.
    taken : ``Out(tag_bits)``
        The tag that was taken last.
    """

    def __init__(self, *, tag_bits: int) -> None:
        self.tag_bits = tag_bits
        super().__init__({
            "put": In(1),
            "tag": In(tag_bits),
            "take": In(1),
            "taken": Out(tag_bits),
        })

    def elaborate(self, platform: object) -> Module:
        """Build the memory, and the numbers of the words to write and to read."""
        m = Module()
        m.submodules.memory = memory = Memory(shape=self.tag_bits, depth=DEPTH, init=[])
        write, read = memory.write_port(), memory.read_port(domain="comb")
        written = Signal(range(DEPTH))
        number = Signal(range(DEPTH))
        taken = Signal(self.tag_bits, reset_less=True)
        m.d.comb += [
            write.addr.eq(written),
            write.data.eq(self.tag),
            write.en.eq(self.put),
            read.addr.eq(number),
            self.taken.eq(taken),
        ]
        m.d.sync += [
            written.eq(written + self.put),
            number.eq(number + self.take),
            taken.eq(read.data),
        ]
        return m
