"""Faults in Python that no test can see, and why: they change nothing that can be observed."""

from collections.abc import Sequence
from dataclasses import dataclass

from tools.mutation.operators import Mutant

__all__ = ["EQUIVALENTS", "Equivalent", "equivalent_faults"]


@dataclass(frozen=True)
class Equivalent:
    """A fault that computes the same, for every input that the module's documents allow.

    Parameters
    ----------
    module : str
        Name as in `tools.mutation.targets`.
    text : str
        The line that it is in.
    change : str
        As in `Mutant`.
    reason : str
        Why it is the same.
    place : int
        Among the faults of the module with the same text and change, from 0 on.
    """

    module: str
    text: str
    change: str
    reason: str
    place: int = 0


EQUIVALENTS: tuple[Equivalent, ...] = ()
"""In the order of modules."""


def equivalent_faults(module: str, known: Sequence[Mutant]) -> dict[int, Equivalent]:
    """Return which faults of a module are known to change nothing, by their numbers.

    Parameters
    ----------
    module : str
        Name of the target.
    known : sequence of Mutant
        All faults of the module.

    Raises
    ------
    ValueError
        If one that is listed is none of them: the module has changed.
    """
    found = {}
    for item in EQUIVALENTS:
        if item.module != module:
            continue
        same = [m.number for m in known if (m.text, m.change) == (item.text, item.change)]
        if item.place >= len(same):
            raise ValueError(
                f"an equivalent of {module} must be one of its faults, not {item.change!r} in "
                f"{item.text!r} ({item.place}); mend tools/mutation/equivalents.py"
            )
        found[same[item.place]] = item
    return found
