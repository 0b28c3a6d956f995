"""What is proven of the unit that moves bytes between DRAM and the scratchpad."""

from typing import Any

from amaranth import Cat, Module, Mux, Signal, Value
from amaranth.hdl import Assert, Assume

from kiwicha.contract.engine import LINE_BYTES
from kiwicha.gateware.engine.descriptors import LINE_BITS
from kiwicha.gateware.engine.memory.transfer_unit import TransferUnit
from tests.support.gateware.proof import Rules, assume_stream, check_stream, in_state

__all__ = ["transfer_unit"]


def transfer_unit(dut: TransferUnit) -> Rules:
    """State that the lines lie in the transfer, and what is asked for is what it says.

    Assumed: transfers and words stay until they are taken; a transfer is one that passed its check.
    """

    def rules(m: Module, submodules: Any) -> None:
        step, access, asked = (
            dut.transfers.payload,
            dut.lines.accesses.payload,
            dut.requests.payload,
        )
        assume_stream(m, dut.transfers, "transfers")
        assume_stream(m, dut.loaded, "loaded")
        check_stream(m, dut.requests, "requests")
        _waiting_access(m, dut)
        converts = step.is_float | step.is_table
        works = in_state(dut.fsm, "LOAD", "STORE")
        is_last = access.line == step.line + step.lines - 1
        bytes_before = Mux(access.line == step.line, step.first_byte, 0)
        bytes_to_end = Mux(is_last & (step.last_bytes != 0), step.last_bytes, LINE_BYTES)
        own_bytes = Cat((bytes_before <= k) & (k < bytes_to_end) for k in range(LINE_BYTES))
        m.d.comb += [
            # So says `TransferFetcher`.
            Assume(step.lines != 0),
            Assume(converts | (step.line + step.lines <= 1 << LINE_BITS)),
            Assert(~dut.lines.accesses.valid | dut.transfers.valid),
            # How many words of a transfer through the converter make a line, the converter says.
            Assert(~dut.lines.accesses.valid | converts | (access.line >= step.line)),
            Assert(~dut.lines.accesses.valid | converts | (access.line < step.line + step.lines)),
            Assert(~dut.lines.accesses.valid | (access.is_write == ~step.is_store)),
            Assert(~dut.lines.accesses.valid | converts | (access.mask == own_bytes)),
            Assert(~dut.requests.valid | (asked.offset == step.offset)),
            Assert(~dut.requests.valid | (asked.words == step.lines)),
            Assert(~dut.requests.valid | (asked.is_write == step.is_store)),
            Assert(~dut.requests.valid | (asked.is_program == step.is_program)),
            # What the others follow from.
            Assert(in_state(dut.fsm, *dut.fsm.encoding)),
            Assert(in_state(dut.fsm, "WAIT") | dut.transfers.valid),
            Assert(~in_state(dut.fsm, "LOAD") | ~(step.is_store | converts)),
            Assert(~in_state(dut.fsm, "STORE") | (step.is_store & ~converts)),
            Assert(~in_state(dut.fsm, "CONVERT") | converts),
            Assert(~in_state(dut.fsm, "REQUEST") | (dut.lines_left == step.lines)),
            Assert(~works | (dut.is_first == (dut.lines_left == step.lines))),
            Assert(~in_state(dut.fsm, "REQUEST") | dut.is_first),
            Assert(~works | ((dut.lines_left != 0) & (dut.lines_left <= step.lines))),
            Assert(
                ~(works | in_state(dut.fsm, "REQUEST"))
                | (dut.line + dut.lines_left == step.line + step.lines)
            ),
        ]

    return rules


def _waiting_access(m: Module, dut: TransferUnit) -> None:
    """State that an access that waits stays; that of a store may end when there is no room.

    Those of the converter are its own.
    """
    access = dut.lines.accesses
    payload = Value.cast(access.payload)
    line = Value.cast(access.payload.line)
    waits = Signal(name="access_waits")
    is_write = Signal(name="access_was_write")
    earlier = Signal(len(payload), name="earlier_access")
    earlier_line = Signal(len(line), name="earlier_line")
    m.d.sync += [
        waits.eq(access.valid & ~access.ready & ~in_state(dut.fsm, "CONVERT")),
        is_write.eq(access.payload.is_write),
        earlier.eq(payload),
        earlier_line.eq(line),
    ]
    m.d.comb += [
        Assert(~(waits & is_write) | (access.valid & (payload == earlier))),
        Assert(~(waits & ~is_write) | access.valid | ~dut.store.has_room),
        Assert(~waits | (line == earlier_line)),
    ]
