"""Loading over a line whose bytes take their time: how fast it is, and what it survives."""

import random

import pytest

from kiwicha.boards.link.serial_link import Link
from kiwicha.contract import cfu
from kiwicha.contract.serial import SERIAL_BAUD, SERIAL_WINDOW_BYTES, SerialOp, SerialStatus
from kiwicha.errors import BoardError
from tests.support.boards.scripted_board import ScriptedBoard
from tests.support.boards.timed_line import TimedLine

_BYTES_PER_SECOND = SERIAL_BAUD / 10
_MEMORY_BYTES = 4 << 20
_USB_SECONDS = 0.016
"""What an adapter waits for more bytes, unless it is told otherwise."""


def link_over(line: TimedLine) -> Link:
    return Link(line, clock=line.clock)


@pytest.mark.parametrize("latency", [0.0, _USB_SECONDS])
@pytest.mark.parametrize("count", [300_000, 3_600_000])
def test_loading_uses_the_line(count: int, latency: float) -> None:
    board = ScriptedBoard(memory_bytes=_MEMORY_BYTES)
    line = TimedLine(board, baud=SERIAL_BAUD, latency=latency)
    data = random.Random(1).randbytes(count)
    link_over(line).write(cfu.DRAM_BASE, data)
    assert line.now <= count / _BYTES_PER_SECOND / 0.8
    # Nothing goes faster than the line.
    assert line.now > count / _BYTES_PER_SECOND
    assert 1100 < line.most_under_way_bytes <= SERIAL_WINDOW_BYTES
    before = line.now
    assert link_over(line).read(cfu.DRAM_BASE, count) == data
    assert line.now - before <= count / _BYTES_PER_SECOND / 0.8


def test_a_board_that_knows_no_limits_gets_one_request_at_a_time() -> None:
    def fault(op: SerialOp, count: int, answer: bytes) -> bytes:
        is_unknown = op is SerialOp.LIMITS
        return bytes([answer[0], SerialStatus.BAD_OP]) if is_unknown else answer

    board = ScriptedBoard(fault)
    line = TimedLine(board, baud=SERIAL_BAUD)
    data = random.Random(1).randbytes(20_000)
    link_over(line).write(cfu.DRAM_BASE, data)
    assert line.most_under_way_bytes < 1100
    assert board.asked[SerialOp.LIMITS] == 1
    assert link_over(line).read(cfu.DRAM_BASE, len(data)) == data


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("lost", [0.002, 0.05, 0.2])
def test_lost_bytes_cost_time_only(lost: float, seed: int) -> None:
    line = TimedLine(ScriptedBoard(), baud=SERIAL_BAUD, lost=lost, seed=seed)
    data = random.Random(seed).randbytes(400_000)
    link = link_over(line)
    link.write(cfu.DRAM_BASE, data)
    assert link.read(cfu.DRAM_BASE, len(data)) == data
    assert line.lost_frames


def test_a_lost_frame_is_repeated_at_once() -> None:
    data = random.Random(1).randbytes(400_000)
    line = TimedLine(ScriptedBoard(), baud=SERIAL_BAUD, lost=0.01)
    link_over(line).write(cfu.DRAM_BASE, data)
    # Ten frames or so are lost: not one of them is waited for, but for a last one.
    assert line.lost_frames >= 8
    assert line.now <= len(data) / _BYTES_PER_SECOND / 0.8 + 0.5


@pytest.mark.parametrize("when", [0.3, 1.7, 3.9, 4.2])
def test_a_reset_in_the_middle_costs_time_only(when: float) -> None:
    data = random.Random(1).randbytes(400_000)
    line = TimedLine(ScriptedBoard(), baud=SERIAL_BAUD, resets={when: 1.5})
    link_over(line).write(cfu.DRAM_BASE, data)
    assert link_over(line).read(cfu.DRAM_BASE, len(data)) == data


def test_a_reset_after_one_of_several_ranges_costs_time_only() -> None:
    line = TimedLine(ScriptedBoard(), baud=SERIAL_BAUD, resets={2.0: 0.5})
    data = random.Random(1).randbytes(200_000)
    ranges = [(cfu.DRAM_BASE, data[:50_000]), (cfu.DRAM_BASE + 0x20000, data[50_000:])]
    link = link_over(line)
    link.load(ranges)
    assert link.read(cfu.DRAM_BASE, 50_000) == data[:50_000]
    assert link.read(cfu.DRAM_BASE + 0x20000, 150_000) == data[50_000:]


def test_a_board_that_does_not_come_back_is_reported() -> None:
    line = TimedLine(ScriptedBoard(), baud=SERIAL_BAUD, resets={1.0: 1e9})
    with pytest.raises(BoardError, match=r"^the board must answer: check the port"):
        link_over(line).write(cfu.DRAM_BASE, random.Random(1).randbytes(400_000))
    assert line.now < 10


def test_a_board_that_is_reset_again_and_again_is_reported() -> None:
    resets = {float(second): 0.1 for second in range(1, 300)}
    line = TimedLine(ScriptedBoard(), baud=SERIAL_BAUD, resets=resets)
    with pytest.raises(BoardError, match=r"must keep what is written to 0x40000000, but does not"):
        link_over(line).write(cfu.DRAM_BASE, random.Random(1).randbytes(400_000))
