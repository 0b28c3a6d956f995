"""Bench of the decompressor against the reference decoder's input and output."""

import random
from dataclasses import dataclass
from typing import Any

import cocotb
import numpy as np
from cocotb.triggers import FallingEdge

from kiwicha.compiler.engine.cost.job_work import decoder_cycles
from kiwicha.contract.codec import BEAT_BYTES
from kiwicha.contract.latencies import DECODER_GROUP_CYCLES, DECODER_STREAM_CYCLES
from kiwicha.gateware.engine.weights.interfaces import BEAT_COUNT_BITS
from kiwicha.program.codec import streams as codec
from kiwicha.program.codec.streams import Shape
from tests.support.gateware import bench, stream_drivers

__all__ = ["bad_streams", "streams", "throughput"]

# A coded beat has at most 16 * 12 bits, of which 32 come per cycle.
_BEAT_CYCLES = 6
_LEAST_SHARE = 0.9
"""Of the predicted cycles, that a stream takes."""
_UNIFORM = 1000.0
_BEAT_BITS = 8 * BEAT_BYTES
_SPREADS = (0.0, 0.3, 2.0, 12.0, 40.0, _UNIFORM)


@dataclass(frozen=True)
class _Job:
    """A stream, as it is stored, announced and to be decoded."""

    shape: Shape
    raw: bytes
    stored: bytes
    is_coded: bool = True
    words_more: int = 0
    """Less than 0 if the stream ends before it should."""

    @property
    def words(self) -> int:
        return len(self.stored) // BEAT_BYTES + self.words_more

    @property
    def plain_beats(self) -> int:
        return self.shape.head + (0 if self.is_coded else self.shape.body)

    @property
    def coded_beats(self) -> int:
        return self.shape.body if self.is_coded else 0

    def groups(self) -> list[dict[str, int]]:
        """Return the payloads of the groups."""
        payloads = []
        for number in range(self.shape.groups):
            is_first, is_last = number == 0, number == self.shape.groups - 1
            flags = self.is_coded | (not self.words) << 1 | is_first << 2 | is_last << 3
            counts = self.shape.body << BEAT_COUNT_BITS | self.plain_beats
            payloads.append({"payload": flags << 2 * BEAT_COUNT_BITS | counts})
        return payloads

    def beats(self) -> list[dict[str, int]]:
        """Return the payloads of the stored beats; behind the last one more may come."""
        return [
            {"payload": beat | (number == self.words - 1) << _BEAT_BITS}
            for number, beat in enumerate(_beats(self.stored))
        ]


def _beats(octets: bytes) -> list[int]:
    return [
        int.from_bytes(octets[first : first + BEAT_BYTES], "little")
        for first in range(0, len(octets), BEAT_BYTES)
    ]


def _raw_stream(rng: np.random.Generator, shape: Shape, spread: float) -> bytes:
    """Return random parameter beats, and weights of about the given spread."""
    groups = rng.integers(0, 256, (shape.groups, shape.head + shape.body, BEAT_BYTES))
    if spread != _UNIFORM:
        body = np.round(rng.laplace(0, spread, (shape.groups, shape.body, BEAT_BYTES)))
        groups[:, shape.head :] = body.clip(-128, 127)
    return groups.astype(np.uint8).tobytes()


def _random_job(rng: np.random.Generator, *, is_coded: bool = True) -> _Job:
    shape = Shape(*(int(rng.integers(1, most)) for most in (5, 7, 30)))
    raw = _raw_stream(rng, shape, float(rng.choice(_SPREADS)))
    return _Job(shape, raw, codec.encode(raw, shape) if is_coded else raw, is_coded)


def _bad_job(rng: np.random.Generator, kind: str) -> _Job:
    """Return a job whose stream is not what it should be."""
    good = _random_job(rng, is_coded=kind not in {"raw short", "raw long"})
    shape, stored = good.shape, bytearray(good.stored)
    beats = len(stored) // BEAT_BYTES
    if kind.endswith("short"):
        return _Job(shape, b"", good.stored, good.is_coded, int(rng.integers(beats)) - beats)
    if kind.endswith("long"):
        more = rng.bytes(BEAT_BYTES * int(rng.integers(1, 4)))
        return _Job(shape, b"", good.stored + more, good.is_coded)
    if kind == "bit":
        place = int(rng.integers(8 * len(stored)))
        stored[place // 8] ^= 1 << place % 8
    elif kind == "random":
        stored[:] = rng.bytes(len(stored))
    elif kind == "table":
        stored[:64] = rng.bytes(64)
    elif kind == "zeros":
        stored[:] = bytes(len(stored))
    else:
        raise ValueError(f"kind must be known, not {kind!r}")
    try:
        codec.decode(bytes(stored), shape)
    except codec.CodecError:
        return _Job(shape, b"", bytes(stored))
    raise AssertionError("the reference decoder must find the error")


class _Bench:
    """A decompressor between two stalling neighbours."""

    def __init__(self, dut: Any, jobs: list[_Job], rng: random.Random, stall: float) -> None:
        groups = [payload for job in jobs for payload in job.groups()]
        stored = [beat for job in jobs for beat in job.beats()]
        self.expected = [beat for job in jobs for beat in _beats(job.raw)]
        cycles = 200
        for job in jobs:
            cycles += DECODER_STREAM_CYCLES
            cycles += job.shape.groups * (
                job.plain_beats + job.coded_beats * _BEAT_CYCLES + DECODER_GROUP_CYCLES
            )
        self.limit = int(cycles / (1 - stall) ** 3)
        fields = {"payload": dut.groups__payload}
        self.groups = stream_drivers.Source(
            dut.groups__valid, dut.groups__ready, fields, groups, rng, stall
        )
        # Slower than the others: lanes have to wait for chunks.
        self.stored = stream_drivers.Source(
            dut.stored__valid,
            dut.stored__ready,
            {"payload": dut.stored__payload},
            stored,
            rng,
            1 - (1 - stall) ** 2,
        )
        self.sink = stream_drivers.Sink(
            dut.beats__valid, dut.beats__ready, dut.beats__payload, rng, stall
        )
        self.drivers: list[stream_drivers.Driver] = [self.groups, self.stored, self.sink]
        self.dut = dut

    def is_over(self) -> bool:
        return self.groups.is_done and int(self.dut.is_between.value) == 1


async def _started(dut: Any) -> None:
    for name in ("groups__valid", "stored__valid", "beats__ready"):
        getattr(dut, name).value = 0
    await stream_drivers.reset(dut.clk, dut.rst)
    await FallingEdge(dut.clk)


@cocotb.test()
async def streams(dut: Any) -> None:
    """Pass streams through, coded and not; compare every beat."""
    values = bench.parameters()
    rng, numbers = random.Random(values["seed"]), np.random.default_rng(values["seed"])
    jobs = [
        _random_job(numbers, is_coded=rng.random() < values["coded_share"])
        for _ in range(values["count"])
    ]
    await _started(dut)
    made = _Bench(dut, jobs, rng, values["stall"])

    def is_done() -> bool:
        assert int(dut.is_bad.value) == 0, f"bad after {len(made.sink.taken)} beats"
        return made.is_over() and len(made.sink.taken) >= len(made.expected)

    await stream_drivers.run_until(dut.clk, made.drivers, is_done, limit_cycles=made.limit)
    assert made.sink.taken == made.expected
    assert made.stored.is_done


@cocotb.test()
async def throughput(dut: Any) -> None:
    """Without stalls, a stream takes the cycles that the compiler predicts, or few less."""
    values = bench.parameters()
    shape, is_coded = Shape(3, 6, 200), values["is_coded"]
    raw = _raw_stream(np.random.default_rng(0), shape, values["spread"])
    job = _Job(shape, raw, codec.encode(raw, shape) if is_coded else raw, is_coded)
    await _started(dut)
    made = _Bench(dut, [job], random.Random(0), 0)
    await stream_drivers.run_until(dut.clk, made.drivers, made.is_over, limit_cycles=made.limit)
    assert made.sink.taken == made.expected
    beats = shape.head + shape.body
    expected = decoder_cycles(shape, len(job.stored)) if is_coded else beats + DECODER_GROUP_CYCLES
    for number in range(shape.groups):
        end = made.sink.taken_cycles[(number + 1) * beats - 1]
        cycles = end - made.groups.taken_cycles[number]
        most = expected + (DECODER_STREAM_CYCLES if is_coded and not number else 0)
        dut._log.info("group %d: %d cycles, %d expected", number, cycles, most)
        assert _LEAST_SHARE * most < cycles <= most, f"group {number}: {cycles} cycles, not {most}"
    if not is_coded:
        assert made.sink.first_valid_cycles[0] == made.stored.taken_cycles[0]


@cocotb.test()
async def bad_streams(dut: Any) -> None:
    """Each stream ends in an error in bounded time; after a reset the next one is judged alone."""
    values = bench.parameters()
    rng, numbers = random.Random(values["seed"]), np.random.default_rng(values["seed"])
    await _started(dut)
    for number in range(values["count"]):
        dut.rst.value = 1
        await FallingEdge(dut.clk)
        dut.rst.value = 0
        kinds = values["kinds"]
        kind = kinds[number % len(kinds)]
        job = _bad_job(numbers, kind)
        made = _Bench(dut, [job], rng, values["stall"])

        def is_bad() -> bool:
            return int(dut.is_bad.value) == 1

        try:
            await stream_drivers.run_until(dut.clk, made.drivers, is_bad, limit_cycles=made.limit)
        except AssertionError as error:
            raise AssertionError(f"stream {number}, {kind}: {error}") from error
        assert len(made.sink.taken) <= job.shape.groups * (job.plain_beats + job.coded_beats)
        assert len(made.stored.taken_cycles) <= job.words
        await FallingEdge(dut.clk)
