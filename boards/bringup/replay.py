"""Executes the benches' vectors on a board, and tells what a difference means."""

import enum
import itertools
import random
import struct
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from kiwicha.boards.link.serial_link import Link, RefusedError
from kiwicha.contract import configs
from kiwicha.contract.configs import Config
from kiwicha.contract.serial import (
    SERIAL_INSTRUCTIONS,
    SerialHello,
    SerialInstruction,
    SerialOp,
    SerialStatus,
)
from kiwicha.errors import BoardError
from kiwicha.sim.reference.cfu_model import CfuModel
from kiwicha.sim.reference.cfu_orders import Instruction
from kiwicha.sim.reference.cfu_vectors import CYCLES, Vector
from kiwicha.sim.reference.function_names import function_names

__all__ = ["Difference", "Fault", "Outcome", "check_design", "replay"]

_LONGEST_CYCLES = 20
"""No instruction takes longer to its answer, whatever came before it."""
_PASSED, _FAILED = 1, 2
_WHOLE_BURSTS = 3 / 4


class Fault(enum.Enum):
    """What repeating a vector that differs shows; the value is a message."""

    LOGIC = (
        "the same when repeated, and with every instruction by itself: the bitstream is not of "
        "this version, or the gateware is wrong; timing is not to blame"
    )
    SEQUENCE = (
        "the same when repeated, but not with every instruction by itself: a path between "
        "instructions is too slow, or the gateware breaks a rule of order"
    )
    UNSTEADY = (
        "not the same when repeated: a path is too slow for this clock, or the board's clock or "
        "supply is bad"
    )


@dataclass(frozen=True)
class Difference:
    """The first wrong answer of a vector.

    Parameters
    ----------
    vector : str
        Its name.
    index : int
        Number of the instruction in the vector.
    instruction : Instruction
        Function id and operands.
    expected : str
        What the model answers; in words where several answers are right.
    got : int or None
        What the board answered; None if nothing.
    fault : Fault
        What that means.
    """

    vector: str
    index: int
    instruction: Instruction
    expected: str
    got: int | None
    fault: Fault

    @property
    def function(self) -> str:
        """Name of the instruction."""
        return function_names().get(self.instruction[0], "unknown function")

    def to_json(self) -> dict[str, Any]:
        """Return the JSON object of ``kiwicha bringup --json``."""
        function_id, *inputs = self.instruction
        return {
            "vector": self.vector,
            "index": self.index,
            "function": self.function,
            "function_id": function_id,
            "inputs": inputs,
            "expected": self.expected,
            "got": self.got,
            "fault": self.fault.name.lower(),
            "meaning": self.fault.value,
        }

    def __str__(self) -> str:
        function_id, a, b = self.instruction
        got = "but does not" if self.got is None else f"not {self.got:#010x}"
        return (
            f"{self.vector}, instruction {self.index}: {self.function} (function id {function_id}) "
            f"of {a:#010x} and {b:#010x} must answer {self.expected}, {got}; {self.fault.value}"
        )


@dataclass(frozen=True)
class Outcome:
    """What came of a vector.

    Parameters
    ----------
    vector : str
        Its name.
    count : int
        Instructions.
    difference : Difference or None
        None if every answer was right.
    """

    vector: str
    count: int
    difference: Difference | None


def check_design(link: Link, config: Config, clock_hz: int) -> SerialHello:
    """Return what the board says of itself, which must be the bring-up design.

    Parameters
    ----------
    link : Link
        The line to the board.
    config : Config
        What its CFU should have.
    clock_hz : int
        Clock that the design was built for.

    Raises
    ------
    BoardError
        If it does not answer, or has another bitstream.
    """
    said = link.hello()
    if said.dram_bytes:
        raise BoardError(
            "the board must have the bring-up design's bitstream, not a system's: kiwicha bringup "
            "--build and kiwicha load it"
        )
    if (said.config_hash, said.sys_clk_hz) != (config.hash, clock_hz):
        known = configs.config_of_hash(said.config_hash)
        raise BoardError(
            f"the board's bitstream must be of {config.name} at {clock_hz} Hz, not of "
            f"{known.name if known else 'another version'} at {said.sys_clk_hz} Hz; build and load "
            "it again"
        )
    return said


def replay(
    link: Link,
    config: Config,
    vectors: Iterable[Vector],
    *,
    on_vector: Callable[[Outcome], None] | None = None,
) -> list[Outcome]:
    """Execute vectors on a board, light its lamp, and return the outcome of each.

    A vector that differs is repeated, and executed with one instruction at a time.

    Parameters
    ----------
    link : Link
        The line to the bring-up design.
    config : Config
        What its CFU has.
    vectors : iterable of Vector
        What to execute.
    on_vector : callable or None
        Called after each.

    Raises
    ------
    BoardError
        If the line fails.
    """
    link.request(SerialOp.SHOW, struct.pack("<I", 0))
    outcomes = []
    for vector in vectors:
        outcome = _outcome(link, config, vector)
        outcomes.append(outcome)
        if on_vector is not None:
            on_vector(outcome)
    has_failed = any(outcome.difference for outcome in outcomes)
    link.request(SerialOp.SHOW, struct.pack("<I", _FAILED if has_failed else _PASSED))
    return outcomes


def _outcome(link: Link, config: Config, vector: Vector) -> Outcome:
    instructions = vector.instructions
    bursts = _bursts(random.Random(vector.name), len(instructions))
    first = _first_wrong(link, config, instructions, bursts)
    if first is None:
        return Outcome(vector.name, len(instructions), None)
    again = _first_wrong(link, config, instructions, bursts)
    single = _first_wrong(link, config, instructions, [1] * len(instructions))
    hangs_alone = first[2] is None and single is not None and single[2] is None
    if again is None or again[0] != first[0]:
        fault = Fault.UNSTEADY
    elif single is not None and (single[0] == first[0] or hangs_alone):
        fault = Fault.LOGIC
    else:
        fault = Fault.SEQUENCE
    # Of a burst without a response only its start is known.
    if hangs_alone and single is not None:
        first = single
    elif first[2] is None:
        index = _unanswered(link, instructions, bursts, first[0])
        first = index, f"{_answers(config, instructions)[index]:#010x}", None
    index, expected, got = first
    difference = Difference(
        vector=vector.name,
        index=index,
        instruction=instructions[index],
        expected=expected,
        got=got,
        fault=fault,
    )
    return Outcome(vector.name, len(instructions), difference)


def _bursts(rng: random.Random, count: int) -> list[int]:
    """Return the sizes of bursts: most are whole, and their ends fall everywhere."""
    sizes = []
    while count:
        is_whole = rng.random() < _WHOLE_BURSTS
        size = min(count, SERIAL_INSTRUCTIONS if is_whole else rng.randint(1, SERIAL_INSTRUCTIONS))
        sizes.append(size)
        count -= size
    return sizes


def _first_wrong(
    link: Link, config: Config, instructions: Sequence[Instruction], bursts: Sequence[int]
) -> tuple[int, str, int | None] | None:
    """Execute a vector; return number, right and wrong answer of the first that is wrong."""
    link.request(SerialOp.RESET)
    expected = _answers(config, instructions)
    start = 0
    for size in bursts:
        burst = instructions[start : start + size]
        answers = _execute(link, burst)
        if not answers:
            return start, f"{expected[start]:#010x}", None
        last_cycles: tuple[int, int] | None = None
        for index, (instruction, got) in enumerate(zip(burst, answers, strict=True)):
            if instruction[0] == CYCLES:
                text = _wrong_cycles(last_cycles, index, got)
                if text is not None:
                    return start + index, text, got
                last_cycles = index, got
            elif got != expected[start + index]:
                return start + index, f"{expected[start + index]:#010x}", got
        start += size
    return None


def _answers(config: Config, instructions: Sequence[Instruction]) -> list[int]:
    """Return what the model answers."""
    model = CfuModel(config)
    return [model.execute(*instruction) for instruction in instructions]


def _unanswered(
    link: Link, instructions: Sequence[Instruction], bursts: Sequence[int], start: int
) -> int:
    """Return the number of the first instruction without a response, in the burst from ``start``.

    The burst is cut shorter as long as it has none.
    """
    before = list(itertools.takewhile(lambda end: end <= start, itertools.accumulate(bursts)))
    fewest, most = 1, bursts[len(before)]
    while fewest < most:
        middle = (fewest + most) // 2
        link.request(SerialOp.RESET)
        at = 0
        for end in before:
            _execute(link, instructions[at:end])
            at = end
        if _execute(link, instructions[start : start + middle]):
            fewest = middle + 1
        else:
            most = middle
    return start + fewest - 1


def _wrong_cycles(last: tuple[int, int] | None, index: int, got: int) -> str | None:
    """Return what the cycle counter must be; None if it is that.

    Within a burst it advances by a cycle or more per instruction.
    """
    if last is None:
        return None
    fewest = index - last[0]
    if fewest <= (got - last[1]) % (1 << 32) <= _LONGEST_CYCLES * fewest:
        return None
    return f"{fewest} to {_LONGEST_CYCLES * fewest} cycles more than {last[1]:#010x}"


def _execute(link: Link, burst: Sequence[Instruction]) -> tuple[int, ...]:
    """Return the answers of a burst; none if the custom function unit left one unanswered."""
    fields = b"".join(SerialInstruction(*instruction).pack() for instruction in burst)
    try:
        raw = link.request(SerialOp.EXECUTE, fields)
    except RefusedError as error:
        if error.status != SerialStatus.NO_RESPONSE:
            raise
        return ()
    if len(raw) != 4 * len(burst):
        raise BoardError(f"the board must answer with {4 * len(burst)} bytes, not {len(raw)}")
    return struct.unpack(f"<{len(burst)}I", raw)
