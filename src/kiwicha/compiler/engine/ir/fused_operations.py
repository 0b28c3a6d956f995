"""A sum of two tensors behind the convolution that gives one of them: no job of its own adds."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from kiwicha.compiler.engine.ir.operations import ComputeOperation, JobOperation, Piece
from kiwicha.compiler.engine.ir.window import Image
from kiwicha.compiler.engine.ir.window_operations import Convolution
from kiwicha.contract.engine import JobFlag, JobKind

__all__ = ["FusedConvolution", "FusedSum", "SumTables"]


@dataclass(frozen=True, eq=False, kw_only=True)
class SumTables(JobOperation):
    """What brings the tables of a sum; it computes nothing.

    Parameters
    ----------
    tables : int32 [256, 2]
        What a byte of the convolution and one of the other tensor add, by unsigned byte.
    """

    tables: NDArray[np.int32]

    @property
    def kind(self) -> JobKind:
        """What its jobs are."""
        return JobKind.ADD

    @property
    def flags(self) -> JobFlag:
        """Flags of its jobs."""
        return JobFlag.FUSED

    @property
    def is_flat(self) -> bool:
        """Whether its jobs work byte by byte, wherever pixels begin and end."""
        return True


@dataclass(frozen=True, eq=False, kw_only=True)
class FusedConvolution(Convolution):
    """A convolution to whose results a second input is added, by the tables that came last."""

    @property
    def flags(self) -> JobFlag:
        """Flags of its jobs."""
        return super().flags | JobFlag.FUSED


@dataclass(frozen=True, eq=False, kw_only=True)
class FusedSum(ComputeOperation):
    """A convolution and the sum of its output and another tensor.

    Parameters
    ----------
    tables : SumTables
        The sum.
    convolution : FusedConvolution
        The convolution; of the inputs the second one is the other tensor.
    """

    tables: SumTables
    convolution: FusedConvolution

    @property
    def kind(self) -> JobKind:
        """What its jobs are."""
        return JobKind.CONV

    @property
    def job_operations(self) -> tuple[JobOperation, ...]:
        """What single jobs compute."""
        return self.tables, self.convolution

    @property
    def pixel_inputs(self) -> tuple[int, ...]:
        """Inputs of which each output needs the pixel in the same place, and no window."""
        return self.inputs[1:]

    def input_image(self, tensor: int) -> Image:
        """Return the rows, columns and channels of an input."""
        return self.output_image if tensor in self.pixel_inputs else super().input_image(tensor)

    def within(self, first_row: int, rows: int) -> Iterator[Piece]:
        """Yield what computes some of the rows of an image, a job each."""
        for operation in self.job_operations:
            yield Piece(range(first_row, first_row + rows), operation)
