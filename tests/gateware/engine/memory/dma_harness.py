"""Readers and a writer behind one port, to be tested together."""

from amaranth import Module
from amaranth.lib import stream, wiring
from amaranth.lib.wiring import In, Out

from kiwicha.gateware.engine.memory.dma_reader import DmaReader
from kiwicha.gateware.engine.memory.dma_writer import DmaWriter
from kiwicha.gateware.engine.memory.interfaces import (
    GRANT,
    READ_BEAT,
    MemoryPortSignature,
    StoreSignature,
)
from kiwicha.gateware.engine.memory.memory_port import MemoryPort

__all__ = ["DmaHarness"]

_READER = wiring.Signature({
    "requests": In(stream.Signature(GRANT)),
    "beats": Out(stream.Signature(READ_BEAT)),
})
_WRITER = wiring.Signature({
    "requests": In(stream.Signature(GRANT)),
    "store": In(StoreSignature()),
})


class DmaHarness(wiring.Component):
    """A `MemoryPort` with a `DmaReader` per reader and a `DmaWriter`.

    Parameters
    ----------
    readers : int
        Number of readers.
    depth : int
        Of their FIFOs, and the writer's.

    Members
    -------
    readers : ``requests`` and ``beats`` of each `DmaReader`
    writer : all but ``port`` of the `DmaWriter`
    port, halt, is_idle
        Those of the `MemoryPort`.
    """

    def __init__(self, *, readers: int, depth: int) -> None:
        self.depth = depth
        super().__init__({
            "readers": Out(_READER).array(readers),
            "writer": Out(_WRITER),
            "port": Out(MemoryPortSignature()),
            "halt": In(1),
            "is_idle": Out(1),
        })

    def elaborate(self, platform: object) -> Module:
        """Connect them."""
        m = Module()
        m.submodules.memory = memory = MemoryPort(readers=len(self.readers))
        m.submodules.dma_writer = writer = DmaWriter(depth=self.depth)
        wiring.connect(m, memory.port, wiring.flipped(self.port))
        wiring.connect(m, writer.port, memory.writer)
        wiring.connect(m, wiring.flipped(self.writer.requests), writer.requests)
        wiring.connect(m, wiring.flipped(self.writer.store), writer.store)
        m.d.comb += [
            memory.halt.eq(self.halt),
            self.is_idle.eq(memory.is_idle),
        ]
        for number, outer in enumerate(self.readers):
            m.submodules[f"dma_reader_{number}"] = reader = DmaReader(depth=self.depth)
            wiring.connect(m, reader.port, memory.readers[number])
            wiring.connect(m, wiring.flipped(outer.requests), reader.requests)
            wiring.connect(m, reader.beats, wiring.flipped(outer.beats))
        return m
