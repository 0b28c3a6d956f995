"""What the host makes of boards and lines that err, each in its own way."""

import random
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from kiwicha.boards.link.serial_link import Link
from kiwicha.boards.link.session import run_on_board
from kiwicha.contract import cfu
from kiwicha.contract.configs import CONFIGS
from kiwicha.contract.serial import SERIAL_DATA_BYTES, SerialOp
from kiwicha.errors import BoardError
from kiwicha.firmware.build import Image
from tests.support.boards.scripted_board import Fault, ScriptedBoard, connected
from tests.support.programs.copies import copy_program

ADDRESS = cfu.IMAGE_ADDRESS
DATA = random.Random(1).randbytes(5000)
SIMD = CONFIGS["simd"]


def always(wanted: SerialOp, body: bytes | None) -> Fault:
    """Give the fault that answers an operation with other data, or not at all."""

    def fault(op: SerialOp, count: int, answer: bytes) -> bytes | None:
        if op is not wanted:
            return answer
        return None if body is None else answer[:1] + body

    return fault


def once(wanted: SerialOp) -> Fault:
    """Give the fault that loses the first answer to an operation."""
    return lambda op, count, answer: None if (op, count) == (wanted, 1) else answer


@pytest.mark.parametrize("op", [SerialOp.READ, SerialOp.WRITE, SerialOp.CHECK])
def test_a_lost_answer_is_asked_for_again(op: SerialOp) -> None:
    board = ScriptedBoard(once(op))
    with connected(board) as link:
        link.write(ADDRESS, DATA)
        assert link.read(ADDRESS, len(DATA)) == DATA
    whole = -(-len(DATA) // SERIAL_DATA_BYTES)
    usual = {SerialOp.READ: whole, SerialOp.WRITE: whole, SerialOp.CHECK: 2 * -(-len(DATA) // 2048)}
    assert board.asked[op] == usual[op] + 1


def test_a_late_answer_to_another_request_is_not_taken() -> None:
    def fault(op: SerialOp, count: int, answer: bytes) -> bytes:
        is_first = (op, count) == (SerialOp.READ, 1)
        return bytes([answer[0] ^ 1]) + bytes(17) if is_first else answer

    board = ScriptedBoard(fault)
    with connected(board) as link:
        link.write(ADDRESS, DATA[:16])
        assert link.read(ADDRESS, 16) == DATA[:16]
    assert board.asked[SerialOp.READ] == 2


def test_what_is_there_is_not_sent_again() -> None:
    board = ScriptedBoard()
    seen: list[int] = []
    with connected(board) as link:
        link.write(ADDRESS, DATA)
        sent = board.asked[SerialOp.WRITE]
        link.write(ADDRESS, DATA, on_bytes=seen.append)
    assert board.asked[SerialOp.WRITE] == sent
    assert seen == [5000]


def test_an_answer_is_not_waited_for_longer_than_it_takes() -> None:
    with connected(ScriptedBoard()) as link:
        start = time.monotonic()
        for _ in range(150):
            link.hello()
    # Reads of a port end after 20 ms, whether they are full or not.
    assert time.monotonic() - start < 150 * 0.02


def test_progress_only_grows() -> None:
    seen: list[int] = []
    with connected(ScriptedBoard(once(SerialOp.WRITE))) as link:
        link.write(ADDRESS, DATA[:2048])
        link.write(ADDRESS, DATA, on_bytes=seen.append)
    assert seen == [2048, 3072, 4096, 5000, 5000]


def test_firmware_is_not_started_twice_by_a_lost_answer() -> None:
    board = ScriptedBoard(once(SerialOp.RUN))
    with connected(board) as link:
        link.run(ADDRESS, 100)
        assert link.wait(2).runs == 1
    assert board.asked[SerialOp.RUN] == 1


def test_firmware_that_is_silent_after_a_lost_answer_runs() -> None:
    board = ScriptedBoard(once(SerialOp.RUN), seconds=1.2)
    with connected(board) as link:
        link.run(ADDRESS, 100)
        assert link.wait(3).runs == 1
    assert board.asked[SerialOp.RUN] == 1


def test_firmware_that_does_not_end_is_reported() -> None:
    with connected(ScriptedBoard(seconds=3)) as link:
        link.run(ADDRESS, 100)
        with pytest.raises(BoardError, match=r"^firmware must end within 0\.3 s; reset the board"):
            link.wait(0.3)


def test_a_board_that_was_reset_is_reported() -> None:
    board = ScriptedBoard(config_hash=SIMD.hash, resets=True)
    firmware = Image(DATA, Path(), 0, 0, 0, 0)
    with (
        connected(board) as link,
        pytest.raises(BoardError, match=r"^the board must run the firmware once, and was reset"),
    ):
        run_on_board(link, copy_program(SIMD), [bytes(64)], firmware)


def test_a_bitstream_of_another_version_is_reported() -> None:
    with (
        connected(ScriptedBoard(config_hash=1)) as link,
        pytest.raises(BoardError, match=r"must be of simd, not of another version: kiwicha build"),
    ):
        run_on_board(link, copy_program(SIMD), [bytes(64)], Image(b"", Path(), 0, 0, 0, 0))


def test_a_loader_of_another_version_is_reported() -> None:
    with (
        connected(ScriptedBoard(version=9)) as link,
        pytest.raises(BoardError, match=r"^the board's loader must be of version 1, not 9; load"),
    ):
        link.hello()


def test_memory_that_forgets_is_reported() -> None:
    with (
        connected(ScriptedBoard(keeps=False)) as link,
        pytest.raises(BoardError, match=r"^the board's memory must keep what .* to 0x40001000, "),
    ):
        link.write(ADDRESS, DATA)


def hello(link: Link) -> object:
    return link.hello()


def read(link: Link) -> object:
    return link.read(ADDRESS, 16)


def run(link: Link) -> object:
    return link.run(ADDRESS, 100)


@pytest.mark.parametrize(
    ("op", "body", "asks", "text"),
    [
        (SerialOp.HELLO, b"\0short", hello, r"^the board must answer with 28 bytes$"),
        (SerialOp.READ, b"\0", read, r"^the board must answer with 16 bytes, not 0$"),
        (SerialOp.READ, b"\x02", read, r"^the board refused READ: BAD_BOUNDS$"),
        (SerialOp.READ, b"\x63", read, r"^the board refused READ: 99$"),
        (
            SerialOp.READ,
            None,
            read,
            r"^the board must answer: check the port, the cable",
        ),
        (SerialOp.RUN, None, run, r"^the board must answer: .* \(nothing came\)$"),
    ],
)
def test_other_answers_are_reported(
    op: SerialOp, body: bytes | None, asks: Callable[[Link], object], text: str
) -> None:
    # A loader that never starts firmware says so by the count of its runs.
    board = ScriptedBoard(always(op, body), resets=True)
    with connected(board) as link, pytest.raises(BoardError, match=text):
        asks(link)
