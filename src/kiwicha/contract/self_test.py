"""The contract of the self-test: what the host asks of its firmware, and what that answers.

The host writes a `SelfTest` to `SELF_TEST_ADDRESS`, runs the firmware over the serial line, and
reads the `SelfTest` back. One run makes one check.
"""

import enum
from dataclasses import dataclass

from kiwicha.contract.cfu import DRAM_BASE, IMAGE_ADDRESS
from kiwicha.contract.layout import Struct, u32

__all__ = [
    "SELF_TEST_ADDRESS",
    "SELF_TEST_DATA_ADDRESS",
    "SELF_TEST_MAGIC",
    "SELF_TEST_PROBE_ADDRESS",
    "SELF_TEST_TIMER_CYCLES",
    "SELF_TEST_WAIT_CYCLES",
    "SelfTest",
    "SelfTestCheck",
    "SelfTestInterrupts",
]

SELF_TEST_MAGIC = int.from_bytes(b"KIWT", "little")
SELF_TEST_ADDRESS = IMAGE_ADDRESS
SELF_TEST_PROBE_ADDRESS = DRAM_BASE + 0x2000
"""Base of the probes of address lines. What differs from it in one bit is not the `SelfTest`."""
SELF_TEST_TIMER_CYCLES = 2000
"""After so many the timer interrupts in the check of interrupts."""
SELF_TEST_WAIT_CYCLES = 1_000_000
"""That check waits no longer for any interrupt."""
SELF_TEST_DATA_ADDRESS = DRAM_BASE + 0x1_0000
"""First byte that checks may use for tables and patterns, after the address lines' check."""


class SelfTestCheck(enum.IntEnum):
    """What one run checks."""

    DATA_LINES = 1
    """Each bit alone, set and cleared, in each word of a line."""
    ADDRESS_LINES = 2
    """Words whose addresses differ in one bit from `SELF_TEST_PROBE_ADDRESS` are distinct, for each
    bit below ``bytes``."""
    ADDRESSES = 3
    """Each word of the range holds its own address, then that inverted."""
    PATTERN = 4
    """Each word of the range holds pseudo-random bits, then those inverted."""
    INSTRUCTIONS = 5
    """Executes ``count`` times `kiwicha.contract.serial.SerialInstruction` at ``first``; writes a
    word of answer for each to ``answers``."""
    INTERRUPTS = 6
    """Lets the timer interrupt once; then executes the instructions at ``first``, the last of which
    starts a list of the engine, and sleeps until its interrupt. Writes a `SelfTestInterrupts` to
    ``answers``. For a system whose engine has an interrupt."""


@dataclass(frozen=True)
class SelfTest(Struct):
    """A check, and what came of it."""

    magic: int = u32("SELF_TEST_MAGIC")
    check: int = u32("SelfTestCheck")
    first: int = u32("first byte of the range, or of the table of instructions; multiple of 16")
    bytes: int = u32("size of the range, a multiple of 16; of ADDRESS_LINES all of DRAM")
    count: int = u32("instructions of the table")
    answers: int = u32("first byte of the instructions' answers")
    is_done: int = u32("0 from the host, 1 when the check has ended")
    wrong: int = u32("words that differ")
    address: int = u32("of the first word that differs; of ADDRESS_LINES the bit of the address")
    expected: int = u32("what it should hold")
    got: int = u32("what it holds")
    bits: int = u32("all bits that differ anywhere")


@dataclass(frozen=True)
class SelfTestInterrupts(Struct):
    """What came of the check of interrupts."""

    timer_interrupts: int = u32("how often the timer's was taken; 1 is right")
    timer_cycles: int = u32("from setting the timer to its interrupt, or until waiting ended")
    engine_before: int = u32("1 if the engine's interrupt waited before the list began")
    engine_waits: int = u32("1 if it waited when the list had ended")
    engine_cycles: int = u32("from the start of the list to its interrupt, or until waiting ended")
    engine_after: int = u32("1 if it still waited when it had been taken")
    list_status: int = u32("of the list: 0, or what `EngineOp.WAIT` answers")
