"""Sums behind convolutions: every byte, how many cycles they take, and which tables they are by."""

import functools
from collections.abc import Iterator, Sequence

import numpy as np
import pytest
from amaranth.sim import SimulatorContext
from numpy.typing import NDArray

from kiwicha.contract.engine import (
    FUSED_BITS,
    FUSED_FRACTION_BITS,
    LINE_BYTES,
    OUTPUT_BYTES,
    TABLE_ENTRIES,
    outputs_of,
)
from kiwicha.contract.latencies import FUSED_BEAT_CYCLES, FUSED_SUM_CYCLES
from kiwicha.gateware.engine.fused.fused_adder import FusedAdder
from tests.support.gateware.unit_simulation import UnitSimulation

SIZE = 1024
ENGINES = [(64, 8), (32, 4), (256, 16)]
_OTHER_LINE = int.from_bytes(bytes(range(LINE_BYTES)), "little")
Ints = NDArray[np.int64]
Beats = Sequence[tuple[int, int, bool]]
"""Cycles after the one before, address, and whether only the first 8 bytes count."""


@functools.cache
def adder(macs: int, lanes: int) -> UnitSimulation[FusedAdder]:
    return UnitSimulation(FusedAdder(macs=macs, lanes=lanes, scratchpad_bytes=SIZE))


def table_writes(macs: int, tables: Ints) -> Iterator[dict[str, int]]:
    """Yield the writes of two tables [2, 256], as the weight memory gives them."""
    raw = (tables & 0xFFFF_FFFF).T.reshape(-1)
    values = min(max(outputs_of(macs) // 4, 1), 4)
    for number, first in enumerate(range(0, len(raw), values)):
        data = sum(int(value) << 32 * k for k, value in enumerate(raw[first : first + values]))
        is_single = values == 1
        yield {
            "is_first": int(not is_single or number % 2 == 0),
            "is_second": int(not is_single or number % 2 == 1),
            "index": number // 2 if is_single else number,
            "data": data,
        }


class Run:
    """Beats that are written and become sums, in a memory beside the component."""

    def __init__(self, macs: int, lanes: int, memory: NDArray[np.uint8], offset: int) -> None:
        self.macs, self.lanes, self.offset = macs, lanes, offset
        self.simulation = adder(macs, lanes)
        self.memory = memory.copy()
        self.busy_cycles = 0

    def sums(self, tables: Sequence[Ints], beats: Beats) -> None:
        """Fill and take tables, one after the other; then write beats until all have sums."""
        dut = self.simulation.component

        async def bench(ctx: SimulatorContext) -> None:
            ctx.set(dut.offset, self.offset)
            for table in tables:
                ctx.set(dut.table_writes.valid, 1)
                for write in table_writes(self.macs, table):
                    for name, value in write.items():
                        ctx.set(dut.table_writes.payload[name], value)
                    await ctx.tick()
                ctx.set(dut.table_writes.valid, 0)
                ctx.set(dut.ends_table, 1)
                await ctx.tick()
                ctx.set(dut.ends_table, 0)
                ctx.set(dut.turns_table, 1)
                await ctx.tick()
                ctx.set(dut.turns_table, 0)
            await self._pass(ctx, dut, beats)

        self.simulation.run(bench)

    async def _pass(self, ctx: SimulatorContext, dut: FusedAdder, beats: Beats) -> None:
        due = np.cumsum([distance for distance, _, _ in beats]).tolist()
        cycle = 0
        reads: dict[int, dict[int, int]] = {}
        while (due and cycle <= due[-1]) or ctx.get(dut.is_busy):
            number = due.index(cycle) if cycle in due else None
            ctx.set(dut.comes, int(cycle + 1 in due))
            ctx.set(dut.beats.valid, int(number is not None))
            ctx.set(dut.taken, int(number is not None))
            if number is not None:
                ctx.set(dut.beats.payload.address, beats[number][1])
                ctx.set(dut.beats.payload.is_half, int(beats[number][2]))
            # The other bank gives some other line.
            shown = reads.pop(cycle, {})
            for bank in range(2):
                ctx.set(dut.bank_lines[bank], shown.get(bank, _OTHER_LINE))
            if ctx.get(dut.accesses.valid):
                assert number is None, "an access is beside a beat"
                self._access(ctx, dut, reads, cycle)
            await ctx.tick()
            cycle += 1
            self.busy_cycles += int(ctx.get(dut.is_busy))
            assert cycle < 10_000

    def _access(
        self, ctx: SimulatorContext, dut: FusedAdder, reads: dict[int, dict[int, int]], cycle: int
    ) -> None:
        access = dut.accesses.payload
        number = ctx.get(access.line)
        first = LINE_BYTES * number
        if not ctx.get(access.is_write):
            line = self.memory[first : first + LINE_BYTES].tobytes()
            reads[cycle + 1] = {number % 2: int.from_bytes(line, "little")}
            return
        mask, column = ctx.get(access.mask), ctx.get(access.column)
        for byte in range(LINE_BYTES):
            if mask >> byte & 1:
                self.memory[first + byte] = column >> 8 * (byte % 4) & 0xFF


def random_tables(rng: np.random.Generator, *, is_any: bool) -> Ints:
    """Return tables of any terms, or of scaled bytes."""
    if is_any:
        limit = 1 << (FUSED_BITS - 2)
        return rng.integers(-limit, limit, (2, TABLE_ENTRIES))
    octets = np.arange(TABLE_ENTRIES, dtype=np.uint8).view(np.int8)
    scales = rng.uniform(0.3, 0.9, (2, 1)) * (1 << FUSED_FRACTION_BITS)
    return np.rint(octets * scales).astype(np.int64)


def expected(
    memory: NDArray[np.uint8], offset: int, lanes: int, tables: Ints, beats: Beats
) -> NDArray[np.uint8]:
    found = memory.copy()
    for _, address, is_half in beats:
        places = address + np.arange(OUTPUT_BYTES if is_half else lanes)
        totals = tables[0][memory[places]] + tables[1][memory[(places + offset) % SIZE]]
        results = (totals >> FUSED_FRACTION_BITS).clip(-128, 127)
        found[places] = results.astype(np.int8).view(np.uint8)
    return found


@pytest.mark.parametrize(("macs", "lanes"), ENGINES)
@pytest.mark.parametrize("seed", range(3))
def test_adds_a_second_tensor(macs: int, lanes: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    memory = rng.integers(0, 256, SIZE).astype(np.uint8)
    tables = [random_tables(rng, is_any=bool(k)) for k in rng.permutation(2)]
    unit = min(lanes, OUTPUT_BYTES)
    cycles = FUSED_BEAT_CYCLES * (lanes // unit)
    starts = rng.permutation(SIZE // 2 // lanes) * lanes
    # Two at a time now and then, as long as they are far apart on average.
    distances = [int(rng.choice((cycles, cycles + 1, cycles + 7, 30))) for _ in starts]
    for number in range(1, len(distances), 5):
        distances[number : number + 1] = [2]
        distances[number - 1] += cycles
    halves = [lanes > OUTPUT_BYTES and bool(rng.integers(2)) for _ in starts]
    beats = list(zip(distances, (int(start) for start in starts), halves, strict=True))
    # From any unit on, around the end of the memory as well.
    offset = SIZE // 2 if seed else -SIZE // 2
    run = Run(macs, lanes, memory, offset % (1 << 18))
    run.sums(tables, beats)
    # Those that were filled last count.
    np.testing.assert_array_equal(run.memory, expected(memory, offset, lanes, tables[-1], beats))


@pytest.mark.parametrize(("macs", "lanes"), ENGINES)
@pytest.mark.parametrize("count", [1, 40])
def test_takes_so_many_cycles(macs: int, lanes: int, count: int) -> None:
    rng = np.random.default_rng(0)
    memory = rng.integers(0, 256, SIZE).astype(np.uint8)
    tables = random_tables(rng, is_any=False)
    parts = max(lanes // OUTPUT_BYTES, 1)
    cycles = FUSED_BEAT_CYCLES * parts
    addresses = [lanes * (number % (SIZE // 2 // lanes)) for number in range(min(count, 32))]
    beats = [(cycles, address, False) for address in addresses]
    run = Run(macs, lanes, memory, SIZE // 2)
    run.sums([tables], beats)
    np.testing.assert_array_equal(run.memory, expected(memory, SIZE // 2, lanes, tables, beats))
    last = FUSED_SUM_CYCLES - (4 if lanes == 4 else 0)
    alone = last + (parts - 1) * FUSED_BEAT_CYCLES
    if count == 1:
        assert run.busy_cycles == alone
    else:
        waits = run.busy_cycles - (len(beats) - 1) * cycles - alone
        assert 0 <= waits <= 6
