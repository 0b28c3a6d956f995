"""Layers under the roofs."""

import pytest

from kiwicha.html_report.data import page_runs
from kiwicha.html_report.roofline import roofline
from tests.support.commands.example_runs import example_run


def test_points_lie_below_roofs_that_meet_at_the_knee() -> None:
    (run,) = page_runs([example_run()])
    found = run["roofline"]
    left, knee, right = found["roofs"]
    assert left["rate"] == pytest.approx(14.2 * left["intensity"])
    assert knee["rate"] == right["rate"] == 64
    assert knee["intensity"] == pytest.approx(64 / 14.2)
    assert [point["intensity"] for point in found["points"]] == [
        40_000 / (64 * k) for k in range(1, 5)
    ]
    assert [point["rate"] for point in found["points"]] == [
        40_000 / cycles for cycles in (1000, 1170, 1340, 1510)
    ]


def layer(index: int, rate: float, intensity: float) -> dict[str, object]:
    return {
        "label": f"{index} CONV_2D",
        "index": index,
        "cause": "arithmetic",
        "macs_per_cycle": rate,
        "macs_per_byte": intensity,
    }


PROFILE = {"macs_per_cycle": 64, "dram_bytes_per_cycle": 14.2}


def test_roofs_have_their_values() -> None:
    found = roofline(PROFILE, [layer(0, 10, 1)])
    assert [name["text"] for name in found["names"]] == [
        "64 MACs per cycle",
        "14.2 bytes per cycle",
    ]


def test_points_have_their_layers_numbers_and_near_ones_share_a_text() -> None:
    near = [layer(number, 60 + 0.1 * number, 100) for number in (1, 3, 5, 7, 9)]
    found = roofline(PROFILE, [layer(0, 2, 1), *near, layer(2, 30, 100)])
    assert sorted(number["text"] for number in found["numbers"]) == ["0", "1, 3, 5, …", "2"]
    assert len(found["points"]) == 7
