"""The ranges: every request inside is granted with its address, every other one never."""

import re
from typing import Any

import pytest
from amaranth import ResetInserter, Signal
from amaranth.sim import Simulator, SimulatorContext
from hypothesis import given, settings
from hypothesis import strategies as st

from kiwicha.gateware.engine.memory.protection import ProtectionRanges

LIMIT_CYCLES = 8
PORT_WORDS = 1 << 24
OFFSETS = 1 << 28


def outcome(
    ranges: dict[bool, tuple[int, int]], request: tuple[int, int, bool, bool], client: int
) -> tuple[int, int] | None:
    """Give the range that is granted, or None."""
    dut = ProtectionRanges(clients=4)
    result: list[tuple[int, int] | None] = []

    async def bench(ctx: SimulatorContext) -> None:
        for is_program, (first, words) in ranges.items():
            ctx.set(dut.setting.sets, 1)
            ctx.set(dut.setting.sets_arena, not is_program)
            ctx.set(dut.setting.range, {"address": first, "words": words})
            await ctx.tick()
        ctx.set(dut.setting.sets, 0)
        offset, words, is_program, is_write = request
        fields = {"offset": offset, "words": words, "is_program": is_program, "is_write": is_write}
        ctx.set(dut.requests[client].payload, fields)
        ctx.set(dut.requests[client].valid, 1)
        for number in range(4):
            ctx.set(dut.grants[number].ready, 1)
        for _ in range(LIMIT_CYCLES):
            granted = [ctx.get(dut.grants[number].valid) for number in range(4)]
            refused = ctx.get(dut.is_outside)
            if any(granted) or refused:
                break
            await ctx.tick()
        assert sum(granted) + bool(refused) == 1
        if refused:
            assert refused == 1 << client
            assert not ctx.get(dut.requests[client].ready)
            result.append(None)
            return
        assert granted[client]
        assert ctx.get(dut.requests[client].ready)
        payload = ctx.get(dut.grants[client].payload)
        assert payload.end == (payload.address + payload.words) % PORT_WORDS
        result.append((payload.address, payload.words))

    simulator = Simulator(dut)
    simulator.add_clock(1e-6)
    simulator.add_testbench(bench)
    simulator.run_until(1e-6 * (LIMIT_CYCLES + 8))
    return result[0]


sizes = st.one_of(st.integers(0, 40), st.integers(0, PORT_WORDS - 1))
ranges = st.tuples(sizes, sizes)


@pytest.mark.slow
@settings(max_examples=80, deadline=None)
@given(
    program=ranges,
    arena=ranges,
    is_program=st.booleans(),
    is_write=st.booleans(),
    client=st.integers(0, 3),
    data=st.data(),
)
def test_grants_what_lies_inside(
    program: tuple[int, int],
    arena: tuple[int, int],
    is_program: bool,
    is_write: bool,
    client: int,
    data: st.DataObject,
) -> None:
    first, size = program if is_program else arena
    near = st.integers(max(0, size - 2), min(size + 2, OFFSETS - 1))
    offset = data.draw(st.one_of(near, st.integers(0, OFFSETS - 1), st.integers(0, 3)))
    room = st.integers(max(1, size - offset - 2), max(1, size - offset + 2))
    words = data.draw(st.one_of(room, st.integers(1, OFFSETS - 1)))
    ranges = {True: program, False: arena}
    got = outcome(ranges, (offset, words, is_program, is_write), client)
    is_inside = offset + words <= size and not (is_program and is_write)
    assert got == (((first + offset) % PORT_WORDS, words) if is_inside else None)


@pytest.mark.parametrize("client", [0, 3])
@pytest.mark.parametrize(
    ("is_program", "is_write", "offset", "words", "address"),
    [
        (True, False, 0, 20, 100),
        (True, False, 19, 1, 119),
        (True, False, 19, 2, None),
        (True, True, 0, 1, None),
        (False, False, 0, 30, 500),
        (False, True, 29, 1, 529),
        (False, True, 30, 1, None),
        (False, True, OFFSETS - 1, OFFSETS - 1, None),
    ],
)
def test_each_range_has_its_words(
    client: int, offset: int, words: int, address: int | None, *, is_program: bool, is_write: bool
) -> None:
    ranges = {True: (100, 20), False: (500, 30)}
    got = outcome(ranges, (offset, words, is_program, is_write), client)
    assert got == (None if address is None else (address, words))


def test_a_reset_leaves_ranges_as_they_are() -> None:
    dut, reset = ProtectionRanges(clients=1), Signal()
    granted: list[int] = []

    async def bench(ctx: SimulatorContext) -> None:
        for is_program, first in ((1, 100), (0, 500)):
            ctx.set(dut.setting.sets, 1)
            ctx.set(dut.setting.sets_arena, 1 - is_program)
            ctx.set(dut.setting.range, {"address": first, "words": 9})
            await ctx.tick()
        ctx.set(dut.setting.sets, 0)
        ctx.set(reset, 1)
        await ctx.tick()
        ctx.set(reset, 0)
        for is_program in (1, 0):
            fields = {"offset": 2, "words": 3, "is_program": is_program, "is_write": 0}
            ctx.set(dut.requests[0].payload, fields)
            ctx.set(dut.requests[0].valid, 1)
            ctx.set(dut.grants[0].ready, 1)
            for _ in range(LIMIT_CYCLES):
                if ctx.get(dut.grants[0].valid):
                    granted.append(ctx.get(dut.grants[0].payload.address))
                    await ctx.tick()
                    break
                await ctx.tick()
        ctx.set(dut.requests[0].valid, 0)

    simulator = Simulator(ResetInserter(reset)(dut))
    simulator.add_clock(1e-6)
    simulator.add_testbench(bench)
    simulator.run_until(40e-6)
    assert granted == [102, 502]


@pytest.mark.filterwarnings("ignore::amaranth.hdl.UnusedElaboratable")
def test_one_to_eight_clients() -> None:
    for clients in (1, 8):
        assert len(ProtectionRanges(clients=clients).requests) == clients


@pytest.mark.parametrize("clients", [0, 9, 2.0])
def test_rejects_bad_number_of_clients(clients: Any) -> None:
    message = f"clients must be an integer from 1 to 8, not {clients!r}"
    with pytest.raises(ValueError, match=f"^{re.escape(message)}$"):
        ProtectionRanges(clients=clients)
