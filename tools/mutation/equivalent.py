"""A fault in Python that no test can see."""

from dataclasses import dataclass

__all__ = ["Equivalent"]


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
        As in `Mutant`.
    """

    module: str
    text: str
    change: str
    reason: str
    place: int = 0
