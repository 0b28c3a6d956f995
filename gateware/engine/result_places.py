"""Where results go: what travels with each, and the lines of the scratchpad that take them."""

from typing import Any

from amaranth import Cat, Const, Module, Mux, Signal, Value
from amaranth.lib import data

from kiwicha.contract.engine import LINE_BYTES, OUTPUT_BYTES
from kiwicha.contract.moves import TILE_ROWS
from kiwicha.gateware.engine.descriptors import ADDRESS_BITS, BYTE_BITS
from kiwicha.gateware.engine.memory.scratchpad import Scratchpad

__all__ = ["RESULT_TAG", "count_places", "write_lines"]

RESULT_TAG = data.StructLayout({
    "address": ADDRESS_BITS,
    "bank": 1,
    "is_dropped": 1,
    "drops_second": 1,
})
"""What travels with a result: where it goes, and whose parameters it takes."""


def count_places(
    m: Module,
    job: data.View,
    operation: data.View,
    *,
    start: Value,
    valid: Value,
    ends: Value,
    turns_bank: Value,
    drops_second: Value,
) -> data.View:
    """Build the counter of output addresses; return the tag of the current operation.

    Parameters
    ----------
    m : Module
        Where the counter is.
    job : View of JOB
        What is computed.
    operation : View of OPERATION
        The current one, if it is ``valid``.
    start, valid, ends : Value
        The job begins; there is an operation; it is the last one of a group.
    turns_bank : Value
        The next group has its parameters in the other bank.
    drops_second : Value
        Of what the operation gives, the second half is not written.
    """
    tag = Signal(RESULT_TAG)
    address, group_address, next_group_address = (
        Signal(ADDRESS_BITS, name=name)
        for name in ("address", "group_address", "next_group_address")
    )
    # The parameters' bank: that of the weights, which changes when the last index is read.
    bank = Signal()
    m.d.comb += [
        tag.address.eq(address),
        tag.bank.eq(bank),
        tag.is_dropped.eq(operation.is_dropped),
        tag.drops_second.eq(drops_second),
        next_group_address.eq(group_address + job.group_output_step),
    ]
    with m.If(start):
        m.d.sync += [
            address.eq(job.output_address),
            group_address.eq(job.output_address),
        ]
    with m.Elif(ends):
        m.d.sync += [
            address.eq(next_group_address),
            group_address.eq(next_group_address),
            bank.eq(bank ^ turns_bank),
        ]
    with m.Elif(valid & operation.last & ~operation.is_dropped):
        step = Mux(operation.ends_row, job.output_row_step, job.output_pixel_bytes)
        m.d.sync += address.eq(address + step)
    return tag


def write_lines(
    m: Module,
    scratchpad: Scratchpad,
    *,
    moved: Any,
    result: Any,
    has_result: Value,
    summed: Any,
    access: Any,
    beside: Any = None,
    joined: Any = None,
    whole: Value | None = None,
    is_whole: Value | None = None,
) -> None:
    """Build the line port: results and those of units first, of which there is never both.

    Then come the accesses of the adder, which are never beside either.

    Parameters
    ----------
    m : Module
        Where the choice is.
    scratchpad : Scratchpad
        Whose line port it is.
    moved : stream of LINE_WRITE
        What units write.
    result : stream of results
        Bytes behind the requantizer, and their tag.
    has_result : Value
        They are to be written.
    summed : stream of SUM_ACCESS or None
        What the adder reads and writes, if there is one.
    access : stream of LINE_ACCESS
        What else there is, taken when there is nothing of these.
    beside : stream of UNIT_BYTES or None
        Bytes of the depthwise unit's own requantizer, when there is nothing else of these.
    joined : JoinedBeats or None
        What joins beats of results, with a requantizer of 8 lanes.
    whole, is_whole : Value or None
        A line of results of 16 bits, and whether they are so, with a requantizer of 8 lanes.
    """
    tag = data.View(RESULT_TAG, result.payload.tag)
    octets = Value.cast(result.payload.values)
    lanes = len(octets) // 8
    address: Value = tag.address
    if beside is not None:
        address = Mux(beside.valid, beside.payload.address, address)
        octets = Mux(beside.valid, beside.payload.octets, octets)
        has_result |= beside.valid
    # Of results as long as a line: they begin in the middle of one.
    is_odd = tag.address[BYTE_BITS - 1]
    if scratchpad.spans_lines:
        octets = Mux(is_odd, octets.rotate_left(8 * OUTPUT_BYTES), octets)
    with m.If(moved.valid):
        m.d.comb += [
            scratchpad.line_address.eq(moved.payload.line),
            scratchpad.line_write.eq(1),
            scratchpad.line_mask.eq(moved.payload.mask),
        ]
    with m.Elif(has_result):
        m.d.comb += [
            scratchpad.line_address.eq(address[BYTE_BITS:]),
            scratchpad.line_write.eq(1),
        ]
        if scratchpad.spans_lines:
            written = Cat(Const(-1, OUTPUT_BYTES), (~tag.drops_second).replicate(OUTPUT_BYTES))
            m.d.comb += Cat(scratchpad.line_mask, scratchpad.next_mask).eq(
                Mux(is_odd, Cat(Const(0, OUTPUT_BYTES), written), written)
            )
        else:
            first = address[:BYTE_BITS] & (LINE_BYTES - lanes)
            m.d.comb += scratchpad.line_mask.eq(((1 << lanes) - 1) << first)
            if joined is not None:
                with m.If(joined.joins):
                    m.d.comb += scratchpad.line_mask.eq((1 << LINE_BYTES) - 1)
            if is_whole is not None:
                with m.If(is_whole):
                    m.d.comb += scratchpad.line_mask.eq((1 << LINE_BYTES) - 1)
    sums = Const(0) if summed is None else summed.valid
    column = Value.cast(moved.payload.column)
    if summed is not None:
        with m.Elif(sums):
            m.d.comb += [
                scratchpad.line_address.eq(summed.payload.line),
                scratchpad.line_write.eq(summed.payload.is_write),
                scratchpad.line_mask.eq(summed.payload.mask),
            ]
        column = Mux(sums, summed.payload.column, column)
    with m.Else():
        m.d.comb += [
            access.ready.eq(1),
            scratchpad.line_address.eq(access.payload.line),
            scratchpad.line_write.eq(access.valid & access.payload.is_write),
            scratchpad.line_mask.eq(access.payload.mask),
        ]
    line = octets.replicate(LINE_BYTES // lanes)
    if joined is not None:
        line = Mux(joined.joins, Cat(joined.first, octets), line)
    if whole is not None and is_whole is not None:
        line = Mux(is_whole, whole, line)
    # A LUT of six inputs chooses one of four bits.
    has_column = sums | (moved.valid & moved.payload.is_column)
    chosen = Cat(has_result | has_column, moved.valid | sums)
    columns = column.replicate(LINE_BYTES // TILE_ROWS)
    m.d.comb += scratchpad.line_write_data.eq(
        Mux(
            chosen[1],
            Mux(chosen[0], columns, scratchpad.read_data),
            Mux(
                chosen[0],
                line,
                access.payload.data,
            ),
        )
    )
