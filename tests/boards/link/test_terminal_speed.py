"""Loading over a pseudo-terminal at the speed of a line, by the wall's clock."""

import random
import sys
import time

import pytest

from kiwicha.contract import cfu
from kiwicha.contract.serial import SERIAL_BAUD
from tests.support.boards.paced_terminal import paced
from tests.support.boards.scripted_board import ScriptedBoard

_BYTES_PER_SECOND = SERIAL_BAUD / 10
_MEMORY_BYTES = 4 << 20


def load(count: int, *, spoiled: float = 0.0, resets: dict[float, float] | None = None) -> float:
    """Load bytes and read them back; return the seconds that loading took."""
    data = random.Random(1).randbytes(count)
    board = ScriptedBoard(memory_bytes=_MEMORY_BYTES)
    with paced(board, baud=SERIAL_BAUD, spoiled=spoiled, resets=resets) as (link, line):
        start = time.monotonic()
        link.write(cfu.DRAM_BASE, data)
        seconds = time.monotonic() - start
        assert line.resets_done == len(resets or {})
        assert (line.spoiled_bytes > 0) == (spoiled > 0)
        assert link.read(cfu.DRAM_BASE, count) == data
    return seconds


@pytest.mark.nightly
def test_large_models_load_at_the_speed_of_the_line() -> None:
    count = 3_600_000
    seconds = load(count)
    # For docs/guides/first-power-up.md; pytest shows it with -s.
    sys.stdout.write(f"{count:,} bytes in {seconds:.1f} s\n")
    assert count / _BYTES_PER_SECOND < seconds <= 46


def test_a_small_load_keeps_to_the_line() -> None:
    count = 100_000
    assert count / _BYTES_PER_SECOND < load(count) <= count / _BYTES_PER_SECOND / 0.7 + 0.5


def test_noise_and_lost_bytes_cost_time_only() -> None:
    assert load(100_000, spoiled=1 / 5000) < 30


@pytest.mark.parametrize("when", [0.2, 0.8])
def test_a_reset_in_the_middle_costs_time_only(when: float) -> None:
    assert load(100_000, resets={when: 0.4}) < 30


@pytest.mark.nightly
def test_all_of_it_at_once_costs_time_only() -> None:
    assert load(400_000, spoiled=1 / 3000, resets={1.0: 0.3, 2.5: 1.0}) < 120
