"""Ranges of activations in both passes."""

from kiwicha.gallery.ranges import Ranges


def test_joined_ranges_are_one_in_the_second_pass() -> None:
    ranges = Ranges()
    assert ranges.take(-1.0, 2.0) == (0, (-1.0, 2.0))
    assert ranges.take(1.0, 3.0) == (1, (0.0, 3.0))
    assert ranges.take(-9.0, -8.0) == (2, (-9.0, 0.0))
    assert ranges.take(-2.0, 0.5) == (3, (-2.0, 0.5))
    ranges.join(0, 1)
    ranges.join(1, 3)
    ranges.include(2, -1.0, 4.0)
    ranges.settle()
    assert ranges.take(0.0, 0.0) == (0, (-2.0, 3.0))
    assert ranges.take(0.0, 0.0) == (1, (-2.0, 3.0))
    assert ranges.take(0.0, 0.0) == (2, (-9.0, 4.0))
    assert ranges.take(0.0, 0.0) == (3, (-2.0, 3.0))
