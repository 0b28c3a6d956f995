"""Benches of the bring-up design's frames and bridge: bytes in, bytes out."""

import random
from typing import Any

import cocotb
from cocotb.triggers import FallingEdge

from tests.support.gateware import bench, stream_drivers

__all__ = ["bridge", "decode", "encode"]


class _Bytes:
    """Offer bytes to a stream that is always ready, with pauses; some are lost as errors."""

    def __init__(self, dut: Any, items: list[int | None], rng: random.Random, stall: float) -> None:
        self.dut, self.items, self.rng, self.stall = dut, items, rng, stall
        self.position = 0

    @property
    def is_done(self) -> bool:
        return self.position == len(self.items)

    def drive(self) -> None:
        offers = not self.is_done and self.rng.random() >= self.stall
        item = self.items[self.position] if offers else self.rng.getrandbits(8)
        self.dut.i__valid.value = int(offers and item is not None)
        self.dut.has_error.value = int(offers and item is None)
        self.dut.i__payload.value = item or 0
        self.position += offers

    def sample(self, cycle: int) -> None:
        pass


@cocotb.test()
async def decode(dut: Any) -> None:
    """Decode bytes; compare the bodies of all good frames.

    Parameters: ``bytes`` (null is a lost one), ``bodies``, ``stall``, ``seed``.
    """
    values = bench.parameters()
    source = _Bytes(dut, values["bytes"], random.Random(values["seed"]), values["stall"])
    bodies: list[list[int]] = []
    body: list[int] = []

    class Watch:
        def drive(self) -> None:
            pass

        def sample(self, cycle: int) -> None:
            nonlocal body
            if int(dut.o__valid.value):
                body.append(int(dut.o__payload.value))
            if int(dut.is_end.value):
                if int(dut.is_good.value):
                    bodies.append(body[:-4])
                body = []

    await stream_drivers.reset(dut.clk, dut.rst)
    limit = int(100 + 2 * len(values["bytes"]) / (1 - values["stall"]))
    await stream_drivers.run_until(
        dut.clk, [source, Watch()], lambda: source.is_done, limit_cycles=limit
    )
    assert bodies == values["bodies"]


@cocotb.test()
async def encode(dut: Any) -> None:
    """Send bodies one after the other; compare the frames.

    Parameters: ``bodies``, ``frames``, ``stall`` on both sides, ``seed``.
    """
    values = bench.parameters()
    rng = random.Random(values["seed"])
    items = [
        {"payload": byte | (position == len(body) - 1) << 8}
        for body in values["bodies"]
        for position, byte in enumerate(body)
    ]
    source = stream_drivers.Source(
        dut.i__valid, dut.i__ready, {"payload": dut.i__payload}, items, rng, values["stall"]
    )
    sink = stream_drivers.Sink(dut.o__valid, dut.o__ready, dut.o__payload, rng, values["stall"])
    frames = [byte for frame in values["frames"] for byte in frame]
    await stream_drivers.reset(dut.clk, dut.rst)
    await stream_drivers.run_until(
        dut.clk,
        [source, sink],
        lambda: source.is_done and len(sink.taken) >= len(frames),
        limit_cycles=int(100 + 12 * len(frames) / (1 - values["stall"])),
    )
    assert sink.taken == frames


class _Unit:
    """Stand for a custom function unit: answers are the sum of what it got, after some cycles.

    A function id of 1023 has no answer.
    """

    def __init__(self, dut: Any, rng: random.Random, stall: float) -> None:
        self.dut, self.rng, self.stall = dut, rng, stall
        self.waiting: list[int] = []
        self.taken_cycles: list[int] = []
        self.resets = 0

    def drive(self) -> None:
        self.dut.commands__ready.value = int(self.rng.random() >= self.stall)
        self.dut.responses__valid.value = int(bool(self.waiting))
        self.dut.responses__payload.value = self.waiting[0] if self.waiting else 0

    def sample(self, cycle: int) -> None:
        dut = self.dut
        self.resets += int(dut.resets.value)
        if int(dut.responses__valid.value) and int(dut.responses__ready.value):
            self.waiting.pop(0)
        if int(dut.commands__valid.value) and int(dut.commands__ready.value):
            word = int(dut.commands__payload.value)
            function_id, a, b = word & 0x3FF, word >> 10 & 0xFFFF_FFFF, word >> 42
            self.taken_cycles.append(cycle)
            if function_id != 1023:
                self.waiting.append((function_id + a + b) & 0xFFFF_FFFF)


@cocotb.test()
async def bridge(dut: Any) -> None:
    """Send bytes request by request; compare the bytes that are answered.

    Parameters: ``exchanges``, pairs of bytes in (null is a lost one) and bytes out; ``stall`` of
    the unit and of the line out; ``executed``, the instructions that may reach the unit, and
    ``resets``; ``lamps`` at the end; ``seed``.
    """
    values = bench.parameters()
    rng = random.Random(values["seed"])
    unit = _Unit(dut, rng, values["stall"])
    sink = stream_drivers.Sink(dut.o__valid, dut.o__ready, dut.o__payload, rng, values["stall"])
    await stream_drivers.reset(dut.clk, dut.rst)
    for number, (sent, answered) in enumerate(values["exchanges"]):
        source = _Bytes(dut, sent, rng, 0.3)
        sink.taken.clear()
        # An instruction without an answer takes its time; silence is waited for as well.
        idle = 0

        def is_over(source: _Bytes = source, answered: list[int] = answered) -> bool:
            nonlocal idle
            idle = idle + 1 if source.is_done else 0
            enough = len(sink.taken) >= len(answered) and idle > 30
            return enough and (bool(answered) or idle > 1500)

        await stream_drivers.run_until(dut.clk, [source, sink, unit], is_over, limit_cycles=20_000)
        assert sink.taken == answered, f"exchange {number}"
        await FallingEdge(dut.clk)
    assert len(unit.taken_cycles) == values["executed"]
    assert unit.resets == values["resets"]
    assert int(dut.lamps.value) == values["lamps"]
    if values["stall"] == 0:
        pauses = sum(
            after != before + 1
            for before, after in zip(unit.taken_cycles, unit.taken_cycles[1:], strict=False)
        )
        assert pauses == values["bursts"] - 1, "one instruction per cycle"
