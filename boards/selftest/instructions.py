"""The check of the instruction tier: each custom instruction, by itself."""

import random
from collections.abc import Iterator

from kiwicha.boards.selftest.finding import Finding
from kiwicha.boards.selftest.runner import Runner
from kiwicha.contract.cfu import (
    INSTRUCTIONS,
    LANES,
    RESULT_FIFO_DEPTH,
    AccumulatorOp,
    ConfigOp,
    Group,
    RequantizeOp,
    function_id,
)
from kiwicha.contract.configs import Config
from kiwicha.contract.serial import SerialInstruction
from kiwicha.sim.reference.cfu_model import CfuModel
from kiwicha.sim.reference.cfu_orders import Instruction
from kiwicha.sim.reference.cfu_vectors import CYCLES, every_function_id, random_instructions
from kiwicha.sim.reference.function_names import function_names

__all__ = ["KNOWN_STATE", "check_instructions"]

KNOWN_STATE: tuple[Instruction, ...] = (
    *((function_id(Group.REQUANTIZE, RequantizeOp.POP), 0, 0),) * RESULT_FIFO_DEPTH,
    *(
        (function_id(Group.REQUANTIZE, RequantizeOp.SCALE, lane), 1 << 30, 0)
        for lane in range(LANES)
    ),
    *(
        (function_id(Group.ACCUMULATOR, AccumulatorOp.BIAS, lane), 100 * lane, 0)
        for lane in range(LANES)
    ),
    (function_id(Group.ACCUMULATOR, AccumulatorOp.START), 0, 0),
    (function_id(Group.CONFIG, ConfigOp.INPUT_OFFSET), 5, 0),
    (function_id(Group.CONFIG, ConfigOp.OUTPUT), 3, 0x7F80),
)
"""What was left by others, results among it, is gone behind these."""
_LONGEST_CYCLES = 100_000
"""Between two instructions: the caches are cold, and code is written for each."""


def check_instructions(
    runner: Runner, config: Config, *, count: int, seed: int
) -> Iterator[Finding]:
    """Yield what comes of each custom instruction: a finding for each group of them.

    Parameters
    ----------
    runner : Runner
        The board.
    config : Config
        What its custom function unit has.
    count : int
        Random instructions, beside every one twice.
    seed : int
        Of operands and order.
    """
    if not config.has_simd:
        return
    rng = random.Random(seed)
    stream = [*every_function_id(rng, config), *random_instructions(rng, count)]
    # An engine's instructions have checks of their own, as have those of the unit for frames of
    # sound, which depend on what others have left.
    left_out = {Group.ENGINE: config.engine_macs, Group.SIGNAL: config.has_signal}
    stream = [item for item in stream if not left_out.get(Group(item[0] & 7))]
    wanted = [*KNOWN_STATE, *stream]
    answers = runner.execute([SerialInstruction(*item) for item in wanted])
    wrong = _wrong(config, wanted, answers)
    for group in Group:
        if group in {Group.ENGINE, Group.SIGNAL}:
            continue
        numbers = [item for item in wanted if item[0] & 7 == group]
        name = f"instructions, {group.name}"
        if group in wrong:
            yield Finding(name, "", wrong[group], _cause(wrong))
        else:
            known = sum(entry.group is group for entry in INSTRUCTIONS.values())
            yield Finding(name, f"{known} instructions, {len(numbers):,} executions")


def _wrong(config: Config, wanted: list[Instruction], answers: list[int]) -> dict[Group, str]:
    """Return the first wrong answer of each group, in words."""
    model, found = CfuModel(config), dict[Group, str]()
    last_cycles: int | None = None
    for number, (item, got) in enumerate(zip(wanted, answers, strict=True)):
        expected = model.execute(*item)
        text = f"{expected:#010x}"
        if item[0] == CYCLES:
            is_right = last_cycles is None or 0 < (got - last_cycles) % (
                1 << 32
            ) <= _LONGEST_CYCLES * len(wanted)
            text, last_cycles = f"more than {last_cycles}", got
        else:
            # How many results others have left is not known.
            is_right = got == expected or number < RESULT_FIFO_DEPTH
        group = item[0] & 7
        if not is_right and group in set(Group):
            found.setdefault(
                Group(group),
                f"execution {number}, {_name(item[0])} (function id {item[0]}) of {item[1]:#010x} "
                f"and {item[2]:#010x}: expected {text}, got {got:#010x}",
            )
    return found


def _name(number: int) -> str:
    return function_names().get(number, "unknown function")


def _cause(wrong: dict[Group, str]) -> str:
    if len(wrong) >= len(Group) - 1:
        return (
            "the path between CPU and custom function unit, or its clock: no group answers as it"
            " should; kiwicha bringup tests it without the CPU"
        )
    names = ", ".join(group.name for group in wrong)
    return (
        f"the part of the custom function unit behind {names}: a path that is too slow for this"
        " clock, a bad multiplier, or a bitstream of another version; kiwicha bringup tells which"
    )
