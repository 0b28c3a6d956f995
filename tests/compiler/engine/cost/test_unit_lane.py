"""What the depthwise unit takes from the array, and what it leaves to transfers meanwhile."""

import pytest

from kiwicha.compiler.engine.cost.unit_lane import Span, UnitLane
from kiwicha.compiler.engine.cost.unit_work import ArrayShares

BUSY = ArrayShares(reads=0.0, results=0.0, may_pause=True)
"""Of an array with a result in every cycle."""


def lane(*, counts_pauses: bool, moves: bool) -> UnitLane:
    found = UnitLane(counts_pauses=counts_pauses)
    found.add(Span(0.0, 1000.0, BUSY))
    found.moving = (0.0, 1000.0) if moves else (0.0, 0.0)
    return found


@pytest.mark.parametrize("counts_pauses", [False, True])
def test_the_array_is_late_by_the_results_of_the_unit(counts_pauses: bool) -> None:
    found = lane(counts_pauses=counts_pauses, moves=False)
    assert found.busy(100.0, 40, "results") == 180.0
    assert (found.stolen, found.stolen_for_lines) == (40.0, 0.0)


def test_it_is_late_by_lines_of_transfers_as_well() -> None:
    found = lane(counts_pauses=True, moves=True)
    assert found.busy(100.0, 40, "results") == 260.0
    assert (found.stolen, found.stolen_for_lines) == (40.0, 40.0)
    assert found.left_lines.at(100.0) == (0.25, 260.0)


def test_plans_are_chosen_without_them() -> None:
    found = lane(counts_pauses=False, moves=True)
    assert found.busy(100.0, 40, "results") == 260.0
    assert (found.stolen, found.stolen_for_lines) == (40.0, 0.0)
    assert found.left_lines.at(100.0)[0] == 0.0
