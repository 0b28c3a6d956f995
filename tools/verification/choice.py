"""Lists chosen so that together they meet a plan of functional coverage."""

from collections.abc import Callable, Sequence
from typing import TypeVar

__all__ = ["chosen"]

Item = TypeVar("Item")


def chosen(
    items: Sequence[Item], points_of: Callable[[Item], set[str]], met: set[str]
) -> list[Item]:
    """Return items that meet every point that any item meets, as few as greed finds.

    Parameters
    ----------
    items : sequence
        What can be chosen.
    points_of : callable
        Gives the points that an item meets.
    met : set
        Points that nobody has to meet any more.
    """
    left = {number: points_of(item) - met for number, item in enumerate(items)}
    found = []
    while any(left.values()):
        best = max(left, key=lambda number: len(left[number]))
        gained = left.pop(best)
        found.append(items[best])
        left = {number: points - gained for number, points in left.items()}
    return found
