"""Transfers in the cycles that results of both units leave, and weights."""

import pytest

from kiwicha.compiler.engine.cost.taken_cycles import TakenCycles, lines_until, moved_lines


def taken(*spans: tuple[float, float, float]) -> TakenCycles:
    found = TakenCycles()
    for span in spans:
        found.take(*span)
    return found


@pytest.mark.parametrize(
    ("spans", "expected"),
    [
        ([[], [], []], 120.0),
        # Half of the cycles are enough for half of the pace.
        ([[(100.0, 200.0, 0.5)], [], []], 120.0),
        ([[(100.0, 200.0, 0.75)], [], []], 140.0),
        ([[(110.0, 130.0, 0.75)], [(0.0, 90.0, 1.0)], []], 130.0),
        # The unit leaves half of what it could have.
        ([[], [(100.0, 200.0, 1.0)], []], 120.0),
        ([[(100.0, 200.0, 0.5)], [(100.0, 200.0, 0.1)], []], 125.0),
        ([[(100.0, 200.0, 0.5)], [(100.0, 200.0, 0.5)], []], 140.0),
        # Weights take cycles of DRAM, not of the line port.
        ([[(100.0, 200.0, 0.75)], [], [(100.0, 200.0, 0.5)]], 140.0),
        ([[], [], [(100.0, 110.0, 1.0), (110.0, 120.0, 0.5)]], 134.0),
        # What has ended, and what comes later.
        ([[(0.0, 100.0, 1.0), (120.0, 130.0, 1.0)], [], []], 120.0),
    ],
)
def test_lines_take_what_is_left(
    spans: list[list[tuple[float, float, float]]], expected: float
) -> None:
    array, unit, weights = (taken(*own) for own in spans)
    assert moved_lines((array, unit, weights), 100.0, 10.0, 0.5) == pytest.approx(expected)


def test_transfers_end_though_all_cycles_are_taken() -> None:
    array, others = taken((0.0, 1e9, 1.0)), taken()
    assert moved_lines((array, others, others), 0.0, 10.0, 1.0) < 1_000


@pytest.mark.parametrize(
    ("spans", "expected"),
    [
        ([[], [], [], []], (120.0, 0.0)),
        # None of what is known is free.
        ([[(100.0, 200.0, 1.0)], [], [], []], (140.0, 10.0)),
        ([[(100.0, 130.0, 1.0)], [], [], []], (140.0, 5.0)),
        # The array pauses for the unit, and leaves lines.
        ([[(100.0, 200.0, 1.0)], [], [], [(100.0, 200.0, 0.125)]], (140.0, 5.0)),
        ([[(100.0, 200.0, 1.0)], [], [], [(110.0, 200.0, 0.5)]], (130.0, 0.0)),
    ],
)
def test_lines_until_all_is_known(
    spans: list[list[tuple[float, float, float]]], expected: tuple[float, float]
) -> None:
    array, unit, weights, left = (taken(*own) for own in spans)
    found = lines_until((array, unit, weights, left), 100.0, 140.0, 10.0, 0.5)
    assert found == pytest.approx(expected)
