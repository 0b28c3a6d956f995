"""Probabilities of the channels of each pixel, or their logarithms."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from kiwicha.compiler.engine.ir.operations import JobOperation, Piece
from kiwicha.contract.engine import MAX_U16, JobFlag, JobKind

__all__ = ["SoftmaxOperation"]


@dataclass(frozen=True, eq=False, kw_only=True)
class SoftmaxOperation(JobOperation):
    """A SOFTMAX or LOG_SOFTMAX over channels, whose window is one of pixels.

    Its parameters have no effect.

    Parameters
    ----------
    exponentials : int32 [256]
        As `kiwicha.kernels.softmax.Softmax.exponentials`.
    distances : int32 [256], optional
        As `kiwicha.kernels.log_softmax.LogSoftmax.distances`, of a LOG_SOFTMAX.
    """

    exponentials: NDArray[np.int32]
    distances: NDArray[np.int32] | None = None

    @property
    def kind(self) -> JobKind:
        """What its jobs are."""
        return JobKind.SOFTMAX

    @property
    def flags(self) -> JobFlag:
        """What its jobs have besides their kind."""
        return JobFlag(0) if self.distances is None else JobFlag.LOGARITHMS

    @property
    def has_gaps(self) -> bool:
        """Whether pixels that it writes take whole words."""
        return False

    @property
    def has_clamp(self) -> bool:
        """Whether its jobs limit what they write to `clamp`."""
        return False

    @property
    def starts_anywhere(self) -> bool:
        """Whether its jobs write from any byte on."""
        return True

    @property
    def can_overwrite(self) -> bool:
        """Whether the output can take the place of an input with pixels as far apart."""
        return True

    @property
    def is_one_job(self) -> bool:
        """Whether one job computes any rows of an image."""
        return self.window.image_rows <= self._most_rows

    @property
    def _most_rows(self) -> int:
        """Rows of a job, at most."""
        return max(MAX_U16 // self.window.output_columns, 1)

    def within(self, first_row: int, rows: int) -> Iterator[Piece]:
        """Yield these rows, in jobs of as many pixels as one can have."""
        end = first_row + rows
        for start in range(first_row, end, self._most_rows):
            yield Piece(range(start, min(start + self._most_rows, end)), self)
