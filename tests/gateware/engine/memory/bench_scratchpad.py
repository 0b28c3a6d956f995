"""Bench of the scratchpad against an array of bytes."""

import random
from typing import Any

import cocotb
import numpy as np
from cocotb.triggers import FallingEdge

from kiwicha.contract.engine import LINE_BYTES
from kiwicha.contract.latencies import LINE_READ_CYCLES, SCRATCHPAD_READ_CYCLES
from kiwicha.gateware.engine.memory.interfaces import LineSource
from tests.support.gateware import bench, stream_drivers

__all__ = ["random_accesses"]


_OTHERS = (LineSource.LOADED, LineSource.CONVERTED)


def _bytes(memory: Any, first: int) -> int:
    """Return 16 bytes as a word; addresses wrap at a power of two."""
    octets = np.take(memory, range(first, first + LINE_BYTES), mode="wrap")
    return int.from_bytes(octets.tobytes(), "little")


def _change(memory: Any, line: int, mask: int, data: int) -> None:
    """Do what a write does to a line."""
    for k in range(LINE_BYTES):
        if mask >> k & 1:
            memory[line * LINE_BYTES + k] = data >> 8 * k & 0xFF


class _Shown:
    """What is shown instead of a line, often; it has no effect on what banks give."""

    def __init__(self, dut: Any, rng: random.Random) -> None:
        self._dut, self._rng = dut, rng
        self.source = LineSource.MEMORY
        self._due: dict[int, int] = {}

    def step(self, cycle: int) -> None:
        """Compare what was chosen two cycles ago, give what was a cycle ago, and choose."""
        dut, rng = self._dut, self._rng
        if cycle in self._due:
            got, expected = int(dut.line_read_data.value), self._due.pop(cycle)
            assert got == expected, f"cycle {cycle}: {got:#x} is shown, not {expected:#x}"
        given = {other: rng.getrandbits(8 * LINE_BYTES) for other in _OTHERS}
        dut.others__loaded.value = given[LineSource.LOADED]
        dut.others__converted.value = given[LineSource.CONVERTED]
        if self.source in given:
            self._due[cycle + 1] = given[self.source]
        self.source = rng.choice([LineSource.MEMORY, *LineSource])
        dut.others__source.value = self.source.value


def _check_bank(dut: Any, line: int, expected: int | None) -> None:
    """Compare the line that its bank gives."""
    bits = 8 * LINE_BYTES
    got = int(dut.bank_lines.value) >> bits * (line % 2) & ((1 << bits) - 1)
    is_inside = line * LINE_BYTES < bench.parameters()["size_bytes"]
    assert expected in {None, got} or not is_inside, f"line {line}: its bank gives {got:#x}"


@cocotb.test()
async def random_accesses(dut: Any) -> None:
    """Use all ports in every cycle, often in the same lines, and compare what they read."""
    values = bench.parameters()
    rng = random.Random(values["seed"])
    base, size = 0, values["size_bytes"]
    memory = np.zeros(1 << (size - 1).bit_length(), np.uint8)
    dut.line_write.value = 0
    await stream_drivers.reset(dut.clk, dut.rst)
    ports = ("read", "second") if values["has_second"] else ("read",)
    unaligned: dict[str, dict[int, tuple[int, int]]] = {port: {} for port in ports}
    lines: dict[int, tuple[int, int]] = {}
    banks: dict[int, tuple[int, int | None]] = {}
    shown = _Shown(dut, rng)
    previous: dict[str, int] = {}
    for cycle in range(values["count"]):
        for port, address in previous.items():
            # The access to the memory is one cycle after the address, as it is before the write.
            found = address, _bytes(memory, address)
            unaligned[port][cycle - 1 + SCRATCHPAD_READ_CYCLES] = found
        reads = [(f"{port}_data", unaligned[port]) for port in ports]
        for name, due in (*reads, ("line_read_data", lines)):
            if cycle in due:
                got, (first, expected) = int(getattr(dut, name).value), due[cycle]
                # Bytes behind the size are unspecified.
                count = LINE_BYTES if size == len(memory) else max(0, min(LINE_BYTES, size - first))
                known = (1 << 8 * count) - 1
                assert got & known == expected & known, (
                    f"cycle {cycle}: {name} {got:#x}, not {expected:#x}, from byte {first}"
                )
        _check_bank(dut, *banks.pop(cycle, (0, None)))
        shown.step(cycle)
        if cycle % 64 == 0:
            base = rng.choice((0, size - 64, rng.randrange(size)))
        line = (base + rng.randrange(128)) % len(memory) // LINE_BYTES
        is_write = rng.random() < 0.6
        mask = rng.choice((0xFFFF, 0, 1 << rng.randrange(16), rng.getrandbits(16)))
        data = rng.getrandbits(8 * LINE_BYTES)
        for port in ports:
            previous[port] = (base + rng.randrange(128)) % len(memory)
            getattr(dut, f"{port}_address").value = previous[port]
        dut.line_address.value = line
        dut.line_write.value = int(is_write)
        dut.line_mask.value = mask
        dut.line_write_data.value = data
        next_mask = 0
        if values["spans_lines"]:
            # The line behind the last one is no line.
            has_next = (line + 1) * LINE_BYTES < size
            next_mask = rng.choice((0, rng.getrandbits(16))) if has_next else 0
            dut.next_mask.value = next_mask
        if not is_write:
            found = line * LINE_BYTES, _bytes(memory, line * LINE_BYTES)
            banks[cycle + 1] = line, found[1]
            if shown.source == LineSource.MEMORY:
                lines[cycle + LINE_READ_CYCLES] = found
        else:
            _change(memory, line, mask, data)
            _change(memory, line + 1, next_mask, data)
        await FallingEdge(dut.clk)
    assert np.count_nonzero(memory) > 0
