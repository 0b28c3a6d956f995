"""From the CPU's 32-bit bus to a 128-bit port of the DRAM controller."""

from typing import Any

from litex.gen import LiteXModule
from litex.soc.interconnect import wishbone
from litex.soc.interconnect.csr import CSRStatus
from migen import FSM, Array, Cat, If, NextState, Replicate, Signal

__all__ = ["DramBridge"]

_CTI_INCREMENTING = 0b010
_LAST_IN_LINE = 7
"""Bus words of a line: 8."""


class DramBridge(LiteXModule):
    """Wishbone slave that fetches whole cache lines and joins neighbouring stores.

    A burst fetches its line of two port words at once and is served one bus word per cycle; the
    line is forgotten with the burst's last word, so what others write to DRAM is seen by the next
    burst. Stores are acknowledged in their second cycle and collected, port word by port word; a
    word leaves when a store goes elsewhere, when its line is read, or when `FLUSH_CYCLES` pass
    without a store.

    In the first cycle of an access or a burst its address is compared with what is here; the
    answer, which goes far, depends on registers.

    Parameters
    ----------
    port : LiteDRAMNativePort
        128 bits wide.

    Members
    -------
    port : LiteDRAMNativePort
        The port.
    bus : wishbone.Interface
        32 bits wide, word addresses; the bits above the port's address are ignored.
    is_drained : Signal
        High while no store waits for the controller to take it.

    Notes
    -----
    Reads pass collected stores to other lines. The controller executes the commands of one port on
    one bank in order, so that a store whose command was taken is seen by later reads.
    """

    FLUSH_CYCLES = 16

    def __init__(self, *, port: Any) -> None:
        if port.data_width != 128:
            raise ValueError(f"port must be 128 bits wide, not {port.data_width}")
        self.port = port
        self.bus = bus = wishbone.Interface(
            data_width=32, address_width=32, addressing="word", bursting=True
        )
        self.is_drained = Signal()
        self.drained = CSRStatus(description="1 while no store waits for the controller.")
        word_bits = len(port.cmd.addr)
        # Bus address, from below: bus word in a port word (2 bits), port word.
        lane = bus.adr[:2]
        word = Signal(word_bits)
        line = Signal(word_bits - 1)
        # Of the address on the bus, which has been there for a cycle or continues a burst.
        knows, is_fetched, is_collected, is_in_collected_line = (Signal() for _ in range(4))
        reads, writes = Signal(), Signal()
        self.comb += [
            word.eq(bus.adr[2 : 2 + word_bits]),
            line.eq(word[1:]),
            reads.eq(bus.cyc & bus.stb & ~bus.we & knows),
            writes.eq(bus.cyc & bus.stb & bus.we & knows),
        ]

        # Stores: one port word collects while the one before it is on its way.
        collect_word, collect_mask = Signal(word_bits), Signal(16)
        collect_lanes = Array(Signal(32) for _ in range(4))
        leave_word, leave_mask, leave_data = Signal(word_bits), Signal(16), Signal(128)
        leave_needs_cmd, leave_needs_data = Signal(), Signal()
        collects, reads_collected, takes = Signal(), Signal(), Signal()
        can_move, moves = Signal(), Signal()
        idle = Signal(max=self.FLUSH_CYCLES + 1)
        asks, starts = Signal(), Signal()
        lane_mask, byte_mask = Signal(16), Signal(32)
        self.comb += [
            collects.eq(collect_mask != 0),
            reads_collected.eq(reads & collects & is_in_collected_line),
            can_move.eq(collects & ~leave_needs_data & ~asks),
            moves.eq(
                can_move
                & ~starts
                & ((writes & ~is_collected) | reads_collected | (idle == self.FLUSH_CYCLES))
            ),
            # A store elsewhere moves what is here; nothing starts in its cycle.
            takes.eq(writes & (~collects | is_collected | can_move)),
            byte_mask.eq(Cat(*(Replicate(bus.sel[index], 8) for index in range(4)))),
            lane_mask.eq(Cat(*(bus.sel & Replicate(lane == index, 4) for index in range(4)))),
            self.is_drained.eq(~collects & ~leave_needs_data),
            self.drained.status.eq(self.is_drained),
        ]
        self.sync += [
            If(port.cmd.valid & port.cmd.ready & port.cmd.we, leave_needs_cmd.eq(0)),
            If(port.wdata.valid & port.wdata.ready, leave_needs_data.eq(0)),
            If(
                moves,
                leave_word.eq(collect_word),
                leave_mask.eq(collect_mask),
                leave_data.eq(Cat(*collect_lanes)),
                leave_needs_cmd.eq(1),
                leave_needs_data.eq(1),
                collect_mask.eq(0),
            ),
            If(
                takes,
                collect_word.eq(word),
                collect_mask.eq((collect_mask & Replicate(~moves, 16)) | lane_mask),
                collect_lanes[lane].eq(
                    (collect_lanes[lane] & ~byte_mask) | (bus.dat_w & byte_mask)
                ),
                idle.eq(0),
            ).Elif(collects & (idle != self.FLUSH_CYCLES), idle.eq(idle + 1)),
        ]
        self.comb += [
            port.wdata.valid.eq(leave_needs_data & ~leave_needs_cmd),
            port.wdata.data.eq(leave_data),
            port.wdata.we.eq(leave_mask),
        ]

        # Loads: a line is two port words, of which a single load fetches one.
        fetch_line, first_half, next_half = Signal(word_bits - 1), Signal(), Signal()
        has_half, outstanding, is_forgotten = Signal(2), Signal(2), Signal()
        halves = Array(Signal(128) for _ in range(2))
        hits, asked, arrives, is_last, forgets = (Signal() for _ in range(5))
        is_burst = Signal()
        self.comb += [
            hits.eq(reads & is_fetched & ((has_half >> word[0]) & 1)),
            is_last.eq(bus.cti != _CTI_INCREMENTING),
            forgets.eq((hits & is_last) | (takes & is_fetched)),
            arrives.eq(port.rdata.valid),
            port.rdata.ready.eq(1),
            asked.eq(asks & port.cmd.ready),
        ]
        self.fsm = fsm = FSM(reset_state="IDLE")
        fsm.act(
            "IDLE",
            # A command once offered stays: the store's goes first.
            starts.eq(reads & ~hits & ~reads_collected & ~leave_needs_cmd),
            If(starts, NextState("FIRST")),
        )
        fsm.act(
            "FIRST",
            asks.eq(1),
            If(asked, If(is_burst, NextState("SECOND")).Else(NextState("WAIT"))),
        )
        fsm.act("SECOND", asks.eq(1), If(asked, NextState("WAIT")))
        fsm.act("WAIT", If(outstanding == 0, NextState("IDLE")))
        # A burst goes on to the end of its line.
        continues = Signal()
        self.comb += continues.eq(hits & ~is_last & (bus.adr[:3] != _LAST_IN_LINE))
        self.sync += [
            knows.eq(bus.cyc & bus.stb & (~bus.ack | continues)),
            is_fetched.eq(starts | continues | (fetch_line == line)),
            is_collected.eq(collect_word == word),
            is_in_collected_line.eq(collect_word[1:] == line),
        ]
        self.sync += [
            outstanding.eq(outstanding + asked - arrives),
            If(
                arrives,
                halves[next_half].eq(port.rdata.data),
                next_half.eq(~next_half),
                If(~is_forgotten, has_half.eq(has_half | (1 << next_half))),
            ),
            If(forgets, has_half.eq(0), is_forgotten.eq(1)),
            If(
                starts,
                fetch_line.eq(line),
                first_half.eq(word[0]),
                next_half.eq(word[0]),
                is_burst.eq(~is_last),
                has_half.eq(0),
                is_forgotten.eq(0),
            ),
        ]
        self.comb += [
            port.cmd.valid.eq(asks | leave_needs_cmd),
            port.cmd.we.eq(leave_needs_cmd),
            If(leave_needs_cmd, port.cmd.addr.eq(leave_word)).Else(
                port.cmd.addr.eq(Cat(first_half ^ fsm.ongoing("SECOND"), fetch_line))
            ),
            bus.dat_r.eq(halves[word[0]] >> Cat(Signal(5), lane)),
            bus.ack.eq(hits | takes),
        ]
