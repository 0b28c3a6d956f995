"""What answers are worth: accuracy and confusion matrix."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["TOP", "Scores"]

TOP = 5
"""An answer may count as good if the right class is among so many."""


@dataclass(frozen=True)
class Scores:
    """How often answers were right.

    Parameters
    ----------
    confusion : ndarray
        int64 [classes, classes]: how often the answer to an example of a class (row) was another
        (column).
    in_top : int
        How often the right class was among the `TOP` largest; of equal ones the first count.
    """

    confusion: NDArray[np.int64]
    in_top: int

    @classmethod
    def of(cls, outputs: NDArray[Any], classes: Sequence[int]) -> "Scores":
        """Return the scores of answers.

        Parameters
        ----------
        outputs : ndarray
            [examples, classes]
        classes : sequence of int
            The right ones.
        """
        # In real numbers: the negative of an int8 may be none.
        order = np.argsort(-outputs.astype(np.float64), axis=1, kind="stable")
        right = np.asarray(classes, np.int64)
        confusion = np.zeros((outputs.shape[1],) * 2, np.int64)
        np.add.at(confusion, (right, order[:, 0]), 1)
        return cls(confusion, int((order[:, :TOP] == right[:, None]).any(axis=1).sum()))

    @property
    def examples(self) -> int:
        """How many answers there are."""
        return int(self.confusion.sum())

    @property
    def correct(self) -> int:
        """How many of them are right."""
        return int(np.trace(self.confusion))

    @property
    def accuracy(self) -> float:
        """Share of right answers."""
        return self.correct / self.examples

    def confused(self, number: int) -> tuple[int, int] | None:
        """Return which class examples of a class were most often taken for, and how often."""
        wrong = self.confusion[number].copy()
        wrong[number] = 0
        worst = int(wrong.argmax())
        return (worst, int(wrong[worst])) if wrong[worst] else None
