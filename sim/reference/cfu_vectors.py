"""Streams of custom instructions that test a custom function unit.

The benches of module ``Cfu`` execute them, and `kiwicha.boards.bringup` on a board.
"""

import random
from collections.abc import Iterator
from dataclasses import dataclass

from kiwicha.contract.cfu import (
    INSTRUCTIONS,
    AccumulatorOp,
    ConfigOp,
    DataOp,
    Group,
    RequantizeOp,
    function_id,
)
from kiwicha.contract.configs import Config
from kiwicha.sim.reference.cfu_orders import ORDERS, SET_UP, Instruction

__all__ = ["CYCLES", "Vector", "every_function_id", "random_instructions", "vectors"]

CYCLES = function_id(Group.CONFIG, ConfigOp.CYCLES)
"""The one instruction whose answer depends on when it comes."""
_RANDOM_INSTRUCTIONS = 1500
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
    *((Group.DATA, op, INSTRUCTIONS[op.name.lower()].indexes, 1) for op in DataOp),
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


def random_instructions(rng: random.Random, count: int) -> list[Instruction]:
    """Return random instructions that the contract allows, in runs that collide often.

    Parameters
    ----------
    rng : random.Random
        Where they come from.
    count : int
        How many, or a few more.
    """
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


def every_function_id(rng: random.Random, config: Config) -> list[Instruction]:
    """Return every function id there is, known or not, twice in random order.

    Parameters
    ----------
    rng : random.Random
        Where order and operands come from.
    config : Config
        What the custom function unit has.
    """
    function_ids = list(range(1024)) * 2
    rng.shuffle(function_ids)
    instructions = _set_up() if config.has_simd else []
    for number in function_ids:
        op, group = number >> 7, number & 7
        instructions.append((number, *_operands(rng, group, op)))
    return instructions


@dataclass(frozen=True)
class Vector:
    """Instructions for a custom function unit that was just reset.

    Parameters
    ----------
    name : str
        What they are, for messages.
    instructions : tuple of Instruction
        In their order.
    """

    name: str
    instructions: tuple[Instruction, ...]


def vectors(config: Config, *, count: int, seed: int) -> Iterator[Vector]:
    """Yield the vectors of the benches: fixed ones, every function id, and random ones.

    Parameters
    ----------
    config : Config
        What the custom function unit has: custom instructions.
    count : int
        Random vectors.
    seed : int
        Of the first random vector; the others follow.
    """
    for name, steps in ORDERS.items():
        yield Vector(name, (*SET_UP, *(instruction for instruction, _ in steps)))
    yield Vector("every-function-id", tuple(every_function_id(random.Random(seed), config)))
    for number in range(seed, seed + count):
        instructions = random_instructions(random.Random(number), _RANDOM_INSTRUCTIONS)
        yield Vector(f"random-{number}", tuple(instructions))
