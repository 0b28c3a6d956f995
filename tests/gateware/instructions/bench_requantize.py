"""Benches of the requantizer pipeline and of the unit around it, against `kiwicha.numerics`."""

import itertools
import random
from typing import Any

import cocotb

from kiwicha.contract.cfu import LANES, RESULT_FIFO_DEPTH
from kiwicha.gateware.instructions.requantize import (
    REQUANTIZE_COMMAND,
    REQUANTIZE_RESULT,
    RequantizeKind,
)
from kiwicha.gateware.instructions.requantize_unit import OUTPUT_PARAMETERS, SCALE, SINGLE_VALUE
from kiwicha.numerics import requantization as numerics
from tests.support.gateware import bench, stream_drivers

__all__ = ["every_extreme", "pixels_and_values", "random_values"]

_ACCUMULATORS = (
    *(0, 1, -1, 2**24 - 1, 2**24, -(2**24), -(2**24) - 1),
    *(2**30, -(2**30), 2**31 - 1, -(2**31), -(2**31) + 1),
)
_MULTIPLIERS = (0, 1, 2**17 - 1, 2**17, 2**30, 2**30 + 1, 2**31 - 1)
_OUTPUTS = ((0, -128, 127), (-128, -128, 127), (127, -128, 127), (-128, -128, -128), (5, 5, 90))
# With four multipliers; with one: without a shift.
_LATENCY = 5
_SEQUENCE_LATENCY = 9

Command = tuple[int, int, int, RequantizeKind]


def _expected(command: Command, output: tuple[int, int, int]) -> int:
    accumulator, multiplier, shift, kind = command
    if kind is RequantizeKind.RESCALE:
        return int(numerics.multiply_by_quantized_multiplier(accumulator, multiplier, shift))
    return int(numerics.requantize(accumulator, multiplier, shift, *output))


async def _check(dut: Any, commands: list[Command], values: dict[str, Any]) -> None:
    output = values["output"]
    rng = random.Random(values["seed"])
    dut.output_offset.value, dut.minimum.value, dut.maximum.value = output
    await stream_drivers.reset(dut.clk, dut.rst)
    names = ("accumulator", "multiplier", "shift", "kind")
    items = [
        {"i": REQUANTIZE_COMMAND.const(dict(zip(names, c, strict=True))).as_bits()}
        for c in commands
    ]
    source = stream_drivers.Source(
        dut.i__valid, dut.i__ready, {"i": dut.i__payload}, items, rng, values["input_stall"]
    )
    sink = stream_drivers.Sink(
        dut.o__valid, dut.o__ready, dut.o__payload, rng, values["output_stall"]
    )
    busiest = max(values["input_stall"], values["output_stall"])
    await stream_drivers.run_until(
        dut.clk,
        [source, sink],
        lambda: len(sink.taken) == len(commands),
        limit_cycles=int(
            100 + (3 if values["multipliers"] > 1 else 50) * len(commands) / (1 - busiest)
        ),
    )
    for command, bits in zip(commands, sink.taken, strict=True):
        result = REQUANTIZE_RESULT.from_bits(bits)
        assert (result.value, result.kind) == (_expected(command, output), command[3]), command
    if busiest == 0:
        taken = source.taken_cycles
        if values["multipliers"] == 1:
            latencies = [_SEQUENCE_LATENCY + abs(shift) for _, _, shift, _ in commands]
            starts = [1 + cycle for cycle in sink.taken_cycles[:-1]]
        else:
            latencies = [_LATENCY] * len(commands)
            starts = [1 + cycle for cycle in taken[:-1]]
        assert taken[1:] == starts
        assert sink.taken_cycles == [a + b for a, b in zip(taken, latencies, strict=True)]


@cocotb.test()
async def every_extreme(dut: Any) -> None:
    """Combine every shift with extreme accumulators and multipliers."""
    values = bench.parameters()
    kind = RequantizeKind[values["kind"]]
    products = itertools.product(_ACCUMULATORS, _MULTIPLIERS, range(-31, 31))
    await _check(dut, [(*product, kind) for product in products], values)


@cocotb.test()
async def random_values(dut: Any) -> None:
    """Draw values whose results lie around the clamp, and others, with stalls on both sides."""
    values = bench.parameters()
    rng = random.Random(values["seed"])
    values["output"] = rng.choice(_OUTPUTS)
    commands: list[Command] = []
    for _ in range(values["count"]):
        bits = rng.randint(1, 31)
        accumulator = rng.randint(-(2**bits), 2**bits - 1)
        # From far inside the clamp to far outside.
        shift = max(-31, min(30, rng.randint(-4, 9) + 1 - bits + 5))
        multiplier = rng.getrandbits(31) | rng.choice((0, 2**30))
        commands.append((accumulator, multiplier, shift, rng.choice(list(RequantizeKind))))
    await _check(dut, commands, values)


class _UnitDriver:
    """Issue pixels, values, scales and outputs to `RequantizeUnit` as its contract allows."""

    def __init__(self, dut: Any, rng: random.Random, stall: float, count: int) -> None:
        self.dut, self.rng, self.stall, self.left = dut, rng, stall, count
        self.scales = [(0, 0)] * LANES
        self.output = (0, 0, 0)
        self.cycle = 0
        self.last_pixel = -10
        self.words: list[int] = []
        self.word_cycles: list[int] = []
        self.results: list[int] = []
        self.result_cycles: list[int] = []
        self.popped = 0
        # Every scale is set before it is used.
        self.next_lane = 0

    def drive(self) -> None:
        """Choose what is legal in this cycle."""
        for name in ("pixels", "values", "scales", "outputs"):
            getattr(self.dut, f"{name}__valid").value = 0
            payload = getattr(self.dut, f"{name}__payload")
            payload.value = self.rng.getrandbits(len(payload))
        if self.left == 0 or self.rng.random() < self.stall:
            return
        since = self.cycle - self.last_pixel
        if self.next_lane < LANES:
            self._set_scale(self.next_lane)
            self.next_lane += 1
            return
        choice = self.rng.choice(("pixel", "pixel", "pixel", "value", "scale", "output"))
        is_idle = bool(int(self.dut.is_idle.value)) and since > 1
        if choice == "pixel" and since >= 4 and self._pending() < RESULT_FIFO_DEPTH:
            self._push()
        elif choice == "value" and since > 4:
            self._value()
        elif choice == "scale" and since > 4:
            self._set_scale(self.rng.randrange(LANES))
        elif choice == "output" and is_idle:
            low, high = sorted(self.rng.randint(-128, 127) for _ in range(2))
            self.output = (self.rng.randint(-128, 127), low, high)
            names = ("offset", "minimum", "maximum")
            self._send("outputs", OUTPUT_PARAMETERS, dict(zip(names, self.output, strict=True)))

    def _pending(self) -> int:
        return len(self.words) - self.popped

    def _send(self, name: str, layout: Any, fields: Any) -> None:
        getattr(self.dut, f"{name}__payload").value = layout.const(fields).as_bits()
        getattr(self.dut, f"{name}__valid").value = 1

    def _accumulator(self) -> int:
        bits = self.rng.randint(1, 31)
        return self.rng.randint(-(2**bits), 2**bits - 1)

    def _set_scale(self, lane: int) -> None:
        scale = self.rng.getrandbits(31), self.rng.randint(-20, 2)
        self.scales[lane] = scale
        fields = {"lane": lane, "multiplier": scale[0], "shift": scale[1]}
        self._send("scales", SCALE, fields)

    def _push(self) -> None:
        accumulators = [self._accumulator() for _ in range(LANES)]
        bits = sum((x & 0xFFFF_FFFF) << (32 * k) for k, x in enumerate(accumulators))
        self.dut.pixels__payload.value = bits
        self.dut.pixels__valid.value = 1
        outputs = [
            int(numerics.requantize(x, *scale, *self.output)) & 0xFF
            for x, scale in zip(accumulators, self.scales, strict=True)
        ]
        self.words.append(sum(x << (8 * k) for k, x in enumerate(outputs)))
        self.word_cycles.append(self.cycle)
        self.last_pixel = self.cycle
        self.left -= 1

    def _value(self) -> None:
        lane, is_rescale, x = (
            self.rng.randrange(LANES),
            self.rng.getrandbits(1),
            self._accumulator(),
        )
        self._send("values", SINGLE_VALUE, {"lane": lane, "value": x, "is_rescale": is_rescale})
        if is_rescale:
            result = numerics.multiply_by_quantized_multiplier(x, *self.scales[lane])
        else:
            result = numerics.requantize(x, *self.scales[lane], *self.output)
        self.results.append(int(result) & 0xFFFF_FFFF)
        self.result_cycles.append(self.cycle)
        self.left -= 1

    def sample(self, cycle: int) -> None:
        """Follow the cycle number and what the unit gives away."""
        self.cycle = cycle + 1
        if int(self.dut.words__valid.value) and int(self.dut.words__ready.value):
            self.popped += 1


@cocotb.test()
async def pixels_and_values(dut: Any) -> None:
    """Mix pixels, single values and changes of scale and output; check results and latencies."""
    values = bench.parameters()
    rng = random.Random(values["seed"])
    await stream_drivers.reset(dut.clk, dut.rst)
    driver = _UnitDriver(dut, rng, values["input_stall"], values["count"])
    words = stream_drivers.Sink(
        dut.words__valid, dut.words__ready, dut.words__payload, rng, values["output_stall"]
    )
    results = stream_drivers.Sink(dut.results__valid, None, dut.results__payload, rng, 0)
    # The sink decides about readiness before the driver looks at it.
    await stream_drivers.run_until(
        dut.clk,
        [words, results, driver],
        lambda: driver.left == 0 and len(words.taken) == len(driver.words),
        limit_cycles=int(100 + 20 * values["count"] / (1 - values["output_stall"])),
    )
    assert words.taken == driver.words
    assert results.taken == driver.results
    assert results.taken_cycles == [cycle + 5 for cycle in driver.result_cycles]
    if values["output_stall"] == 0:
        assert words.taken_cycles == [cycle + 10 for cycle in driver.word_cycles]
