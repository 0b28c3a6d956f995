"""Lists of transfers alone: those that convert between float32 and int8, and those of any bytes."""

import numpy as np
from numpy.typing import NDArray

from kiwicha.contract.engine import LINE_BYTES, TRANSFER_FLAG, EngineTransfer, TransferFlag
from kiwicha.errors import SimulationError
from kiwicha.numerics.float_edges import dequantized
from kiwicha.program.float_tables import quantize_table
from tests.gateware.engine.campaign import Outcome, Round
from tests.gateware.engine.float_numbers import (
    EDGES,
    dequantize_table,
    numbers_near,
    quantized_bits,
)

__all__ = [
    "TransferList",
    "dequantizing",
    "dequantizing_lists",
    "moving_lists",
    "quantizing",
    "quantizing_lists",
    "whole_lists",
]

_SIZE = 4096
_LISTS = 8
_UNLIMITED_CYCLES = 1_000_000


class TransferList:
    """A list of transfers and no jobs, with what it must leave in the arena.

    Parameters
    ----------
    arena : bytearray
        What is there before.
    """

    def __init__(self, arena: bytearray) -> None:
        self.arena, self.expected = arena, bytearray(arena)
        self._transfers: list[EngineTransfer] = []
        self._tables: list[bytes] = []

    def table(self, raw: bytes) -> None:
        """Add a table."""
        place = sum(map(len, self._tables))
        self._tables.append(raw)
        self._transfers.append(EngineTransfer(place, 0, len(raw), 0, TransferFlag.TABLE))

    def add(self, offset: int, address: int, size: int, *, is_store: bool, flags: int = 0) -> None:
        """Add a transfer of some bytes of DRAM."""
        count = size | (TRANSFER_FLAG if is_store else 0)
        self._transfers.append(EngineTransfer(offset, address, count, 0, flags))

    def expect(self, offset: int, values: NDArray[np.generic]) -> None:
        """Note what must be in the arena."""
        raw = values.tobytes()
        self.expected[offset : offset + len(raw)] = raw

    def round(self, watchdog_cycles: int = _UNLIMITED_CYCLES) -> Round:
        """Return the list."""
        head = LINE_BYTES * len(self._transfers)
        packed = b"".join(
            EngineTransfer(
                item.dram_offset + (head | TRANSFER_FLAG)
                if item.flags == TransferFlag.TABLE
                else item.dram_offset,
                *(item.scratchpad_address, item.bytes, item.wait_jobs, item.flags),
            ).pack()
            for item in self._transfers
        )
        image = packed + b"".join(self._tables)
        return Round(image, bytes(self.arena), len(self._transfers) << 16, watchdog_cycles)

    @property
    def given(self) -> Round:
        """The list, with a watchdog that never stops it."""
        return self.round()

    def check(self, outcome: Outcome, name: str) -> None:
        """Compare what the list left.

        Raises
        ------
        SimulationError
            If something differs.
        """
        if outcome.status:
            raise SimulationError(f"{name} of transfers: {outcome.status:#x}, not 0")
        got, wanted = (np.frombuffer(raw, np.uint8) for raw in (outcome.arena, self.expected))
        wrong = np.flatnonzero(got != wanted)
        if len(wrong):
            raise SimulationError(f"{name}: {len(wrong)} bytes from {wrong[0]} differ")


def quantizing(
    scale: float, zero_point: int, bits: NDArray[np.uint32], *, address: int = LINE_BYTES
) -> TransferList:
    """Return a list that quantizes numbers at the start of the arena, and stores them behind.

    In between they lie at an address of the scratchpad.
    """
    table = quantize_table(scale, zero_point)
    assert table is not None
    made = TransferList(bytearray(bits.tobytes() + bytes(max(_SIZE, len(bits)))))
    made.table(table)
    made.add(0, address, bits.nbytes, is_store=False, flags=TransferFlag.FLOAT)
    made.add(bits.nbytes, address, len(bits), is_store=True)
    made.expect(bits.nbytes, quantized_bits(bits, scale, zero_point))
    return made


def dequantizing(
    scale: float, zero_point: int, values: NDArray[np.int8], *, address: int = LINE_BYTES
) -> TransferList:
    """Return a list that loads bytes from the start of the arena, and stores numbers behind.

    In between they lie at an address of the scratchpad.
    """
    made = TransferList(bytearray(values.tobytes() + bytes(max(5 * _SIZE, 4 * len(values)))))
    made.table(dequantize_table(scale, zero_point))
    made.add(0, address, len(values), is_store=False)
    made.add(len(values), address, 4 * len(values), is_store=True, flags=TransferFlag.FLOAT)
    made.expect(len(values), dequantized(values, scale, zero_point))
    return made


def quantizing_lists() -> list[TransferList]:
    """Return lists of all edges: all thresholds, and some of them."""
    made = []
    for seed, (scale, zero_point) in enumerate(EDGES):
        bits = numbers_near(scale, zero_point, np.random.default_rng(seed))
        made.append(quantizing(scale, zero_point, bits))
        made.append(quantizing(scale, zero_point, bits[: 16 * (seed + 1)]))
    return made


def dequantizing_lists() -> list[TransferList]:
    """Return lists of all edges: every byte, and numbers of bytes that are no power of two."""
    rng = np.random.default_rng(7)
    made = []
    for scale, zero_point in EDGES:
        for count in (16, 256, 16 * int(rng.integers(1, 200))):
            values = np.resize(np.arange(256), count).astype(np.uint8).view(np.int8)
            made.append(dequantizing(scale, zero_point, rng.permutation(values)))
    return made


def whole_lists(scratchpad_bytes: int) -> list[TransferList]:
    """Return lists that fill a scratchpad with quantized numbers, and that dequantize all of it."""
    rng = np.random.default_rng(22)
    bits = rng.normal(0, 9, scratchpad_bytes).astype(np.float32).view(np.uint32)
    values = rng.integers(-128, 128, scratchpad_bytes).astype(np.int8)
    return [quantizing(0.1, 3, bits, address=0), dequantizing(0.1, 3, values, address=0)]


def moving_lists() -> list[TransferList]:
    """Return lists of loads and stores that begin and end anywhere in a line."""
    rng = np.random.default_rng(20)
    ends = rng.permutation(LINE_BYTES**2)
    made = []
    for part in np.split(ends, _LISTS):
        memory = np.zeros(_SIZE, np.uint8)
        arena = rng.integers(256, size=3 * _SIZE, dtype=np.uint8)
        item = TransferList(bytearray(arena.tobytes()))
        item.add(0, 0, _SIZE, is_store=False)
        memory[:] = arena[:_SIZE]
        for first, last in (divmod(int(number), LINE_BYTES) for number in part):
            for is_store in (False, True):
                size = (last - first) % LINE_BYTES + LINE_BYTES * int(rng.integers(4))
                size += 0 if size else LINE_BYTES
                place, address = (
                    first + LINE_BYTES * int(rng.integers((_SIZE - 80) // LINE_BYTES))
                    for _ in range(2)
                )
                place += _SIZE * is_store
                item.add(place, address, size, is_store=is_store)
                if is_store:
                    arena[place : place + size] = memory[address : address + size]
                else:
                    memory[address : address + size] = arena[place : place + size]
        # What was stored before stays to be seen.
        item.add(2 * _SIZE, 0, _SIZE, is_store=True)
        arena[2 * _SIZE :] = memory
        item.expect(0, arena)
        made.append(item)
    return made
