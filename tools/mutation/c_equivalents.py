"""Faults in C that no Program can see, and why: they change nothing that can be observed."""

from collections.abc import Sequence
from dataclasses import dataclass

from tools.mutation.c_operators import CFault

__all__ = ["C_EQUIVALENTS", "CEquivalent", "equivalent_c_faults"]


@dataclass(frozen=True)
class CEquivalent:
    """A fault that computes the same, for every Program that is not refused.

    Parameters
    ----------
    file : str
        Of `firmware/kernels`.
    text : str
        The line that it is in.
    change : str
        As in `CFault`.
    reason : str
        Why it is the same.
    """

    file: str
    text: str
    change: str
    reason: str


C_EQUIVALENTS: tuple[CEquivalent, ...] = ()
"""In the order of files."""


def equivalent_c_faults(file: str, known: Sequence[CFault]) -> dict[int, CEquivalent]:
    """Return which faults of a file are known to change nothing, by their numbers.

    Parameters
    ----------
    file : str
        Its name.
    known : sequence of CFault
        All faults of the file.
    """
    return {
        fault.number: item
        for item in C_EQUIVALENTS
        for fault in known
        if (item.file, item.text, item.change) == (file, fault.text, fault.change)
    }
