"""Bench of the multiplier array, driven as the address generators do, against plain sums."""

import random
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import cocotb
import numpy as np
from cocotb.triggers import FallingEdge
from numpy.typing import NDArray

from kiwicha.contract.engine import (
    PACKED_WEIGHT_LIMIT,
    PACKED_WEIGHTS_LIMIT,
    JobFlag,
    has_packed,
    input_lanes_of,
    outputs_of,
)
from kiwicha.gateware.engine.array.interfaces import (
    LANES,
    OPERAND_BITS,
    PACKED_WEIGHT_BITS,
    ArrayMode,
)
from kiwicha.gateware.engine.array.mac_array import MacArray
from tests.support.gateware import bench, stream_drivers
from tests.support.gateware.engine_fields import pack, signed_fields

__all__ = ["convolutions", "depthwise_rows", "maxima", "packed_convolutions", "products"]

Ints = NDArray[np.int64]
_LARGEST = 255


@dataclass
class Step:
    """One cycle: nothing, or an operation with its inputs and one weight word [lane, output]."""

    x: Sequence[int] = ()
    weights: Ints | None = None
    first: bool = False
    shift: bool = False
    last: bool = False
    tag: int = 0
    packed: Ints | None = None


@dataclass
class Schedule:
    """What to drive, cycle by cycle, and which result beats must come of it."""

    steps: list[Step] = field(default_factory=list)
    results: list[list[list[int]]] = field(default_factory=list)
    """For each operation with ``last``, its beats."""
    last_at: int = -(10**6)

    def idle(self, cycles: int) -> None:
        """Do nothing for some cycles."""
        self.steps += [Step() for _ in range(cycles)]

    def add(self, step: Step, interval: int) -> None:
        """Append an operation, one with ``last`` at least ``interval`` cycles after another."""
        if step.last:
            self.idle(self.last_at + interval - len(self.steps))
            self.last_at = len(self.steps)
        self.steps.append(step)


def _numbers(rng: np.random.Generator, shape: tuple[int, ...]) -> Ints:
    """Return 9-bit differences of bytes: all extremes, all small or all over the range."""
    kind = rng.integers(4)
    if kind == 0:
        return rng.choice(np.array([-_LARGEST, _LARGEST]), shape)
    if kind == 1:
        return np.full(shape, rng.choice(np.array([-_LARGEST, _LARGEST])), np.int64)
    largest = 3 if kind == 2 else _LARGEST
    return rng.integers(-largest, largest + 1, shape)


async def _play(dut: Any, schedule: Schedule, mode: ArrayMode, values: dict[str, Any]) -> None:
    rng = random.Random(values["seed"])
    outputs, lanes_of_beat = outputs_of(values["macs"]), values["lanes"]
    is_systolic = mode in {ArrayMode.CONV, ArrayMode.PACKED}
    late = 2 if mode is ArrayMode.MAX else 0
    tag_bits = len(dut.operations__payload) - 3
    gap = 2 if values["is_wide"] else 1
    due: dict[int, tuple[list[int], int, int]] = {}
    results = iter(schedule.results)
    drain = MacArray.LATENCY[mode] + 4 * outputs // lanes_of_beat
    steps = schedule.steps + [Step() for _ in range(drain)]
    for cycle, step in enumerate(steps):
        expected = due.pop(cycle, None)
        assert int(dut.results__valid.value) == (expected is not None), f"cycle {cycle}"
        if expected is not None:
            word = int(dut.results__payload.value)
            flags = word >> 32 * lanes_of_beat
            beat_bits = (2 * outputs // lanes_of_beat - 1).bit_length()
            beat, tag = flags & ((1 << beat_bits) - 1), flags >> beat_bits
            got = signed_fields(word, 32, lanes_of_beat), beat, tag
            assert got == expected, f"cycle {cycle}: {got}, not {expected}"
        is_valid = step.weights is not None
        x = pack(step.x, OPERAND_BITS) if is_valid else rng.getrandbits(len(dut.x))
        lanes = (
            [steps[cycle - lane] if cycle >= lane else Step() for lane in range(LANES)]
            if is_systolic
            else [steps[cycle - late] if cycle >= late else Step()] * LANES
        )
        dut.weights.value = _word(rng, [s.weights for s in lanes], outputs, OPERAND_BITS)
        if has_packed(values["macs"]):
            dut.packed_weights.value = _word(
                rng, [s.packed for s in lanes], outputs, PACKED_WEIGHT_BITS
            )
        tag = rng.getrandbits(tag_bits) if not is_valid else step.tag % (1 << tag_bits)
        flags = step.first | step.shift << 1 | step.last << 2 if is_valid else rng.getrandbits(3)
        dut.operations__valid.value = int(is_valid)
        dut.operations__payload.value = flags | tag << 3
        dut.x.value = x
        if is_valid and step.last:
            sums = [total for half in next(results) for total in half]
            for beat, first in enumerate(range(0, len(sums), lanes_of_beat)):
                at = cycle + MacArray.LATENCY[mode] + beat * gap
                due[at] = sums[first : first + lanes_of_beat], beat, tag
        await FallingEdge(dut.clk)
    assert not due
    assert next(results, None) is None


def _word(rng: random.Random, sources: Sequence[Ints | None], outputs: int, bits: int) -> int:
    """Return what the weight memories give: for each lane that of its source, or noise."""
    lanes = [
        rng.getrandbits(bits * outputs)
        if source is None
        else pack([int(weight) for weight in source[lane]], bits)
        for lane, source in enumerate(sources)
    ]
    return pack(lanes, bits * outputs)


async def _start(dut: Any, mode: ArrayMode, values: dict[str, Any]) -> None:
    dut.mode.value = mode.value
    dut.is_wide.value = int(values["is_wide"])
    dut.gives_positions.value = int(values.get("gives_positions", 0))
    dut.operations__valid.value = 0
    await stream_drivers.reset(dut.clk, dut.rst)
    await FallingEdge(dut.clk)


@cocotb.test()
async def convolutions(dut: Any) -> None:
    """Sum dot products of one to many words, close together or with gaps."""
    values = bench.parameters()
    rng = np.random.default_rng(values["seed"])
    outputs = outputs_of(values["macs"])
    schedule = Schedule()
    for number in range(values["count"]):
        words = int(rng.choice((1, 2, 3, 9, 40)))
        x = _numbers(rng, (words, len(dut.x) // OPERAND_BITS))
        weights = _numbers(rng, (words, LANES, outputs))
        for k in range(words):
            if rng.random() < values["stall"]:
                schedule.idle(int(rng.integers(1, 4)))
            # First and shift mean nothing here.
            first, shift = bool(rng.integers(2)), bool(rng.integers(2))
            last = k == words - 1
            step = Step([int(v) for v in x[k]], weights[k], first, shift, last, number)
            schedule.add(step, _interval(values, 1))
        sums = np.einsum("kl,klo->o", x[:, :LANES], weights)
        schedule.results.append([[int(value) for value in sums]])
    await _start(dut, ArrayMode.CONV, values)
    await _play(dut, schedule, ArrayMode.CONV, values)


def _interval(values: dict[str, Any], halves: int) -> int:
    """Return how far apart results of so many times ``outputs`` channels must be."""
    beats = halves * outputs_of(values["macs"]) // int(values["lanes"])
    return beats * (2 if values["is_wide"] else 1)


@cocotb.test()
async def maxima(dut: Any) -> None:
    """Find the largest of one to many inputs and where it is, close together or with gaps."""
    values = bench.parameters()
    rng = np.random.default_rng(values["seed"])
    outputs = outputs_of(values["macs"])
    schedule = Schedule()
    nothing = np.zeros((LANES, outputs), np.int64)
    for number in range(values["count"]):
        count = int(rng.choice((1, 2, 3, 9, 40, 256)))
        x = _numbers(rng, (count, len(dut.x) // OPERAND_BITS))
        near = int(rng.integers(0, 254))
        limits = [(0, 256), (near, near + 2), (0, 1), (255, 256)][int(rng.integers(4))]
        x[:, :outputs] = rng.integers(*limits, (count, outputs))
        for k in range(count):
            if rng.random() < values["stall"]:
                schedule.idle(int(rng.integers(1, 4)))
            first = bool(rng.integers(2))
            inputs = [int(v) for v in x[k]]
            step = Step(inputs, nothing, first, last=k == count - 1, tag=number)
            schedule.add(step, _interval(values, 1))
        found = x[:, :outputs].max(axis=0)
        if values["gives_positions"]:
            found += 256 * x[:, :outputs].argmax(axis=0)
        schedule.results.append([[int(value) for value in found]])
    await _start(dut, ArrayMode.MAX, values)
    await _play(dut, schedule, ArrayMode.MAX, values)


def _packable(rng: np.random.Generator, shape: tuple[int, ...], low: int, high: int) -> Ints:
    """Return numbers of a range: only extremes, one extreme, or all over it."""
    kind = rng.integers(3)
    if kind == 0:
        return rng.choice(np.array([low, high]), shape)
    if kind == 1:
        return np.full(shape, rng.choice(np.array([low, high])), np.int64)
    return rng.integers(low, high + 1, shape)


def _first_weights(rng: np.random.Generator, shape: tuple[int, int, int]) -> Ints:
    """Return first weights [words, lanes, outputs], of eight bits or of nine.

    In a word few of those are large: they add up to the largest sum that is allowed, or to less.
    """
    limit = PACKED_WEIGHT_LIMIT
    if rng.integers(2):
        return _packable(rng, shape, -limit, limit)
    words, lanes, outputs = shape
    cuts = np.sort(rng.integers(0, PACKED_WEIGHTS_LIMIT + 1, (words, lanes, outputs)), axis=1)
    sizes = np.diff(cuts, axis=1, prepend=0).clip(max=255)
    signs = rng.choice((-1, 1), shape) if rng.integers(2) else rng.choice((-1, 1))
    weights: Ints = sizes * signs
    return weights


@cocotb.test()
async def packed_convolutions(dut: Any) -> None:
    """Sum dot products of one to many words, two for each chain pair."""
    values = bench.parameters()
    rng = np.random.default_rng(values["seed"])
    outputs = outputs_of(values["macs"])
    limit = PACKED_WEIGHT_LIMIT
    schedule = Schedule()
    for number in range(values["count"]):
        words = int(rng.choice((1, 2, 3, 9, 40)))
        x = _packable(rng, (words, len(dut.x) // OPERAND_BITS), -128, 127)
        weights = _first_weights(rng, (words, LANES, outputs))
        packed = _packable(rng, weights.shape, -limit, limit)
        depths = input_lanes_of(values["macs"], JobFlag.PACKED) // LANES
        for k in range(words):
            if rng.random() < values["stall"]:
                schedule.idle(int(rng.integers(1, 4)))
            given = [int(v) for v in x[k]]
            step = Step(given, weights[k], last=k == words - 1, tag=number, packed=packed[k])
            schedule.add(step, _interval(values, 2 // depths))
        # Of a word chain pairs are outputs, for each eight of the inputs.
        inputs = x[:, : depths * LANES].reshape(words, depths, LANES)
        split = [half.reshape(words, LANES, depths, -1) for half in (weights, packed)]
        sums = np.concatenate([np.einsum("kdl,kldo->o", inputs, half) for half in split])
        beats = sums.reshape(-1, outputs)
        schedule.results.append([[int(value) for value in beat] for beat in beats])
    await _start(dut, ArrayMode.PACKED, values)
    await _play(dut, schedule, ArrayMode.PACKED, values)


@cocotb.test()
async def products(dut: Any) -> None:
    """Multiply inputs by inputs, of which the first can come some cycles before the second."""
    values = bench.parameters()
    rng = np.random.default_rng(values["seed"])
    outputs = outputs_of(values["macs"])
    schedule = Schedule()
    for number in range(values["count"]):
        x = _numbers(rng, (2, len(dut.x) // OPERAND_BITS))
        weights = _numbers(rng, (2, LANES, outputs))
        for k in range(2):
            if rng.random() < values["stall"]:
                schedule.idle(int(rng.integers(1, 4)))
            inputs, is_second = [int(v) for v in x[k]], k == 1
            schedule.add(Step(inputs, weights[k], True, is_second, is_second, number), 2)
        schedule.results.append([[int(value) for value in x.prod(axis=0)[:outputs]]])
    await _start(dut, ArrayMode.PRODUCT, values)
    await _play(dut, schedule, ArrayMode.PRODUCT, values)


@dataclass(frozen=True)
class Window:
    """One row of outputs of a depthwise convolution."""

    kernel_height: int
    kernel_width: int
    stride: int
    pad_left: int
    pad_right: int
    width: int

    @property
    def slots(self) -> int:
        """Taps in use: kernel columns per column phase."""
        return -(-self.kernel_width // self.stride)

    @property
    def output_width(self) -> int:
        """Outputs of the row."""
        padded = self.width + self.pad_left + self.pad_right
        return (padded - self.kernel_width) // self.stride + 1


def _random_window(rng: np.random.Generator, taps: int, number: int) -> Window:
    fixed = [(3, 3, 1, 1, 1, 7), (16, taps, 1, taps - 1, taps - 1, 9), (1, 1, 1, 0, 0, 5)]
    fixed += [(2, min(2 * taps, 8), 2, 1, 2, 15), (5, 2, 3, 0, 0, 11), (3, 3, 2, 0, 1, 10)]
    if number < len(fixed):
        return Window(*fixed[number])
    stride = int(rng.integers(1, 4))
    kernel_width = int(rng.integers(1, min(taps * stride, 8) + 1))
    pad_left, pad_right = (int(rng.integers(kernel_width)) for _ in range(2))
    width = int(rng.integers(max(1, kernel_width - pad_left - pad_right), 20))
    kernel_height = int(rng.integers(1, 17))
    return Window(kernel_height, kernel_width, stride, pad_left, pad_right, width)


def _direct(window: Window, x: Ints, weights: Ints) -> Ints:
    """Return outputs [column, channel] of x [row, column, channel], weights [row, column, ...]."""
    padded = np.pad(x, ((0, 0), (window.pad_left, window.pad_right), (0, 0)))
    columns = [
        (padded[:, ox * window.stride :][:, : window.kernel_width] * weights).sum(axis=(0, 1))
        for ox in range(window.output_width)
    ]
    return np.array(columns)


def _weight_words(window: Window, weights: Ints, outputs: int, taps: int) -> Ints:
    """Return the words [phase, row, lane, output] of weights [row, column, channel]."""
    words = np.zeros((window.stride, window.kernel_height, LANES, outputs), np.int64)
    for column in range(window.kernel_width):
        slot, phase = divmod(column, window.stride)
        tap = taps - window.slots + slot
        for half in range(LANES // taps):
            channels = weights[:, column, half * outputs : (half + 1) * outputs]
            words[phase, :, half * taps + tap, :] = channels
    return words


def _drive_row(
    schedule: Schedule,
    window: Window,
    rows: Sequence[int],
    x: Ints,
    words: Ints,
    interval: int,
    rng: np.random.Generator,
    stall: float,
) -> None:
    """Append the operations of one row of outputs; ``rows`` are the kernel rows inside the map."""
    channels = x.shape[2]
    groups = window.output_width + window.slots - 1
    is_first = True
    for group in range(window.pad_left // window.stride, groups):
        virtual = [group * window.stride + phase for phase in range(window.stride)]
        columns = [v - window.pad_left for v in virtual if 0 <= v - window.pad_left < window.width]
        operations = [
            (x[row, column], words[(column + window.pad_left) % window.stride, row])
            for column in columns
            for row in rows
        ]
        # Past the right border, or with no row inside, one operation on zeros moves the chain.
        operations = operations or [(np.zeros(channels, np.int64), words[0, 0])]
        for k, (inputs, word) in enumerate(operations):
            if rng.random() < stall:
                schedule.idle(int(rng.integers(1, 4)))
            last = k == len(operations) - 1 and group >= window.slots - 1
            step = Step(
                [int(v) for v in inputs], word, is_first, k == 0 and not is_first, last, group
            )
            schedule.add(step, interval)
            is_first = False


@cocotb.test()
async def depthwise_rows(dut: Any) -> None:
    """Compute rows of many windows: any size, stride and padding."""
    values = bench.parameters()
    rng = np.random.default_rng(values["seed"])
    outputs = outputs_of(values["macs"])
    taps = values["taps"]
    mode = ArrayMode.DEPTHWISE_4 if taps == 4 else ArrayMode.DEPTHWISE_8
    beats = LANES // taps
    interval = _interval(values, beats)
    schedule = Schedule()
    for number in range(values["count"]):
        window = _random_window(rng, taps, number)
        channels = len(dut.x) // OPERAND_BITS
        x = _numbers(rng, (window.kernel_height, window.width, channels))
        weights = _numbers(rng, (window.kernel_height, window.kernel_width, channels))
        words = _weight_words(window, weights, outputs, taps)
        # Rows outside the map are left out; they count as zeros.
        rows = [row for row in range(window.kernel_height) if rng.random() < 0.9]
        inside = x.copy()
        inside[[row for row in range(window.kernel_height) if row not in rows]] = 0
        _drive_row(schedule, window, rows, x, words, interval, rng, values["stall"])
        for column in _direct(window, inside, weights):
            halves = column[: beats * outputs].reshape(beats, outputs)
            schedule.results.append([[int(value) for value in half] for half in halves])
    await _start(dut, mode, values)
    await _play(dut, schedule, mode, values)
