"""Bench of the engine's requantizer against `kiwicha.numerics.requantization`."""

import random
from collections.abc import Mapping
from typing import Any

import cocotb
import numpy as np
from cocotb.triggers import FallingEdge

from kiwicha.contract.engine import SQUARE_BITS, SQUARE_INTERVAL
from kiwicha.contract.latencies import (
    REQUANTIZER_CYCLES,
    SQUARE_CYCLES,
    WIDE_REQUANTIZER_CYCLES,
)
from kiwicha.numerics import requantization as numerics
from tests.support.gateware import bench, stream_drivers
from tests.support.gateware.engine_fields import pack, signed_fields

__all__ = ["random_beats", "shorts", "squares"]

_MULTIPLIERS = (0, 1, 2, 2**17 - 1, 2**17, 2**30, 2**30 + 1, 2**31 - 2, 2**31 - 1)
_SHIFTS = (-31, -30, -25, -17, -16, -9, -8, -7, -6, -2, -1, 0, 1, 2, 6, 7, 8, 29, 30)
_PARAMETER_BITS = 32 + 31 + 5 + 5

Channel = tuple[int, int, int, int]
"""Sum, bias, multiplier, shift."""


def _shifted_sum(rng: random.Random, bits: int) -> int:
    """Return a number of so many signed bits; extremes, powers of two and their neighbours."""
    half = 1 << (bits - 1)
    kind = rng.random()
    if kind < 0.15:
        return rng.choice((-half, half - 1, -half + 1, half - 2, 0, -1, 1))
    if kind < 0.4:
        power = 1 << rng.randrange(bits - 1)
        near = rng.choice((-1, 1)) * power + rng.randint(-2, 2)
        return max(-half, min(half - 1, near))
    return rng.randint(-half, half - 1) >> rng.randrange(bits)


def _tie(rng: random.Random) -> Channel:
    """Return a channel whose scaled sum lies half way between two integers, or one beside it."""
    exponent = rng.randint(1, 15)  # keeps the sum below 2**24
    half_way = (2 * rng.randint(-140, 140) + 1) << (exponent - 1)
    # Times 2**30 / 2**31: the high product is half_way.
    return 2 * half_way + rng.randint(-1, 1), 0, 2**30, -exponent


def _end_of_int32(rng: random.Random) -> Channel:
    """Return a channel whose scaled sum wraps with some zero points, or lies beside such ones."""
    distance = rng.randrange(300)
    total = rng.choice((-(2**31) + distance, 2**31 - 1 - distance))
    return total, 0, 2**31 - 1, 0


def _channel(rng: random.Random, *, is_wide: bool) -> Channel:
    multiplier = rng.choice(_MULTIPLIERS) if rng.random() < 0.3 else rng.getrandbits(31)
    if rng.random() < 0.3:
        multiplier |= 1 << 30
    shift = rng.choice(_SHIFTS) if rng.random() < 0.5 else rng.randint(-31, 30)
    kind = rng.random()
    if kind < 0.2:
        return _tie(rng)
    if is_wide and kind > 0.95:
        return _end_of_int32(rng)
    if is_wide:
        total = _shifted_sum(rng, 32)
    else:
        # A positive shift must leave 25 bits.
        total = _shifted_sum(rng, max(25 - max(shift, 0), 2))
        if shift > 23:
            total = rng.choice((-1, 0)) if shift == 24 else 0
    # Most results should lie inside the clamp: choose the shift that brings 2**b to 2**6.
    if kind < 0.6:
        shift = min(0, 7 - max(1, abs(total).bit_length() - 1)) + rng.randint(-2, 1)
        shift = min(shift, 0)
    bias = rng.choice((rng.getrandbits(32) - 2**31, rng.randint(-9, 9)))
    return int(numerics.wrap_int32(total - bias)), bias, multiplier, shift


def _expected(beat: list[Channel], values: Mapping[str, int]) -> list[int]:
    total, bias, multiplier, shift = np.array(beat, np.int64).T
    outputs = numerics.requantize(
        numerics.wrap_int32(total + bias),
        multiplier,
        shift,
        values["zero_point"],
        values["minimum"],
        values["maximum"],
    )
    return [int(value) for value in outputs]


def _payload(beat: list[Channel], tag: int) -> int:
    """Return the payload of a beat."""
    fields = [
        pack([bias], 32) | multiplier << 32 | max(shift, 0) << 63 | max(-shift, 0) << 68
        for _, bias, multiplier, shift in beat
    ]
    payload = pack([channel[0] for channel in beat], 32)
    payload |= pack(fields, _PARAMETER_BITS) << 32 * len(beat)
    return payload | tag << (32 + _PARAMETER_BITS) * len(beat)


def _check(dut: Any, expected: tuple[list[int], int] | None, cycle: int) -> list[int]:
    """Compare what comes out in a cycle; return the values."""
    assert int(dut.results__valid.value) == (expected is not None), f"cycle {cycle}"
    if expected is None:
        return []
    word, lanes = int(dut.results__payload.value), len(expected[0])
    got = signed_fields(word, 8, lanes), word >> 8 * lanes
    assert got == expected, f"cycle {cycle}: {got}, not {expected}"
    return got[0]


async def _begin(dut: Any, values: Mapping[str, int]) -> None:
    """Set what stays as it is, and reset."""
    for name in ("is_wide", "is_square", "zero_point", "minimum", "maximum"):
        handle = getattr(dut, name)
        handle.value = values[name] & ((1 << len(handle)) - 1)
    dut.beats__valid.value = 0
    await stream_drivers.reset(dut.clk, dut.rst)


@cocotb.test()
async def random_beats(dut: Any) -> None:
    """Send beats as close as allowed, or with gaps; compare values, tags and cycles."""
    values = bench.parameters()
    rng = random.Random(values["seed"])
    lanes, tag_bits, is_wide = values["lanes"], values["tag_bits"], bool(values["is_wide"])
    beats = [
        ([_channel(rng, is_wide=is_wide) for _ in range(lanes)], rng.getrandbits(tag_bits))
        for _ in range(values["count"])
    ]
    await _begin(dut, values)
    latency = WIDE_REQUANTIZER_CYCLES if is_wide else REQUANTIZER_CYCLES
    due: dict[int, tuple[list[int], int]] = {}
    cycle, free_at, sent, changed = 0, 0, 0, 0
    while sent < len(beats) or due:
        got = _check(dut, due.pop(cycle, None), cycle)
        changed += sum(values["minimum"] < value < values["maximum"] for value in got)
        is_sent = sent < len(beats) and cycle >= free_at and rng.random() >= values["stall"]
        dut.beats__valid.value = int(is_sent)
        payload = rng.getrandbits(len(dut.beats__payload))
        if is_sent:
            channels, tag = beats[sent]
            payload = _payload(channels, tag)
            due[cycle + latency] = _expected(channels, values), tag
            sent, free_at = sent + 1, cycle + (2 if is_wide else 1)
        dut.beats__payload.value = payload
        await FallingEdge(dut.clk)
        cycle += 1
    assert changed > len(beats) * lanes // 20, f"only {changed} results inside the clamp"


@cocotb.test()
async def shorts(dut: Any) -> None:
    """Send wide beats of which results have 16 bits; compare both bytes, the lower ones for two.

    Every other beat is far from the middle of an int8, so that both ends of an int16 are met.
    """
    values = bench.parameters()
    rng = random.Random(values["seed"])
    lanes, tag_bits = values["lanes"], values["tag_bits"]
    await _begin(dut, values)
    dut.is_short.value = values["is_short"]
    due: dict[int, tuple[list[int], int]] = {}
    lowers: dict[int, list[int]] = {}
    cycle, free_at, sent, changed = 0, 0, 0, 0
    while sent < values["count"] or due or lowers:
        wanted = due.pop(cycle, None)
        got = _check(dut, wanted and ([v >> 8 for v in wanted[0]], wanted[1]), cycle)
        changed += sum(values["minimum"] < value < values["maximum"] for value in got)
        if wanted is not None:
            lowers |= {at: [v & 0xFF for v in wanted[0]] for at in (cycle, cycle + 1)}
        expected = lowers.pop(cycle, None)
        if expected is not None:
            word = int(dut.lowers.value)
            found = [word >> 8 * lane & 0xFF for lane in range(lanes)]
            assert found == expected, f"cycle {cycle}: {found}, not {expected}"
        is_sent = sent < values["count"] and cycle >= free_at and rng.random() >= values["stall"]
        dut.beats__valid.value = int(is_sent)
        payload = rng.getrandbits(len(dut.beats__payload))
        if is_sent:
            channels, tag = [_short_channel(rng) for _ in range(lanes)], rng.getrandbits(tag_bits)
            payload = _payload(channels, tag)
            total, bias, multiplier, shift = np.array(channels, np.int64).T
            results = numerics.requantize_to_shorts(
                numerics.wrap_int32(total + bias),
                *(multiplier, shift, values["minimum"], values["maximum"]),
            )
            due[cycle + WIDE_REQUANTIZER_CYCLES] = [int(value) for value in results], tag
            sent, free_at = sent + 1, cycle + 2
        dut.beats__payload.value = payload
        await FallingEdge(dut.clk)
        cycle += 1
    assert changed > values["count"] * lanes // 8, f"only {changed} results inside the clamp"


def _short_channel(rng: random.Random) -> Channel:
    """Return a channel, mostly with a scaled sum of about 16 bits, some at the end of them."""
    total, bias, multiplier, shift = _channel(rng, is_wide=True)
    kind = rng.random()
    if kind < 0.3:
        return total, bias, multiplier, shift
    if kind < 0.4:
        near = rng.choice((-1, 1)) * (1 << 15) + rng.randint(-3, 3)
        return 2 * near + rng.randint(-1, 1), 0, 2**30, 0
    total = _shifted_sum(rng, 32)
    shift = min(0, 15 - max(1, abs(total).bit_length() - 1)) + rng.randint(-2, 1)
    return int(numerics.wrap_int32(total - bias)), bias, multiplier | 1 << 30, min(shift, 0)


def _root(rng: random.Random, scale: tuple[int, int]) -> Channel:
    """Return a channel whose sum can be squared."""
    total = _shifted_sum(rng, SQUARE_BITS)
    bias = rng.choice((rng.getrandbits(32) - 2**31, rng.randint(-9, 9)))
    return int(numerics.wrap_int32(total - bias)), bias, *scale


def _square_scale(rng: random.Random) -> tuple[int, int]:
    """Return a multiplier and a shift that bring most squares into the range of a byte."""
    multiplier = rng.choice(_MULTIPLIERS) if rng.random() < 0.2 else rng.getrandbits(31)
    shift = rng.choice(_SHIFTS) if rng.random() < 0.3 else rng.randint(-24, -10)
    return multiplier | 1 << 30 if rng.random() < 0.7 else multiplier, shift


@cocotb.test()
async def squares(dut: Any) -> None:
    """Send runs of beats that are scaled alike, at all distances that they can have."""
    values = bench.parameters()
    rng = random.Random(values["seed"])
    lanes, tag_bits = values["lanes"], values["tag_bits"]
    await _begin(dut, values)
    latency = WIDE_REQUANTIZER_CYCLES + SQUARE_CYCLES
    cycle = changed = 0
    for _ in range(values["count"]):
        scale = _square_scale(rng)
        due: dict[int, tuple[list[int], int]] = {}
        left, wait = rng.randint(1, 40), 0
        while left or due:
            got = _check(dut, due.pop(cycle, None), cycle)
            changed += sum(values["minimum"] < value < values["maximum"] for value in got)
            is_sent = bool(left) and not wait
            beat = [_root(rng, scale) for _ in range(lanes)]
            tag = rng.getrandbits(tag_bits)
            dut.beats__valid.value = int(is_sent)
            if is_sent:
                sums = [int(numerics.wrap_int32(channel[0] + channel[1])) for channel in beat]
                squared = [(root**2, 0, *scale) for root in sums]
                due[cycle + latency] = _expected(squared, values), tag
                left -= 1
                is_next = rng.random() >= values["stall"]
                wait = SQUARE_INTERVAL if is_next else 2 * SQUARE_INTERVAL + rng.randint(0, 5)
            else:
                beat = [(0, *channel[1:]) for channel in beat]
            wait = max(wait - 1, 0)
            dut.beats__payload.value = _payload(beat, tag)
            await FallingEdge(dut.clk)
            cycle += 1
    assert changed > values["count"] * lanes, f"only {changed} results inside the clamp"
