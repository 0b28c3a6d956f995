"""Lists chosen for the points that they meet."""

from tools.verification.choice import chosen

POINTS = {"a": {"1"}, "b": {"1", "2", "3"}, "c": {"3", "4"}, "d": {"2"}}


def test_every_point_is_met_by_few() -> None:
    assert chosen(list(POINTS), POINTS.__getitem__, set()) == ["b", "c"]


def test_what_is_met_already_needs_nobody() -> None:
    assert chosen(list(POINTS), POINTS.__getitem__, {"1", "2", "3"}) == ["c"]
    assert chosen(list(POINTS), POINTS.__getitem__, {"1", "2", "3", "4"}) == []
