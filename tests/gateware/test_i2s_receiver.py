"""The receiver of an I2S microphone, in Amaranth's simulator: its clocks, and what it takes."""

import functools
import random
import re
from collections.abc import Sequence

import pytest
from amaranth.sim import SimulatorContext

from kiwicha.contract.sound import RATE_HZ
from kiwicha.gateware.i2s_receiver import (
    FRAME_BITS,
    MODULE,
    SAMPLE_BITS,
    I2sReceiver,
    bit_clock_edges,
    verilog,
)
from tests.support.gateware.unit_simulation import UnitSimulation

EXTREMES = [0, 1, -1, (1 << 15) - 1, -(1 << 15)]
SLOT_BITS = FRAME_BITS // 2
WHOLE, ODD, SLOW = 16_384_000, 9_999_991, 4 * 2 * FRAME_BITS * RATE_HZ
"""Clocks with 8 cycles in half a bit, with a fraction that never repeats here, and the slowest."""


@functools.cache
def simulation(clock_hz: int) -> UnitSimulation[I2sReceiver]:
    return UnitSimulation(I2sReceiver(clock_hz=clock_hz, rate_hz=RATE_HZ))


class Microphone:
    """A microphone on the receiver's pins, by the definition of I2S.

    Parameters
    ----------
    words : sequence of int
        What it gives in left slots, a word of `word_bits` bits each.
    word_bits : int
        Behind them, and in right slots, come random bits.
    delay_cycles : int
        From a falling edge of the bit clock to the next bit.
    """

    def __init__(self, words: Sequence[int], word_bits: int, delay_cycles: int) -> None:
        self._words, self._word_bits, self._delay = list(words), word_bits, delay_cycles
        self._rng = random.Random(7)
        self._bclk = self._selects = 1
        self._was_right, self._starts = True, False
        self._left: list[int] = []
        self._late: list[tuple[int, int]] = []

    def level(self, cycle: int, bclk: int, lrclk: int) -> int | None:
        """Return the level of the data line that begins in a cycle, if one does."""
        if bclk and not self._bclk:
            self._starts = self._was_right and not lrclk
            self._was_right = bool(lrclk)
        if not bclk and self._bclk:
            if self._starts:
                word = self._words.pop(0)
                self._left = [word >> k & 1 for k in reversed(range(self._word_bits))]
                self._starts = False
            bit = self._left.pop(0) if self._left else self._rng.randrange(2)
            self._late.append((cycle + self._delay, bit))
        self._bclk = bclk
        if self._late and self._late[0][0] == cycle:
            return self._late.pop(0)[1]
        return None


def received(
    clock_hz: int, words: Sequence[int], *, word_bits: int, delay_cycles: int = 0
) -> list[tuple[int, int]]:
    """Give the samples that are received, and their cycles since it was enabled."""
    dut = simulation(clock_hz).component
    given_up = Microphone([0], word_bits, delay_cycles)
    microphone = Microphone([*words, 0], word_bits, delay_cycles)
    found: list[tuple[int, int]] = []

    async def bench(ctx: SimulatorContext) -> None:
        # A frame that is given up halfway leaves nothing behind.
        ctx.set(dut.is_enabled, 1)
        for cycle in range(clock_hz // RATE_HZ // 4):
            level = given_up.level(cycle, ctx.get(dut.bclk), ctx.get(dut.lrclk))
            if level is not None:
                ctx.set(dut.data, level)
            await ctx.tick()
        ctx.set(dut.is_enabled, 0)
        for _ in range(9):
            await ctx.tick()
            assert (ctx.get(dut.bclk), ctx.get(dut.lrclk)) == (1, 1)
        ctx.set(dut.is_enabled, 1)
        edges = 0
        before = 1
        for cycle in range(clock_hz * len(words) // RATE_HZ):
            bclk, lrclk = ctx.get(dut.bclk), ctx.get(dut.lrclk)
            if bclk != before:
                edges += 1
                # Edge k is due at k cycles / edges, and comes with the next whole cycle.
                assert cycle == -(-edges * dut.cycles // dut.edges)
                if not bclk:
                    assert lrclk == (edges // 2 % FRAME_BITS >= SLOT_BITS)
            before = bclk
            level = microphone.level(cycle, bclk, lrclk)
            if level is not None:
                ctx.set(dut.data, level)
            if ctx.get(dut.o.valid):
                found.append((ctx.get(dut.o.payload), cycle))
            await ctx.tick()
        ctx.set(dut.is_enabled, 0)

    simulation(clock_hz).run(bench)
    return found


@pytest.mark.parametrize(
    ("clock_hz", "word_bits", "delay_cycles"),
    [
        (WHOLE, 16, 0),
        # What the synchronizer leaves of half a bit.
        (WHOLE, 24, 5),
        (ODD, 24, 1),
        (SLOW, 31, 1),
    ],
)
def test_the_first_bits_of_every_left_slot(
    clock_hz: int, word_bits: int, delay_cycles: int
) -> None:
    rng = random.Random(word_bits)
    samples = [*EXTREMES, *(rng.randrange(-(1 << 15), 1 << 15) for _ in range(9))]
    spare = word_bits - SAMPLE_BITS
    words = [sample << spare | rng.randrange(1 << spare) for sample in samples]
    found = received(clock_hz, words, word_bits=word_bits, delay_cycles=delay_cycles)
    assert [sample for sample, _ in found] == samples
    # Sample n comes with the rising edge in bit 16 of its frame; the rate is exact.
    for number, (_, cycle) in enumerate(found):
        due = (2 * (number * FRAME_BITS + SAMPLE_BITS) + 2) * clock_hz / (2 * FRAME_BITS * RATE_HZ)
        assert 0 <= cycle - due < 1


@pytest.mark.parametrize(("clock_hz", "rate_hz"), [(SLOW - 1, RATE_HZ), (SLOW, 0)])
def test_a_clock_that_is_too_slow_is_refused(clock_hz: int, rate_hz: int) -> None:
    text = (
        f"clock must have 4 cycles or more in half a bit, not {clock_hz} Hz at {rate_hz} samples"
        " per second"
    )
    with pytest.raises(ValueError, match=f"^{re.escape(text)}$"):
        bit_clock_edges(clock_hz, rate_hz)


def test_at_100_mhz_half_a_bit_has_49_cycles_or_48() -> None:
    assert bit_clock_edges(100_000_000, RATE_HZ) == (64, 3125)


def test_verilog_has_the_members_as_ports() -> None:
    text = verilog(clock_hz=WHOLE, rate_hz=RATE_HZ)
    (ports,) = re.findall(rf"^module {MODULE}\((.*)\);$", text, re.MULTILINE)
    members = ["is_enabled", "bclk", "lrclk", "data", "o_valid", "o_payload"]
    assert sorted(ports.split(", ")) == sorted([*members, "clk", "rst"])
