"""Bench of the weight buffer of 64 MACs with tables: lookups, and tables that are passed on."""

import random
from typing import Any

import cocotb
from cocotb.triggers import FallingEdge, ReadOnly

from kiwicha.contract.codec import BEAT_BYTES
from kiwicha.contract.engine import TABLE_ENTRIES
from kiwicha.contract.latencies import WEIGHT_READ_CYCLES
from kiwicha.gateware.engine.array.interfaces import LANES, OPERAND_BITS
from kiwicha.gateware.engine.fused.interfaces import TABLE_WRITE
from kiwicha.gateware.engine.weights.interfaces import FIELDS, FillSignature
from tests.support.gateware import bench, stream_drivers
from tests.support.gateware.engine_fields import pack, signed_fields

__all__ = ["tables"]

_ENTRY_BYTES = 8
"""Both int32 of an index, and as many as the array has outputs."""
_WORD_BYTES = LANES * _ENTRY_BYTES
_MOST_WORDS = TABLE_ENTRIES * _ENTRY_BYTES // _WORD_BYTES
_LOOKUPS = 40
_COMMAND = (
    FillSignature(outputs=_ENTRY_BYTES).members["commands"].signature.members["payload"].shape
)
_MOST_BLOCKS = 4
_MOST_CYCLES = 20
_WAIT_CYCLES = 5
_FUSED_SHARE = 0.4


class _Tables:
    """Fills of tables, and what is seen of them beside."""

    def __init__(self, dut: Any, values: dict[str, Any]) -> None:
        self.dut, self.values = dut, values
        self.rng = random.Random(values["seed"])
        self.writes: list[tuple[int, int]] = []
        """Index and data of each entry that was passed on."""
        self.ended = 0
        """Number of entries that were passed on when the last table ended."""
        self.ends = 0

    async def step(self, ready: Any = None) -> bool:
        """Let a cycle pass; return whether it is one in which what is offered is taken."""
        dut = self.dut
        await ReadOnly()
        is_taken = ready is not None and bool(ready.value)
        if int(dut.table_writes__valid.value):
            payload = int(dut.table_writes__payload.value)
            got = {
                name: payload >> part.offset & ((1 << part.width) - 1) for name, part in TABLE_WRITE
            }
            assert (got["is_first"], got["is_second"]) == (1, 1)
            self.writes.append((got["index"], got["data"]))
        if int(dut.ends_table.value):
            self.ends, self.ended = self.ends + 1, len(self.writes)
        await FallingEdge(dut.clk)
        return is_taken

    async def begin(self, blocks: int, words: int, *, is_fused: bool) -> None:
        """Send a command."""
        dut = self.dut
        dut.fill__commands__payload.value = self._command(blocks, words, is_fused=is_fused)
        dut.fill__commands__valid.value = 1
        await self._taken(dut.fill__commands__ready)
        dut.fill__commands__valid.value = 0
        assert not int(dut.fill__is_idle.value)

    async def fill(self, beats: list[int]) -> None:
        """Send beats."""
        dut = self.dut
        for beat in beats:
            dut.fill__beats__valid.value = 0
            dut.fill__beats__payload.value = self.rng.getrandbits(8 * BEAT_BYTES)
            while self.rng.random() < self.values["stall"]:
                await self.step()
            dut.fill__beats__payload.value = beat
            dut.fill__parameters.value = beat
            dut.fill__beats__valid.value = 1
            await self._taken(dut.fill__beats__ready)
        dut.fill__beats__valid.value = 0

    async def _taken(self, ready: Any) -> None:
        """Wait until what is offered is taken."""
        for _ in range(_MOST_CYCLES):
            if await self.step(ready):
                return
        raise AssertionError("what is offered must be taken")

    async def wait_for_tables(self, words: int, blocks: int) -> None:
        """See that other tables wait until those that were passed on are taken."""
        dut = self.dut
        dut.fill__commands__payload.value = self._command(blocks, words, is_fused=True)
        dut.fill__commands__valid.value = 1
        for _ in range(_WAIT_CYCLES):
            assert int(dut.has_table.value)
            assert not await self.step(dut.fill__commands__ready)
        dut.fill__commands__valid.value = 0
        dut.take_table.value = 1
        await self.step()
        dut.take_table.value = 0
        assert not int(dut.has_table.value)

    def check_writes(self, octets: bytes) -> None:
        """Compare entries that were passed on; each comes twice in its data."""
        entries = [octets[k : k + _ENTRY_BYTES] for k in range(0, len(octets), _ENTRY_BYTES)]
        wanted = [
            (index, int.from_bytes(2 * entry, "little")) for index, entry in enumerate(entries)
        ]
        assert self.writes == wanted
        assert self.ends == (1 if octets else 0)
        assert not octets or (self.ended == len(wanted) and int(self.dut.has_table.value))
        self.ends = 0

    @staticmethod
    def _command(blocks: int, words: int, *, is_fused: bool) -> int:
        """Return the payload of a command."""
        payload = 0
        given = {"blocks": blocks, "words": words, "is_fused": is_fused}
        for name, part in _COMMAND:
            payload |= int(given.get(name, 0)) << part.offset
        return payload

    def reduced(self, octets: bytes) -> list[int]:
        """Return weights of bytes."""
        low = 0 if self.values["is_unsigned"] else 128
        return [((octet + low) % 256) - low - self.values["zero_point"] for octet in octets]


async def _look_up(tables: _Tables, octets: bytes) -> None:
    """Read entries, a different one for each lane, and words of the same table beside."""
    dut, rng = tables.dut, tables.rng
    count = len(octets) // _ENTRY_BYTES
    is_lookup = rng.randrange(2)
    dut.is_lookup.value = is_lookup
    due: list[list[int]] = []
    for number in range(_LOOKUPS):
        entries, index = [rng.randrange(count) for _ in range(LANES)], rng.randrange(count)
        dut.entries.value, dut.index.value = pack(entries, 8), index
        chosen = entries if is_lookup else LANES * [index]
        rows = [octets[entry * _ENTRY_BYTES :][:_ENTRY_BYTES] for entry in chosen]
        due.append(tables.reduced(b"".join(rows)))
        await ReadOnly()
        if number >= WEIGHT_READ_CYCLES:
            got = signed_fields(int(dut.weights.value), OPERAND_BITS, LANES * _ENTRY_BYTES)
            assert got == due[number - WEIGHT_READ_CYCLES], f"lookup {number}"
        await FallingEdge(dut.clk)


@cocotb.test()
async def tables(dut: Any) -> None:
    """Fill tables and look them up, between fills of tables that are passed on."""
    values = bench.parameters()
    filled = _Tables(dut, values)
    rng = filled.rng
    dut.fill__zero_point.value = values["zero_point"] & 0x1FF
    dut.fill__is_unsigned.value = int(values["is_unsigned"])
    dut.fill__is_table.value = 1
    for name in ("is_skewed", "is_lookup", "release", "take", "take_table"):
        getattr(dut, name).value = 0
    dut.fill__commands__valid.value = dut.fill__beats__valid.value = 0
    await stream_drivers.reset(dut.clk, dut.rst)
    looked_up = 0
    for number in range(values["count"]):
        is_fused = rng.random() < _FUSED_SHARE
        words = _MOST_WORDS if number < 2 else rng.randint(1, _MOST_WORDS)
        blocks = rng.randint(0, _MOST_BLOCKS)
        octets = rng.randbytes(words * _WORD_BYTES)
        beats = [rng.getrandbits(8 * BEAT_BYTES) for _ in range(FIELDS * blocks)]
        beats += [
            int.from_bytes(octets[k : k + BEAT_BYTES], "little")
            for k in range(0, len(octets), BEAT_BYTES)
        ]
        if is_fused and int(dut.has_table.value):
            await filled.wait_for_tables(words, blocks)
        filled.writes.clear()
        await filled.begin(blocks, words, is_fused=is_fused)
        await filled.fill(beats)
        for _ in range(3):
            await filled.step()
        assert int(dut.fill__is_idle.value)
        filled.check_writes(octets if is_fused else b"")
        assert int(dut.is_available.value) == (not is_fused)
        if not is_fused:
            assert int(dut.bank.value) == looked_up % 2
            await _look_up(filled, octets)
            dut.release.value = dut.take.value = 1
            await filled.step()
            dut.release.value = dut.take.value = 0
            looked_up += 1
    assert 0 < looked_up < values["count"]
