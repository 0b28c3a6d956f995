"""Benches of the whole custom function unit, against `CfuModel`."""

import itertools
import random
from typing import Any

import cocotb

from kiwicha.isa import (
    CONFIGS,
    AccumulatorOp,
    ConfigOp,
    DataOp,
    Group,
    RequantizeOp,
    function_id,
)
from kiwicha.sim import bench
from kiwicha.sim.cfu_driver import Answers, Instruction, feed
from kiwicha.sim.cfu_model import CfuModel

__all__ = ["every_function_id", "program", "random_streams"]

_CYCLES = function_id(Group.CONFIG, ConfigOp.CYCLES)
_WORD_EXTREMES = (0, 1, 0x7F, 0x80, 0x7FFF_FFFF, 0x8000_0000, 0xFFFF_FFFF, 0x8080_8080, 0x7F7F_7F7F)

# Instruction, number of indexes, weight. Pixels and lanes repeat often enough to collide.
_MIX = (
    (Group.MAC, 0, 16, 12),
    (Group.MAC_LANES, 0, 4, 6),
    (Group.ACCUMULATOR, AccumulatorOp.BIAS, 4, 3),
    (Group.ACCUMULATOR, AccumulatorOp.START, 1, 2),
    (Group.ACCUMULATOR, AccumulatorOp.READ, 16, 4),
    (Group.ACCUMULATOR, AccumulatorOp.WRITE, 16, 4),
    (Group.CONFIG, ConfigOp.INPUT_OFFSET, 1, 2),
    (Group.CONFIG, ConfigOp.OUTPUT, 1, 2),
    (Group.CONFIG, ConfigOp.ISA_VERSION, 1, 1),
    (Group.CONFIG, ConfigOp.CYCLES, 1, 1),
    (Group.REQUANTIZE, RequantizeOp.SCALE, 4, 4),
    (Group.REQUANTIZE, RequantizeOp.PUSH, 4, 8),
    (Group.REQUANTIZE, RequantizeOp.POP, 1, 7),
    (Group.REQUANTIZE, RequantizeOp.VALUE, 4, 3),
    (Group.REQUANTIZE, RequantizeOp.RESCALE, 4, 3),
    (Group.DATA, DataOp.ALIGN, 4, 1),
    (Group.DATA, DataOp.EXTRACT, 4, 1),
    (Group.DATA, DataOp.PACK, 1, 1),
    (Group.DATA, DataOp.MAX, 1, 1),
)


def _random_word(rng: random.Random) -> int:
    if rng.random() < 0.2:
        return rng.choice(_WORD_EXTREMES)
    # Words of few bits leave products and accumulators inside the clamp now and then.
    return rng.getrandbits(32) >> rng.choice((0, 0, 8, 16, 24)) ^ (0xFFFF_FFFF * rng.getrandbits(1))


def _operands(rng: random.Random, group: int, op: int) -> tuple[int, int]:
    """Return operands that the instruction's description allows."""
    a, b = _random_word(rng), _random_word(rng)
    if (group, op) == (Group.REQUANTIZE, RequantizeOp.SCALE):
        multiplier = rng.choice((0, 1, 2**31 - 1, 2**30, rng.getrandbits(31), rng.getrandbits(31)))
        shift = rng.choice((-31, 30, 0, -1, 1, rng.randint(-31, 30), rng.randint(-12, 0)))
        return multiplier, shift & 0xFFFF_FFFF
    if (group, op) == (Group.CONFIG, ConfigOp.INPUT_OFFSET):
        return rng.choice((-127, 128, 0, rng.randint(-127, 128))) & 0xFFFF_FFFF, b
    if (group, op) == (Group.CONFIG, ConfigOp.OUTPUT):
        pairs = ((-128, 127), sorted(rng.randint(-128, 127) for _ in range(2)))
        low, high = rng.choice(pairs)
        return rng.randint(-128, 127) & 0xFFFF_FFFF, (low & 0xFF) | (high & 0xFF) << 8
    return a, b


def _set_up() -> list[Instruction]:
    """Return what gives every scale and the output a defined value."""
    scales = [
        (function_id(Group.REQUANTIZE, RequantizeOp.SCALE, lane), 2**30 + lane, -lane & 0xFFFF_FFFF)
        for lane in range(4)
    ]
    return [*scales, (function_id(Group.CONFIG, ConfigOp.OUTPUT), 3, 0x7F80)]


def _random_instructions(rng: random.Random, count: int) -> list[Instruction]:
    weights = [weight for *_, weight in _MIX]
    stream = _set_up()
    while len(stream) < count:
        if rng.random() < 0.02:
            number = rng.getrandbits(10)
            stream.append((number, *_operands(rng, number & 7, number >> 7)))
        group, op, indexes, _ = rng.choices(_MIX, weights)[0]
        # Runs of one instruction are what finds a missing stall.
        for _ in range(rng.choice((1, 1, 2, 5))):
            index = rng.randrange(indexes)
            stream.append((function_id(group, op, index), *_operands(rng, group, op)))
    return stream


def _compare(instructions: list[Instruction], answers: Answers, config: str) -> None:
    model = CfuModel(CONFIGS[config])
    first_cycle = None
    for number, (instruction, answer) in enumerate(zip(instructions, answers.values, strict=True)):
        expected = model.execute(*instruction)
        if instruction[0] == _CYCLES:
            counted = answer - answers.accepted[number]
            first_cycle = counted if first_cycle is None else first_cycle
            expected = first_cycle + answers.accepted[number]
        assert answer == expected, (
            f"instruction {number}, {[hex(x) for x in instruction]}: {answer:#x}, not {expected:#x}"
        )


@cocotb.test()
async def random_streams(dut: Any) -> None:
    """Execute random instructions with stalls on both sides."""
    values = bench.parameters()
    rng = random.Random(values["seed"])
    instructions = _random_instructions(rng, values["count"])
    answers = await feed(
        dut,
        instructions,
        seed=values["seed"],
        command_stall=values["command_stall"],
        response_stall=values["response_stall"],
    )
    _compare(instructions, answers, "simd")


@cocotb.test()
async def every_function_id(dut: Any) -> None:
    """Execute every function id there is, twice in random order."""
    values = bench.parameters()
    rng = random.Random(values["seed"])
    function_ids = list(range(1024)) * 2
    rng.shuffle(function_ids)
    instructions = _set_up() if values["config"] == "simd" else []
    for number in function_ids:
        op, group = number >> 7, number & 7
        instructions.append((number, *_operands(rng, group, op)))
    answers = await feed(dut, instructions)
    _compare(instructions, answers, values["config"])


@cocotb.test()
async def program(dut: Any) -> None:
    """Execute given instructions at full speed; check answers, and when they come.

    Parameters: ``instructions``, ``latencies``, the cycles from each command to its answer, and
    ``distances``, those to the next command if not the same.
    """
    values = bench.parameters()
    instructions: list[Instruction] = [tuple(words) for words in values["instructions"]]
    answers = await feed(dut, instructions)
    _compare(instructions, answers, "simd")
    latencies = [
        answered - accepted
        for accepted, answered in zip(answers.accepted, answers.answered, strict=True)
    ]
    assert latencies == values["latencies"], f"latencies are {latencies}"
    steps = itertools.pairwise(answers.accepted)
    distances = [after - before for before, after in steps]
    assert distances == values.get("distances", latencies)[:-1], f"distances are {distances}"
