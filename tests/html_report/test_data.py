"""What the page shows."""

import pytest

from kiwicha.html_report.data import page_runs, page_study
from tests.support.commands.example_runs import example_run, example_study


def test_bars_add_up_to_the_cycles_of_their_layer() -> None:
    (run,) = page_runs([example_run()])
    for layer in run["layers"]:
        parts = [part for part in run["cycles"] if part["label"] == layer["label"]]
        assert sum(part["cycles"] for part in parts) == layer["cycles"]
        assert layer["cause"] == "arithmetic"
    assert run["summary"].startswith("Of 5,020 cycles, layer 3 CONV_2D takes 1,510 cycles")


def test_points_lie_below_roofs_that_meet_at_the_knee() -> None:
    (run,) = page_runs([example_run()])
    left, knee, right = run["roofs"]
    assert left["rate"] == pytest.approx(14.2 * left["intensity"])
    assert knee["rate"] == right["rate"] == 64
    assert knee["intensity"] == pytest.approx(64 / 14.2)
    assert [point["intensity"] for point in run["points"]] == [
        40_000 / (64 * k) for k in range(1, 5)
    ]
    assert [point["rate"] for point in run["points"]] == [
        40_000 / cycles for cycles in (1000, 1170, 1340, 1510)
    ]


def test_a_run_without_profile_shows_its_cycles() -> None:
    plain = example_run()
    del plain["profile"]
    (run,) = page_runs([plain])
    assert {part["cause"] for part in run["cycles"]} == {"not split"}
    assert "memory" not in run


def test_a_study_is_shown_by_its_first_two_objectives() -> None:
    shown = page_study(example_study())
    assert shown["axes"] == ["bram", "cycles"]
    assert [row["front"] for row in shown["rows"]] == ["on the front", "beaten", "does not fit"]
    assert [row["simulated"] for row in shown["rows"]] == [101, None, None]


def test_block_rams_of_a_study_have_their_size_in_the_title() -> None:
    assert page_study(example_study())["titles"]["bram"] == "BRAM36, about"
    assert page_study({**example_study(), "bram_kbit": 18})["titles"]["bram"] == "BRAM18, about"
