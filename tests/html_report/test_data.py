"""What the page shows."""

import pytest

from kiwicha.html_report.data import faster, page_runs
from tests.support.commands.example_runs import example_run


def test_bars_add_up_to_the_cycles_of_their_layer() -> None:
    (run,) = page_runs([example_run()])
    for layer in run["layers"]:
        parts = [part for part in run["cycles"] if part["label"] == layer["label"]]
        assert sum(part["cycles"] for part in parts) == layer["cycles"]
        assert layer["cause"] == "arithmetic"


def test_a_run_without_profile_shows_its_cycles() -> None:
    plain = example_run()
    del plain["profile"]
    (run,) = page_runs([plain])
    assert {part["cause"] for part in run["cycles"]} == {"not split"}
    assert "memory" not in run


def test_layers_name_their_share_and_the_error_of_the_prediction() -> None:
    (run,) = page_runs([example_run()])
    assert sum(layer["share"] for layer in run["layers"]) == pytest.approx(1)
    assert [layer["off_by"] for layer in run["layers"]] == [
        pytest.approx(5 / layer["cycles"]) for layer in run["layers"]
    ]


@pytest.mark.parametrize(
    ("first", "cycles", "text"),
    [
        (300, 200, "1.5x faster"),
        (200, 300, "1.5x slower"),
        (1000, 999, "as fast"),
        (104, 100, "4 % faster"),
        (5700, 100, "57x faster"),
    ],
)
def test_runs_are_compared_in_words(first: int, cycles: int, text: str) -> None:
    assert faster(first, cycles) == text


def test_a_run_tells_when_and_how_it_was_made() -> None:
    made = {"date": "2026-11-23 22:00 UTC", "version": "0.1.0", "command": "kiwicha bench demo"}
    (run,) = page_runs([{**example_run(), "made": made, "memory": "ddr3"}])
    assert run["facts"] == {
        "measured": "2026-11-23 22:00 UTC",
        "version": "Kiwicha 0.1.0",
        "clock": "100 MHz",
        "memory": "ddr3",
        "command": "kiwicha bench demo",
    }
    (plain,) = page_runs([example_run()])
    assert plain["facts"] == {"clock": "100 MHz"}


def test_totals_have_the_parts_of_all_layers() -> None:
    (run,) = page_runs([example_run()])
    assert run["totals"]["parts"] == [
        {"cause": "arithmetic", "cycles": 5020 - 4 * 60},
        {"cause": "requantizer", "cycles": 40},
        {"cause": "memory: weights", "cycles": 80},
        {"cause": "starting and ending", "cycles": 120},
    ]
