"""Bench of the weight buffer: fills beside reads, against the bytes that were sent."""

import dataclasses
import random
from dataclasses import dataclass
from typing import Any

import cocotb
from cocotb.triggers import FallingEdge

from kiwicha.contract.codec import BEAT_BYTES
from kiwicha.contract.configs import RESIDENT_WORDS
from kiwicha.contract.engine import has_packed, outputs_of
from kiwicha.contract.latencies import (
    WEIGHT_READ_CYCLES,
    WEIGHTS_READY_CYCLES,
    WEIGHTS_RELEASE_CYCLES,
    release_cycles,
)
from kiwicha.gateware.engine.array.interfaces import LANES, OPERAND_BITS, PACKED_WEIGHT_BITS
from kiwicha.gateware.engine.weights.interfaces import PARAMETER_BLOCK
from tests.support.gateware import bench, stream_drivers
from tests.support.gateware.engine_fields import pack, signed_fields

__all__ = ["groups"]


_BANKS = range(2)
_SHORT_SHARE = 0.5
_PAIR_SHARE = 0.7
_REDUCED_CYCLES = 2
"""From a beat until its bytes are there less the zero point."""


@dataclass(frozen=True)
class Group:
    """One group: channels as (bias, multiplier, shift), weights as [word][lane][output].

    If packed, packed weights follow the others: [word][lane][half and output]. Of those that have
    biases only ``beats`` has no other parameters; ``parameters`` are the beats of those it has.
    Words may be kept from a ``place`` on, where this group, or one before it, has loaded them.
    """

    channels: list[tuple[int, int, int]]
    words: list[list[list[int]]]
    beats: list[int]
    parameters: int
    has_biases_only: bool = False
    place: int | None = None
    loads: bool = False

    @property
    def sent_words(self) -> int:
        """Return how many words come with it."""
        return len(self.words) if self.place is None or self.loads else 0


def _random_group(rng: random.Random, values: dict[str, Any], outputs: int) -> Group:
    blocks = rng.randint(0, 2 * outputs // PARAMETER_BLOCK)
    count = rng.choice((1, 2, values["depth"] // 2, rng.randint(1, values["depth"] // 2)))
    extremes = (-(2**31), 2**31 - 1, -1, 0)
    channels = [
        (
            rng.choice((*extremes, rng.getrandbits(32) - 2**31)),
            rng.choice((0, 2**31 - 1, rng.getrandbits(31))),
            rng.randint(-31, 30),
        )
        for _ in range(blocks * PARAMETER_BLOCK)
    ]
    beats = [
        pack([channel[number] for channel in channels[first : first + PARAMETER_BLOCK]], 32)
        for first in range(0, len(channels), PARAMETER_BLOCK)
        for number in range(3)
    ]
    parameters = len(beats)
    low = 0 if values["is_unsigned"] else -128
    halves = 2 if values["is_packed"] else 1

    def lane_weights() -> list[int]:
        return [
            rng.choice((low, low + 255, rng.randint(low, low + 255)))
            for _ in range(halves * outputs)
        ]

    words = [[lane_weights() for _ in range(LANES)] for _ in range(count)]
    for word in words:
        flat = [
            weight
            for half in range(halves)
            for lane in word
            for weight in lane[half * outputs :][:outputs]
        ]
        beats += [
            pack(flat[first : first + BEAT_BYTES], 8) for first in range(0, len(flat), BEAT_BYTES)
        ]
    return Group(channels, words, beats, parameters)


def _random_groups(rng: random.Random, values: dict[str, Any], outputs: int) -> list[Group]:
    """Return groups, of which some have the multipliers and shifts of the group two before."""
    made: list[Group] = []
    for number in range(values["count"]):
        group = _random_group(rng, values, outputs)
        before = made[number - 2] if number >= len(_BANKS) else group
        count = min(len(group.channels), len(before.channels))
        if number >= len(_BANKS) and rng.random() < _SHORT_SHARE and count:
            channels = [
                (own[0], *other[1:])
                for own, other in zip(group.channels, before.channels, strict=False)
            ]
            biases = group.beats[: group.parameters : 3][: count // PARAMETER_BLOCK]
            beats = biases + group.beats[group.parameters :]
            group = Group(channels, group.words, beats, len(biases), has_biases_only=True)
        made.append(group)
    return _with_kept(rng, made) if values["is_resident"] else made


def _with_kept(rng: random.Random, groups: list[Group]) -> list[Group]:
    """Return groups of which some load words that are kept, and some read such words."""
    place, left = rng.randrange(RESIDENT_WORDS), RESIDENT_WORDS
    made: list[Group] = []
    for group in groups:
        loaded = [other for other in made if other.loads]
        found = group
        if loaded and group.channels and rng.random() < _SHORT_SHARE:
            other = rng.choice(loaded)
            beats = group.beats[: group.parameters]
            found = dataclasses.replace(group, words=other.words, beats=beats, place=other.place)
        elif len(group.words) <= left and rng.random() < _PAIR_SHARE:
            found = dataclasses.replace(group, place=place % RESIDENT_WORDS, loads=True)
            place, left = place + len(group.words), left - len(group.words)
        made.append(found)
    return made


class _Filler:
    """Sends commands and beats, with stalls; the driver of the fill side."""

    def __init__(
        self,
        dut: Any,
        groups: list[Group],
        rng: random.Random,
        values: dict[str, Any],
    ) -> None:
        self.dut, self.groups, self.rng, self.stall = dut, groups, rng, values["stall"]
        self.is_resident = values["is_resident"]
        self.is_unsigned, self.zero_point = values["is_unsigned"], values["zero_point"]
        self.settled_at: list[int] = []
        """When the parameters of the bank of each group can be overwritten."""
        self.started, self.sent = 0, 0
        self.block_bits = len(dut.fill__commands__payload) - len(dut.index) - 3
        self.has_pairs = len(dut.fill__beats__payload) > 8 * BEAT_BYTES
        self.offered = 1
        self.full_at: list[int] = []
        self.command_at: list[int] = []
        self.offered_beats: list[int] = []

    def drive(self) -> None:
        """Offer a command or a beat; garbage where nothing is offered."""
        dut, rng = self.dut, self.rng
        self.offers_command = self.started < len(self.groups) and rng.random() >= self.stall
        dut.fill__commands__valid.value = int(self.offers_command)
        payload = rng.getrandbits(len(dut.fill__commands__payload))
        if self.offers_command:
            group = self.groups[self.started]
            payload = len(group.channels) // PARAMETER_BLOCK | group.sent_words << self.block_bits
            payload |= group.has_biases_only << len(dut.fill__commands__payload) - 1
        dut.fill__commands__payload.value = payload
        if self.is_resident and self.started:
            group = self.groups[self.started - 1]
            dut.fill__loads.value = int(group.loads)
            dut.fill__resident_word.value = group.place or 0
        self.offers_beat = self.started > len(self.full_at) and rng.random() >= self.stall
        dut.fill__beats__valid.value = int(self.offers_beat)
        beat = rng.getrandbits(8 * BEAT_BYTES)
        if self.offers_beat:
            self.offered = self._choose()
            beat = self.groups[self.started - 1].beats[self.sent]
        if self.has_pairs:
            second = beat
            if self.offers_beat and self.offered > 1:
                second = self.groups[self.started - 1].beats[self.sent + 1]
            beat |= second << 8 * BEAT_BYTES
            dut.fill__is_pair.value = int(self.offers_beat and self.offered > 1)
        dut.fill__beats__payload.value = beat
        dut.fill__parameters.value = beat
        self.offered_beats.append(beat)

    def _choose(self) -> int:
        """Return whether the next two beats come together, or one."""
        group = self.groups[self.started - 1]
        place, left = self.sent, group.parameters - self.sent
        if left <= 0:
            place, left = -left, len(group.beats) - self.sent
        elif not group.has_biases_only:
            return 1
        can_pair = self.has_pairs and place % 2 == 0 and left > 1
        return 2 if can_pair and self.rng.random() < _PAIR_SHARE else 1

    def sample(self, cycle: int) -> None:
        """Note what is taken in this cycle, and compare what came of the bytes two cycles ago."""
        if cycle >= _REDUCED_CYCLES:
            beat = self.offered_beats[cycle - _REDUCED_CYCLES]
            octets = (beat & ((1 << 8 * BEAT_BYTES) - 1)).to_bytes(BEAT_BYTES, "little")
            low = 0 if self.is_unsigned else 128
            expected = [(octet + low) % 256 - low - self.zero_point for octet in octets]
            got = signed_fields(int(self.dut.reduced.value), OPERAND_BITS, BEAT_BYTES)
            assert got == expected, f"cycle {cycle}: {got}, not {expected}"
        takes_beat = self.offers_beat and int(self.dut.fill__beats__ready.value)
        if self.offers_command and int(self.dut.fill__commands__ready.value):
            assert self.started == len(self.full_at), "a command was taken during a fill"
            self.started += 1
            self.sent = 0
            self.command_at.append(cycle)
        if takes_beat:
            self.sent += self.offered
            group = self.groups[self.started - 1]
            if self.sent == len(group.beats):
                # A fill without words ends a cycle later; and biases wait.
                last = cycle
                if not group.sent_words:
                    last += 2 if group.has_biases_only else 1
                if group.channels and self.has_pairs and self.started > len(_BANKS):
                    last = max(last, 1 + self.settled_at[self.started - 1 - len(_BANKS)])
                self.full_at.append(last + WEIGHTS_READY_CYCLES)


class _Reader:
    """Reads each group's words and parameters once it is there, then releases it."""

    def __init__(self, dut: Any, values: dict[str, Any], filler: _Filler) -> None:
        self.dut, self.values, self.filler = dut, values, filler
        self.rng = random.Random(values["seed"] + 1)
        self.release_cycles = release_cycles(outputs_of(values["macs"]), values["lanes"])
        self.done = 0
        self.cycle = 0
        self.released_at: list[int] = []
        self.weights: dict[tuple[int, int], list[int]] = {}
        self.parameters: dict[int, list[tuple[int, int, int]]] = {}
        self.pending: list[int] = []

    def _expect_parameters(self, group: Group, beat: int, cycle: int) -> None:
        lanes = int(self.values["lanes"])
        channels = group.channels[beat * lanes : (beat + 1) * lanes]
        self.parameters[cycle + 1] = channels

    def drive(self) -> None:
        """Choose what to read; `sample` then knows whether it counts."""
        rng, dut = self.rng, self.dut
        if not self.pending and self.done < len(self.filler.groups):
            group = self.filler.groups[self.done]
            last = rng.randrange(len(group.words))
            self.pending = [rng.randrange(len(group.words)) for _ in range(rng.randint(0, 12))]
            self.pending.append(last)
        self.is_reading = (
            self.done < len(self.filler.groups)
            and int(dut.is_available.value) == 1
            # The last word is still being written.
            and self.cycle > self.filler.full_at[self.done]
            and rng.random() >= self.values["stall"]
        )
        self.beat = rng.getrandbits(len(dut.parameter_beat))
        is_last = self.is_reading and len(self.pending) == 1
        # Behind a release the bank's parameters are still there.
        self.late = bool(self.released_at) and rng.random() < 0.5 and not self.is_reading
        bank = self.done & 1
        dut.index.value = self.pending[0] if self.is_reading else rng.getrandbits(len(dut.index))
        if self.filler.is_resident:
            place = self.filler.groups[self.done].place if self.is_reading else None
            dut.reads_kept.value = int(place is not None)
            if place is None:
                dut.kept_index.value = rng.randrange(RESIDENT_WORDS)
            else:
                dut.kept_index.value = (place + self.pending[0]) % RESIDENT_WORDS
                dut.index.value = rng.getrandbits(len(dut.index))
        dut.release.value = int(is_last)
        dut.take.value = int(is_last)
        dut.parameter_bank.value = bank if not self.late else (self.done - 1) & 1
        dut.parameter_beat.value = self.beat

    def sample(self, cycle: int) -> None:
        """Compare what earlier reads gave, and note what this cycle's will give."""
        dut, outputs = self.dut, outputs_of(self.values["macs"])
        full = self.filler.full_at
        self.cycle = cycle + 1
        assert int(dut.is_available.value) == (
            self.done < len(full) and cycle >= full[self.done]
        ), f"cycle {cycle}: is_available"
        word = int(dut.weights.value)
        lane_bits = OPERAND_BITS * outputs
        for lane in range(LANES):
            expected = self.weights.pop((cycle, lane), None)
            if expected is not None:
                raw = word >> lane_bits * lane & ((1 << lane_bits) - 1)
                got = signed_fields(raw, OPERAND_BITS, outputs)
                if self.values["is_packed"]:
                    packed_bits = PACKED_WEIGHT_BITS * outputs
                    raw = int(dut.packed_weights.value) >> packed_bits * lane & (
                        (1 << packed_bits) - 1
                    )
                    got += signed_fields(raw, PACKED_WEIGHT_BITS, outputs)
                assert got == expected, f"cycle {cycle}, lane {lane}: {got}, not {expected}"
        channels = self.parameters.pop(cycle, [])
        raw = int(dut.parameters.value)
        for number, channel in enumerate(channels):
            field = raw >> 73 * number
            got_channel = (
                signed_fields(field, 32, 1)[0],
                field >> 32 & (2**31 - 1),
                (field >> 63 & 31) - (field >> 68 & 31),
            )
            assert got_channel == channel, f"cycle {cycle}: {got_channel}, not {channel}"
        if self.late and cycle - self.released_at[-1] < self.release_cycles:
            self._expect_parameters(self.filler.groups[self.done - 1], self.beat, cycle)
        if not self.is_reading:
            return
        assert int(dut.bank.value) == self.done & 1
        group = self.filler.groups[self.done]
        index = self.pending.pop(0)
        zero_point = self.values["zero_point"]
        for lane in range(LANES):
            due = cycle + WEIGHT_READ_CYCLES + (lane if self.values["is_skewed"] else 0)
            self.weights[due, lane] = [weight - zero_point for weight in group.words[index][lane]]
        self._expect_parameters(group, self.beat, cycle)
        if not self.pending:
            self.done += 1
            self.released_at.append(cycle)
            if self.filler.has_pairs:
                self.filler.settled_at.append(cycle + self.release_cycles + 1)


@cocotb.test()
async def groups(dut: Any) -> None:
    """Pass groups through the buffer; fills run ahead of reads as far as banks allow."""
    values = bench.parameters()
    rng = random.Random(values["seed"])
    outputs = outputs_of(values["macs"])
    filler = _Filler(dut, _random_groups(rng, values, outputs), rng, values)
    reader = _Reader(dut, values, filler)
    dut.fill__zero_point.value = values["zero_point"] & 0x1FF
    dut.fill__is_unsigned.value = int(values["is_unsigned"])
    dut.fill__is_table.value = 0
    dut.is_skewed.value = int(values["is_skewed"])
    dut.is_lookup.value = 0
    dut.take_table.value = 0
    if values["has_pairs"]:
        dut.fill__wraps.value = 0
    if has_packed(values["macs"]):
        dut.fill__is_packed.value = int(values["is_packed"])
    dut.release.value = 0
    dut.take.value = 0
    dut.fill__commands__valid.value = 0
    dut.fill__beats__valid.value = 0
    await stream_drivers.reset(dut.clk, dut.rst)
    await FallingEdge(dut.clk)

    def is_done() -> bool:
        return reader.done == values["count"] and not reader.weights and not reader.parameters

    limit = sum(len(group.beats) for group in filler.groups) * 4 + 100 * values["count"]
    await stream_drivers.run_until(dut.clk, [filler, reader], is_done, limit_cycles=limit)
    # A third group has to wait for the first one's release and the delay.
    delay = WEIGHTS_RELEASE_CYCLES if filler.has_pairs else reader.release_cycles
    for number in range(2, values["count"]):
        released = reader.released_at[number - 2]
        assert filler.command_at[number] > released + delay
