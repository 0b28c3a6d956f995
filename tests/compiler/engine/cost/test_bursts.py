"""Bursts of the DMA readers and of the writer, as the model of lists has them."""

import pytest

from kiwicha.compiler.engine.cost.bursts import (
    descriptors_due,
    loaded_burst,
    rate_at,
    stored_burst,
    words_with_room,
)
from kiwicha.contract.latencies import PORT_TURN_WORDS, READER_WORDS
from kiwicha.contract.memories import DDR3_QUARTER_RATE, SDR_HALF_RATE

HALF = READER_WORDS // 2


def test_a_reader_that_ran_empty_asks_for_less() -> None:
    # At two cycles a word: 32 words, 8 of them too late, and one for two that come.
    late, full = words_with_room(0.0, 2.0, DDR3_QUARTER_RATE), READER_WORDS // 2
    assert 50 < late < 60
    assert words_with_room(-2.0 * full, 2.0, DDR3_QUARTER_RATE) == pytest.approx(36.7, abs=0.1)


def test_bursts_of_loads_end_where_lines_move_slowly() -> None:
    # 16 words that have moved, and half as many again and again while they come.
    assert loaded_burst(0.5, DDR3_QUARTER_RATE, HALF)[:2] == (32, 15)
    assert loaded_burst(0.5, DDR3_QUARTER_RATE, READER_WORDS)[0] == PORT_TURN_WORDS
    assert loaded_burst(0.9, DDR3_QUARTER_RATE, HALF)[0] == PORT_TURN_WORDS
    assert loaded_burst(0.0, DDR3_QUARTER_RATE, HALF)[:2] == (16, 0.0)


def test_faster_lines_feel_more_of_refreshes() -> None:
    felt = [loaded_burst(rate, DDR3_QUARTER_RATE, HALF)[2] for rate in (0.2, 0.5, 0.8)]
    assert felt[0] == 0.0 < felt[1] < felt[2]
    assert stored_burst(0.5, DDR3_QUARTER_RATE, True)[1] < felt[1]
    assert felt[2] == pytest.approx(DDR3_QUARTER_RATE.refresh_share)


def test_stores_wait_for_half_a_fifo() -> None:
    assert stored_burst(0.0, DDR3_QUARTER_RATE, True)[0] == READER_WORDS // 2
    assert stored_burst(0.5, SDR_HALF_RATE, True)[0] == PORT_TURN_WORDS


def test_rates_between_results() -> None:
    shares = [(10.0, 20.0, 0.25, 2.0), (30.0, 40.0, 1.0, 2.0)]
    assert [rate_at(shares, 0, time) for time in (5.0, 10.0, 25.0, 50.0)] == [1.0, 0.75, 1.0, 1.0]
    assert 0.0 < rate_at(shares, 0, 35.0) < 0.1


@pytest.mark.parametrize(("done", "words"), [(15, 0), (16, 8), (32, 0)])
def test_descriptors_come_in_bursts(done: int, words: int) -> None:
    assert descriptors_due(done, 40) == words
