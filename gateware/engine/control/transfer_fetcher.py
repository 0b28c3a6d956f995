"""Descriptors of transfers: checked and taken apart."""

from amaranth import Cat, Module, Mux, Signal
from amaranth.lib import data, stream, wiring
from amaranth.lib.wiring import In, Out

from kiwicha.contract.engine import EngineError, TransferFlag
from kiwicha.gateware.engine.control.interfaces import ERROR_BITS
from kiwicha.gateware.engine.descriptors import BYTE_BITS, TRANSFER
from kiwicha.gateware.engine.memory.interfaces import READ_BEAT, TRANSFER_STEP

__all__ = ["TransferFetcher"]


class TransferFetcher(wiring.Component):
    """Check transfers and pass them on; after an error nothing more comes out.

    Latency: 1 cycle.

    Parameters
    ----------
    scratchpad_bytes : int
        Its size.

    Members
    -------
    beats : ``In(stream.Signature(READ_BEAT))``
        Descriptors.
    jobs : ``In(16)``
        Jobs in the list.
    transfers : ``Out(stream.Signature(TRANSFER_STEP))``
        Transfers in order.
    error : ``Out(EngineError)``
        What is wrong with the transfer after those that came out, or 0.
    """

    def __init__(self, *, scratchpad_bytes: int) -> None:
        self.scratchpad_bytes = scratchpad_bytes
        super().__init__({
            "beats": In(stream.Signature(READ_BEAT)),
            "jobs": In(16),
            "transfers": Out(stream.Signature(TRANSFER_STEP)),
            "error": Out(ERROR_BITS),
        })

    def elaborate(self, platform: object) -> Module:
        """Build the check and the register."""
        m = Module()
        transfer = data.View(TRANSFER, self.beats.payload.data)
        step = self.transfers.payload
        count = transfer.bytes[:31]
        first = transfer.scratchpad_address[BYTE_BITS:]
        first_byte = transfer.scratchpad_address[:BYTE_BITS]
        end = Signal(BYTE_BITS + 1)
        lines = Signal(28)
        is_bad = Signal()
        is_outside = Signal()
        takes = Signal()
        is_float, is_table = (transfer.flags[flag.value.bit_length() - 1] for flag in TransferFlag)
        # With FLOAT a byte of the scratchpad is four of DRAM.
        behind = transfer.scratchpad_address + Mux(is_float, count[2:], count)
        m.d.comb += [
            end.eq(count[:BYTE_BITS] + first_byte),
            # One adder for the sum of three: the lowest bits carry.
            lines.eq(
                (
                    Cat(end[:BYTE_BITS].any(), count[BYTE_BITS:])
                    + Cat(end[:BYTE_BITS].any(), end[BYTE_BITS])
                )[1:]
            ),
            is_bad.eq(
                (count == 0)
                | (transfer.dram_offset[:BYTE_BITS] != first_byte)
                | (transfer.wait_jobs > self.jobs)
                | transfer.flags[len(TransferFlag) :].any()
                | (is_float & (is_table | count[:2].any()))
                | (is_table & transfer.bytes[31])
                | ((is_float | is_table) & first_byte.any())
            ),
            is_outside.eq(behind > self.scratchpad_bytes),
            self.beats.ready.eq(~self.transfers.valid & (self.error == EngineError.NONE)),
            takes.eq(self.beats.valid & self.beats.ready),
        ]
        with m.If(self.transfers.ready):
            m.d.sync += self.transfers.valid.eq(0)
        with m.If(takes):
            m.d.sync += [
                self.transfers.valid.eq(~is_bad & ~is_outside),
                self.error.eq(
                    Mux(
                        is_bad,
                        EngineError.BAD_FIELD,
                        Mux(is_outside, EngineError.OUTSIDE_SCRATCHPAD, EngineError.NONE),
                    )
                ),
                step.offset.eq(transfer.dram_offset[BYTE_BITS:31]),
                step.line.eq(first),
                step.lines.eq(lines),
                step.first_byte.eq(first_byte),
                step.last_bytes.eq(Mux(is_float, 0, end[:BYTE_BITS])),
                step.is_program.eq(transfer.dram_offset[31]),
                step.is_store.eq(transfer.bytes[31]),
                step.is_float.eq(is_float),
                step.is_table.eq(is_table),
                step.wait_jobs.eq(transfer.wait_jobs),
            ]
        return m
