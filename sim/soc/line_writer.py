"""What a stream of bytes or samples needs on its way to DRAM."""

from typing import Any

from litedram.frontend.dma import LiteDRAMDMAWriter
from litex.gen import LiteXModule
from litex.soc.interconnect import stream
from migen import Cat, If, Signal

from kiwicha.contract.engine import LINE_BYTES

__all__ = ["COUNT_BITS", "LineWriter"]

COUNT_BITS = 24
_DMA_LINES = 4


class LineWriter(LiteXModule):
    """The base of modules that write what comes item by item to lines of DRAM.

    Members
    -------
    line_is_full : Signal
        Out. A line waits to be taken.
    is_taking : Signal
        Items are taken; the module sets it.
    is_lost : Signal
        Out. An item came before there was a place for it, since items last began.
    at : Signal
        Out. The line that is written next. Each one that is taken counts it up; the module sets it
        to where another row of lines begins.
    """

    def _add_dma(self, port: Any, fifo_lines: int) -> None:
        """Put a FIFO between the lines and the memory.

        Parameters
        ----------
        port : LiteDRAMNativePort
            Of 16 bytes, to write.
        fifo_lines : int
            What comes while DRAM is refreshed or the engine fetches.
        """
        self.dma = LiteDRAMDMAWriter(port, fifo_depth=_DMA_LINES)
        # The DMA takes a line when the memory takes its command.
        self.lines = stream.SyncFIFO(
            [("address", port.address_width), ("data", port.data_width)], fifo_lines
        )

    def _collect(self, item: Signal, is_item: Any, begins: Any) -> None:
        """Make lines of items.

        Parameters
        ----------
        item : Signal
            Next byte or sample.
        is_item : Signal or expression
            It is one.
        begins : Signal or expression
            The next item is a line's first.
        """
        sink = self.lines.sink
        items = 8 * LINE_BYTES // len(item)
        self.line, self.line_is_full = line, is_full = Signal(8 * LINE_BYTES), Signal()
        self.is_taking, self.is_lost = Signal(), Signal()
        self.at = Signal(COUNT_BITS)
        count = Signal(max=items)
        self.comb += [
            sink.valid.eq(is_full),
            sink.data.eq(line),
            sink.address.eq(self.at),
        ]
        self.sync += [
            If(is_full & sink.ready, is_full.eq(0), self.at.eq(self.at + 1)),
            If(
                is_item & self.is_taking,
                line.eq(Cat(line[len(item) :], item)),
                count.eq(count + 1),
                # The first item of the next line of memory comes before this one has gone.
                If(is_full & ~sink.ready, self.is_lost.eq(1)),
                If(count == items - 1, is_full.eq(1)),
            ),
            If(begins, count.eq(0), self.is_lost.eq(0)),
        ]

    def _count_lines(self, port: Any) -> tuple[Signal, Signal]:
        """Return how many lines are under way, and when one gets to the memory."""
        sink = self.lines.sink
        under_way, is_in, is_out = Signal(COUNT_BITS), Signal(), Signal()
        self.comb += [
            is_in.eq(sink.valid & sink.ready),
            is_out.eq(port.wdata.valid & port.wdata.ready),
        ]
        self.sync += under_way.eq(under_way + is_in - is_out)
        return under_way, is_out
