"""One check of the self-test's firmware on a board."""

import dataclasses
import struct
from collections.abc import Sequence

from kiwicha.boards.link.serial_link import Link
from kiwicha.contract import cfu
from kiwicha.contract.cfu import STATUS_TEXT, Status
from kiwicha.contract.self_test import (
    SELF_TEST_ADDRESS,
    SELF_TEST_DATA_ADDRESS,
    SELF_TEST_MAGIC,
    SelfTest,
    SelfTestCheck,
    SelfTestInterrupts,
)
from kiwicha.contract.serial import NO_STATUS, SerialHello, SerialInstruction
from kiwicha.errors import BoardError
from kiwicha.firmware.build import Image

__all__ = ["FREE_ADDRESS", "Runner", "StoppedError"]

_MOST_INSTRUCTIONS = 4096
_TABLE_BYTES = _MOST_INSTRUCTIONS * SerialInstruction.size_bytes()
_ANSWERS_ADDRESS = SELF_TEST_DATA_ADDRESS + _TABLE_BYTES
FREE_ADDRESS = _ANSWERS_ADDRESS + 4 * _MOST_INSTRUCTIONS
"""First byte behind tables of instructions and their answers."""


class StoppedError(BoardError):
    """The firmware ended without an answer."""


class Runner:
    """Loads the self-test's firmware and runs checks with it.

    Parameters
    ----------
    link : Link
        The line to the board's loader.
    firmware : Image
        `kiwicha.firmware.self_test_image.build_self_test`'s, for this board.
    said : SerialHello
        What the board said of itself.
    seconds : float
        How long a check may take.
    """

    def __init__(
        self, link: Link, firmware: Image, said: SerialHello, *, seconds: float = 120.0
    ) -> None:
        self.link = link
        self.dram_bytes = said.dram_bytes
        self._firmware = firmware
        self._firmware_at = cfu.DRAM_BASE + said.dram_bytes - cfu.ONCHIP_BYTES
        self._seconds = seconds

    @property
    def usable_bytes(self) -> int:
        """Bytes of DRAM from `SELF_TEST_DATA_ADDRESS` on that a check may overwrite."""
        return self._firmware_at - SELF_TEST_DATA_ADDRESS

    def check_memory(self, check: SelfTestCheck, size: int) -> SelfTest:
        """Make a check of DRAM and return what the firmware found."""
        return self._run(
            SelfTest(
                **_NOTHING,
                check=check,
                first=SELF_TEST_DATA_ADDRESS,
                bytes=size,
                count=0,
                answers=0,
            ),
            [],
        )

    def execute(
        self, instructions: Sequence[SerialInstruction], loads: Sequence[tuple[int, bytes]] = ()
    ) -> list[int]:
        """Execute custom instructions one after the other and return the answer of each.

        Parameters
        ----------
        instructions : sequence of SerialInstruction
            At most 4096.
        loads : sequence of tuple of int and bytes
            What is in DRAM before, by address.
        """
        table = b"".join(instruction.pack() for instruction in instructions)
        if len(table) > _TABLE_BYTES:
            raise ValueError(f"instructions must be at most {_MOST_INSTRUCTIONS}")
        self._run(
            SelfTest(
                **_NOTHING,
                check=SelfTestCheck.INSTRUCTIONS,
                first=SELF_TEST_DATA_ADDRESS,
                bytes=0,
                count=len(instructions),
                answers=_ANSWERS_ADDRESS,
            ),
            [(SELF_TEST_DATA_ADDRESS, table), *loads],
        )
        raw = self.link.read(_ANSWERS_ADDRESS, 4 * len(instructions))
        return list(struct.unpack(f"<{len(instructions)}I", raw))

    def check_interrupts(
        self, instructions: Sequence[SerialInstruction], loads: Sequence[tuple[int, bytes]]
    ) -> SelfTestInterrupts:
        """Make the check of interrupts and return what came of it.

        Parameters
        ----------
        instructions : sequence of SerialInstruction
            What starts a list of the engine.
        loads : sequence of tuple of int and bytes
            What is in DRAM before, by address.
        """
        self._run(
            SelfTest(
                **_NOTHING,
                check=SelfTestCheck.INTERRUPTS,
                first=SELF_TEST_DATA_ADDRESS,
                bytes=0,
                count=len(instructions),
                answers=_ANSWERS_ADDRESS,
            ),
            [(SELF_TEST_DATA_ADDRESS, b"".join(item.pack() for item in instructions)), *loads],
        )
        size = SelfTestInterrupts.size_bytes()
        return SelfTestInterrupts.unpack(self.link.read(_ANSWERS_ADDRESS, size))

    def _run(self, asked: SelfTest, loads: Sequence[tuple[int, bytes]]) -> SelfTest:
        link = self.link
        runs = link.hello().runs
        link.load([
            (SELF_TEST_ADDRESS, asked.pack()),
            *loads,
            (self._firmware_at, self._firmware.raw),
        ])
        link.noise.clear()
        link.run(self._firmware_at, len(self._firmware.raw))
        ended = link.wait(self._seconds)
        if ended.runs != runs + 1 or ended.last_status == NO_STATUS:
            raise BoardError("the board must run the self-test once, and was reset; try again")
        if ended.last_status != Status.OK:
            raise StoppedError(_text(ended.last_status, bytes(link.noise)))
        found = SelfTest.unpack(link.read(SELF_TEST_ADDRESS, SelfTest.size_bytes()))
        if dataclasses.replace(asked, is_done=1) != _without_result(found):
            raise StoppedError("the memory must hold what the firmware has found, but does not")
        return found


_NOTHING = {
    "magic": SELF_TEST_MAGIC,
    **dict.fromkeys(("is_done", "wrong", "address", "expected", "got", "bits"), 0),
}


def _without_result(found: SelfTest) -> SelfTest:
    return dataclasses.replace(found, wrong=0, address=0, expected=0, got=0, bits=0)


def _text(status: int, noise: bytes) -> str:
    known = status in set(Status)
    text = STATUS_TEXT[Status(status)] if known else f"status {status}"
    said = noise.decode("ascii", "replace").strip()
    return f"the firmware stopped: {text}" + (f" ({said})" if said else "")
