"""Benches of the serial line's receiver and transmitter, against their definition."""

import random
from typing import Any

import cocotb
from cocotb.triggers import FallingEdge, ReadOnly

from tests.support.gateware import bench, stream_drivers

__all__ = ["receive", "transmit"]

_FRAME_BITS = 10


def _levels(byte: int, stop: int = 1) -> list[int]:
    """Return start bit, data bits from the least significant, and stop bit."""
    return [0, *(byte >> k & 1 for k in range(8)), stop]


def _wave(values: dict[str, Any], rng: random.Random) -> list[int]:
    """Return the level of the line in every cycle."""
    cycles_per_bit = values["cycles_per_bit"] * values["bit_length"]
    wave: list[int] = []
    end = 0.0

    def hold(level: int, bits: float) -> None:
        nonlocal end
        end += bits * cycles_per_bit
        wave.extend([level] * (round(end) - len(wave)))

    hold(1, 2)
    for position, byte in enumerate(values["bytes"]):
        is_broken = position in values["without_stop"]
        for level in _levels(byte, stop=0 if is_broken else 1):
            hold(level, 1)
        if is_broken:
            # A break: the line stays low for a while.
            hold(0, rng.choice((0, 3, 30)))
            hold(1, 2)
        if rng.random() < values["gaps"]:
            hold(1, 1.5 + 3 * rng.random())
    hold(1, 3)
    return wave


def _with_spikes(wave: list[int], values: dict[str, Any], rng: random.Random) -> list[int]:
    """Return the wave with inverted pieces shorter than the distance of the samples."""
    longest = values["cycles_per_bit"] // 8 - 1
    spoiled = list(wave)
    at = values["cycles_per_bit"]
    while values["spikes"] and at < len(wave):
        for cycle in range(at, min(at + rng.randint(1, longest), len(wave))):
            spoiled[cycle] ^= 1
        # At most one in a bit, and none that makes an edge look later or earlier.
        at += rng.randint(values["cycles_per_bit"], 3 * values["cycles_per_bit"])
    return spoiled


@cocotb.test()
async def receive(dut: Any) -> None:
    """Receive bytes whose bits have another length, with spikes and missing stop bits.

    Parameters: ``cycles_per_bit`` of the receiver, ``bit_length`` of the sender in bits of the
    receiver, ``bytes``, positions ``without_stop``, ``gaps`` (share of pauses after a byte),
    ``spikes``, ``seed``; ``is_exact`` is false if the bytes must not be those that were sent.
    """
    values = bench.parameters()
    rng = random.Random(values["seed"])
    dut.rx.value = 1
    await stream_drivers.reset(dut.clk, dut.rst)
    received: list[int | None] = []
    for level in _with_spikes(_wave(values, rng), values, rng):
        dut.rx.value = level
        await ReadOnly()
        if int(dut.o__valid.value):
            received.append(int(dut.o__payload.value))
        if int(dut.has_error.value):
            received.append(None)
        await FallingEdge(dut.clk)
    expected = [
        None if position in values["without_stop"] else byte
        for position, byte in enumerate(values["bytes"])
    ]
    assert (received == expected) == values["is_exact"], f"{received}, sent {expected}"


@cocotb.test()
async def transmit(dut: Any) -> None:
    """Send bytes with pauses between them; compare the line in every cycle, and when it is free.

    Parameters: ``cycles_per_bit``, ``bytes``, ``stall``, ``seed``.
    """
    values = bench.parameters()
    rng = random.Random(values["seed"])
    items = [{"payload": byte} for byte in values["bytes"]]
    source = stream_drivers.Source(
        dut.i__valid, dut.i__ready, {"payload": dut.i__payload}, items, rng, values["stall"]
    )
    levels: list[int] = []

    class Line:
        def drive(self) -> None:
            pass

        def sample(self, cycle: int) -> None:
            levels.append(int(dut.tx.value))
            # The source comes first: what it gives in this cycle is noted.
            is_busy = any(taken < cycle <= taken + length for taken in source.taken_cycles[-2:])
            assert int(dut.i__ready.value) == (not is_busy), f"cycle {cycle}"

    length = values["cycles_per_bit"] * _FRAME_BITS
    await stream_drivers.reset(dut.clk, dut.rst)
    await stream_drivers.run_until(
        dut.clk,
        [source, Line()],
        lambda: source.is_done and len(levels) > source.taken_cycles[-1] + length,
        limit_cycles=len(items) * length * 4,
    )
    expected = [1] * len(levels)
    for byte, taken in zip(values["bytes"], source.taken_cycles, strict=True):
        sent = [level for level in _levels(byte) for _ in range(values["cycles_per_bit"])]
        # The start bit follows the cycle in which the byte is taken.
        expected[taken + 1 : taken + 1 + length] = sent
    assert levels == expected[: len(levels)]
    # Without stalls a byte is taken in every frame and one cycle.
    if not values["stall"]:
        distances = {
            after - before
            for before, after in zip(source.taken_cycles, source.taken_cycles[1:], strict=False)
        }
        assert distances == {length + 1}, distances
