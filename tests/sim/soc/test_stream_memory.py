"""Results of streams."""

import pytest

from kiwicha.errors import UsageError
from kiwicha.sim.soc.stream_memory import StreamResult


def test_the_period_is_that_of_both_places() -> None:
    assert StreamResult(((),) * 4, (900, 1000, 1100, 1203)).period == 102


@pytest.mark.parametrize("ends", [(), (900,), (900, 1000)])
def test_a_short_stream_has_no_period(ends: tuple[int, ...]) -> None:
    text = f"^a stream must have 3 or more inferences to have a period, not {len(ends)}$"
    with pytest.raises(UsageError, match=text):
        _ = StreamResult(((),) * len(ends), ends).period
