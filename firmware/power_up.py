"""What the boot image checks at power-up, as constants in C."""

import struct
from collections.abc import Sequence
from dataclasses import dataclass

from kiwicha.contract.serial import SerialInstruction

__all__ = ["POWER_UP_HEADER", "PowerUp", "PowerUpList", "power_up_header"]

POWER_UP_HEADER = "kiwicha_power_up.h"


@dataclass(frozen=True)
class PowerUpList:
    """A list of the engine with what goes in and what must come out.

    Parameters
    ----------
    image : bytes
        Jobs, transfers and weights.
    job_count, transfer_count : int
        How many of each.
    arena_bytes : int
        What the list works in.
    input, output : bytes
        Contents.
    input_offset, output_offset : int
        Their places in the arena.
    """

    image: bytes
    job_count: int
    transfer_count: int
    arena_bytes: int
    input: bytes
    input_offset: int
    output: bytes
    output_offset: int


@dataclass(frozen=True)
class PowerUp:
    """The checks of a configuration's custom function unit.

    Parameters
    ----------
    instructions : tuple of SerialInstruction
        Are executed in order; empty without a custom function unit.
    answers : tuple of int or None
        What each must answer; None for those that only bring about a known state.
    engine : PowerUpList or None
        None without an engine.
    """

    instructions: tuple[SerialInstruction, ...]
    answers: tuple[int | None, ...]
    engine: PowerUpList | None


def power_up_header(checks: PowerUp) -> str:
    """Return the header for ``firmware/boot/power_up.c``.

    Parameters
    ----------
    checks : PowerUp
        What is checked.
    """
    known = [number for number, answer in enumerate(checks.answers) if answer is not None]
    first = known[0] if known else 0
    if known != list(range(first, len(checks.answers))):
        raise ValueError("answers must be known from some instruction on")
    lines = [
        "/* Generated: what is checked at power-up. */",
        "#include <stdint.h>",
        '#include "kiwicha_isa.h"',
        f"#define KIWICHA_POWER_UP_INSTRUCTIONS {len(checks.instructions)}u",
        f"#define KIWICHA_POWER_UP_HAS_LIST {int(checks.engine is not None)}",
    ]
    if checks.instructions:
        lines += [
            f"#define KIWICHA_POWER_UP_FIRST_ANSWER {first}u",
            "static const struct kiwicha_serial_instruction kiwicha_power_up_instructions[] = {",
            *(
                f"    {{.function_id = {item.function_id}u, .inputs_0 = 0x{item.inputs_0:08x}u,"
                f" .inputs_1 = 0x{item.inputs_1:08x}u}},"
                for item in checks.instructions
            ),
            "};",
            *_words("answers", [answer or 0 for answer in checks.answers]),
        ]
    if checks.engine is not None:
        lines += _list_lines(checks.engine)
    return "\n".join([*lines, ""])


def _list_lines(one: PowerUpList) -> list[str]:
    numbers = {
        "IMAGE_BYTES": len(one.image),
        "LIST": one.job_count | one.transfer_count << 16,
        "ARENA_BYTES": one.arena_bytes,
        "INPUT_OFFSET": one.input_offset,
        "INPUT_BYTES": len(one.input),
        "OUTPUT_OFFSET": one.output_offset,
        "OUTPUT_BYTES": len(one.output),
    }
    return [
        *(f"#define KIWICHA_POWER_UP_{name} {value}u" for name, value in numbers.items()),
        *_words("image", _as_words(one.image)),
        *_words("input", _as_words(one.input)),
        *_words("output", _as_words(one.output)),
    ]


def _as_words(raw: bytes) -> Sequence[int]:
    return struct.unpack(f"<{-(-len(raw) // 4)}I", raw + bytes(-len(raw) % 4))


def _words(name: str, words: Sequence[int]) -> list[str]:
    rows = [words[at : at + 8] for at in range(0, len(words), 8)]
    return [
        f"static const uint32_t kiwicha_power_up_{name}[] = {{",
        *(f"    {', '.join(f'0x{word:08x}u' for word in row)}," for row in rows),
        "};",
    ]
