"""Bench of both decoders of weight streams against the reference's input and output."""

import itertools
import math
import random
from dataclasses import dataclass
from typing import Any

import cocotb
import numpy as np
from cocotb.triggers import FallingEdge

from kiwicha.compiler.engine.cost.job_work import block_decoder_cycles, decoder_cycles
from kiwicha.contract.codec import BEAT_BYTES, BLOCK_STEP_BYTES
from kiwicha.contract.latencies import (
    BLOCK_STREAM_CYCLES,
    DECODER_GROUP_CYCLES,
    DECODER_STREAM_CYCLES,
)
from kiwicha.gateware.engine.weights.interfaces import BEAT_COUNT_BITS
from kiwicha.program.codec import blocks, streams
from kiwicha.program.codec.streams import CodecError, Shape
from tests.support.gateware import bench, stream_drivers

__all__ = ["bad_streams", "good_streams", "throughput"]

# A coded beat has at most 16 * 12 bits, of which 32 come per cycle.
_BEAT_CYCLES = 6
_LEAST_SHARE = 0.9
"""Of the predicted cycles, that a stream takes."""
_UNIFORM = 1000.0
_EQUAL_BLOCKS = 1.08
"""By which lanes are slower whose blocks are equally long: they all ask in the same steps."""
_BEAT_BITS = 8 * BEAT_BYTES
_STEP_BEATS = BLOCK_STEP_BYTES // BEAT_BYTES
_SPREADS = (0.0, 0.3, 2.0, 12.0, 40.0, _UNIFORM)


@dataclass(frozen=True)
class _Job:
    """A stream, as it is stored, announced and to be decoded."""

    shape: Shape
    raw: bytes
    stored: bytes
    is_coded: bool = True
    in_blocks: bool = False
    words_more: int = 0
    """Less than 0 if the stream ends before it should."""

    @property
    def beats_of_groups(self) -> int:
        """Beats that come out, at most."""
        return self.shape.beats

    @property
    def words(self) -> int:
        return len(self.stored) // BEAT_BYTES + self.words_more

    def groups(self) -> list[dict[str, int]]:
        """Return the payloads of the groups."""
        payloads = []
        heads, body = self.shape.heads, [self.shape.body] * self.shape.groups
        if self.is_coded and self.in_blocks:
            plain, steps = blocks.in_steps(self.shape)
            heads, body = plain.tolist(), (steps * _STEP_BEATS).tolist()
        for number, head in enumerate(heads):
            is_first, is_last = number == 0, number == self.shape.groups - 1
            flags = self.is_coded | (not self.words) << 1 | is_first << 2 | is_last << 3
            beats = head + (0 if self.is_coded else self.shape.body)
            counts = body[number] << BEAT_COUNT_BITS | beats
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
    octets = groups.astype(np.uint8)
    # Of later heads the last beats are left.
    return b"".join(
        group[shape.head - head :].tobytes()
        for group, head in zip(octets, shape.heads, strict=True)
    )


def _encoded(raw: bytes, shape: Shape, *, in_blocks: bool) -> bytes:
    return blocks.encode(raw, shape) if in_blocks else streams.encode(raw, shape)


def _random_job(rng: np.random.Generator, *, is_coded: bool = True, in_blocks: bool) -> _Job:
    groups, head, body = (int(rng.integers(1, most)) for most in (5, 7, 30))
    later = _STEP_BEATS if in_blocks else 1
    head = max(head, later)
    later = int(rng.choice([head, later]))
    shape = Shape(groups, head, _STEP_BEATS * body if in_blocks else body, later)
    raw = _raw_stream(rng, shape, float(rng.choice(_SPREADS)))
    stored = _encoded(raw, shape, in_blocks=in_blocks) if is_coded else raw
    return _Job(shape, raw, stored, is_coded, in_blocks)


def _bad_job(rng: np.random.Generator, kind: str, *, in_blocks: bool) -> _Job:
    """Return a job whose stream is not what it should be."""
    is_coded = kind not in {"raw short", "raw long"}
    good = _random_job(rng, is_coded=is_coded, in_blocks=in_blocks)
    shape, stored = good.shape, bytearray(good.stored)
    beats = len(stored) // BEAT_BYTES
    if kind.endswith("short"):
        missing = int(rng.integers(beats)) - beats
        return _Job(shape, b"", good.stored, good.is_coded, in_blocks, missing)
    if kind.endswith("long"):
        more = rng.bytes(BEAT_BYTES * int(rng.integers(1, 4)))
        return _Job(shape, b"", good.stored + more, good.is_coded, in_blocks)
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
        (blocks if in_blocks else streams).decode(bytes(stored), shape)
    except CodecError:
        return _Job(shape, b"", bytes(stored), in_blocks=in_blocks)
    raise AssertionError("the reference decoder must find the error")


class _PairSink(stream_drivers.Sink):
    """Takes two beats at a time, or the same one twice."""

    def __init__(self, dut: Any, rng: random.Random, stall: float) -> None:
        super().__init__(dut.beats__valid, dut.beats__ready, dut.beats__payload, rng, stall)
        self.is_pair = dut.is_pair

    def sample(self, cycle: int) -> None:
        """Take what is there, beat by beat."""
        before = len(self.taken)
        super().sample(cycle)
        if len(self.taken) > before:
            second, first = divmod(self.taken.pop(), 1 << _BEAT_BITS)
            self.taken.append(first)
            if int(self.is_pair.value):
                self.taken.append(second)
                self.taken_cycles.append(cycle)
            else:
                assert first == second, f"cycle {cycle}: a lone beat must come twice"


class _Ends:
    """Notes how many beats were passed on when streams ended."""

    def __init__(self, dut: Any, sink: stream_drivers.Sink) -> None:
        self._dut, self._sink = dut, sink
        self.at: list[int] = []

    def drive(self) -> None:
        """Do nothing."""

    def sample(self, cycle: int) -> None:
        """Look for the end of a stream."""
        if int(self._dut.ends.value):
            self.at.append(len(self._sink.taken))


class _Bench:
    """A decoder between two stalling neighbours."""

    def __init__(self, dut: Any, jobs: list[_Job], rng: random.Random, stall: float) -> None:
        groups = [payload for job in jobs for payload in job.groups()]
        stored = [beat for job in jobs for beat in job.beats()]
        in_blocks = len(dut.beats__payload) > _BEAT_BITS
        self.expected = [beat for job in jobs for beat in _beats(job.raw)]
        cycles = 200
        for job in jobs:
            cycles += DECODER_STREAM_CYCLES
            beats = max(job.beats_of_groups, len(job.stored) // BEAT_BYTES)
            cycles += beats * _BEAT_CYCLES + job.shape.groups * DECODER_GROUP_CYCLES
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
        self.sink = (
            _PairSink(dut, rng, stall)
            if in_blocks
            else stream_drivers.Sink(
                dut.beats__valid, dut.beats__ready, dut.beats__payload, rng, stall
            )
        )
        self.ends = _Ends(dut, self.sink)
        self.drivers: list[stream_drivers.Driver] = [
            *(self.groups, self.stored, self.sink, self.ends)
        ]
        self.dut = dut

    def is_over(self) -> bool:
        return self.groups.is_done and int(self.dut.is_between.value) == 1


async def _started(dut: Any) -> None:
    for name in ("groups__valid", "stored__valid", "beats__ready"):
        getattr(dut, name).value = 0
    await stream_drivers.reset(dut.clk, dut.rst)
    await FallingEdge(dut.clk)


@cocotb.test()
async def good_streams(dut: Any) -> None:
    """Pass streams through, coded and not; compare every beat."""
    values = bench.parameters()
    rng, numbers = random.Random(values["seed"]), np.random.default_rng(values["seed"])
    jobs = [
        _random_job(
            numbers,
            is_coded=rng.random() < values["coded_share"],
            in_blocks=values["in_blocks"],
        )
        for _ in range(values["count"])
    ]
    await _started(dut)
    made = _Bench(dut, jobs, rng, values["stall"])

    def is_done() -> bool:
        assert int(dut.is_bad.value) == 0, f"bad after {len(made.sink.taken)} beats"
        return made.is_over() and len(made.sink.taken) >= len(made.expected)

    await stream_drivers.run_until(dut.clk, made.drivers, is_done, limit_cycles=made.limit)
    for number, (beat, expected) in enumerate(zip(made.sink.taken, made.expected, strict=True)):
        assert beat == expected, f"beat {number}: {beat:032x}, not {expected:032x}"
    assert made.stored.is_done
    # All beats of the streams up to one are there when it ends.
    counts = [len(_beats(job.raw)) for job in jobs]
    assert made.ends.at == list(itertools.accumulate(counts))


@cocotb.test()
async def throughput(dut: Any) -> None:
    """Without stalls, a stream takes the cycles that the compiler predicts, or few less."""
    values = bench.parameters()
    shape, is_coded, in_blocks = Shape(3, 6, 200), values["is_coded"], values["in_blocks"]
    raw = _raw_stream(np.random.default_rng(0), shape, values["spread"])
    stored = _encoded(raw, shape, in_blocks=in_blocks) if is_coded else raw
    job = _Job(shape, raw, stored, is_coded, in_blocks)
    await _started(dut)
    made = _Bench(dut, [job], random.Random(0), 0)
    await stream_drivers.run_until(dut.clk, made.drivers, made.is_over, limit_cycles=made.limit)
    assert made.sink.taken == made.expected
    beats = shape.head + shape.body
    expected, first = beats + DECODER_GROUP_CYCLES, 0
    if is_coded and in_blocks:
        expected, first = block_decoder_cycles(shape, len(job.stored)), BLOCK_STREAM_CYCLES
        if values["spread"] == _UNIFORM:
            expected = math.ceil(_EQUAL_BLOCKS * expected)
    elif is_coded:
        expected, first = decoder_cycles(shape, len(job.stored)), DECODER_STREAM_CYCLES
    # The prediction for groups in blocks is an average.
    groups = shape.groups if is_coded and in_blocks else 1
    for number in range(0, shape.groups, groups):
        end = made.sink.taken_cycles[(number + groups) * beats - 1]
        cycles = end - made.groups.taken_cycles[number]
        most = groups * expected + (0 if number else first)
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
        job = _bad_job(numbers, kind, in_blocks=values["in_blocks"])
        made = _Bench(dut, [job], rng, values["stall"])

        def is_bad() -> bool:
            return int(dut.is_bad.value) == 1

        try:
            await stream_drivers.run_until(dut.clk, made.drivers, is_bad, limit_cycles=made.limit)
        except AssertionError as error:
            raise AssertionError(f"stream {number}, {kind}: {error}") from error
        assert not made.ends.at, f"stream {number}, {kind}: it is bad, and ends"
        assert len(made.sink.taken) <= job.beats_of_groups
        assert len(made.stored.taken_cycles) <= job.words
        await FallingEdge(dut.clk)
