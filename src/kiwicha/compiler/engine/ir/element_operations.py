"""Element-wise operations: tables of single bytes, sums and products."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from kiwicha.compiler.engine.ir.float_edges import FloatEdge
from kiwicha.compiler.engine.ir.operations import JobOperation
from kiwicha.contract.engine import OUTPUT_BYTES, JobFlag, JobKind

__all__ = [
    "Addition",
    "ElementOperation",
    "FloatConversion",
    "Multiplication",
    "RowAddition",
    "TableLookup",
    "TableOperation",
]


@dataclass(frozen=True, eq=False, kw_only=True)
class ElementOperation(JobOperation):
    """What element-wise operations have; their window is one of pixels.

    Parameters
    ----------
    is_by_channel : bool
        Operands or parameters are by channel: jobs work pixel by pixel, and a second input has one
        pixel. Else they work byte by byte.
    is_wide : bool
        Sums need more than one pass of the requantizer.
    """

    is_by_channel: bool = False
    is_wide: bool = False

    @property
    def flags(self) -> JobFlag:
        """Flags of its jobs."""
        wide = JobFlag.WIDE if self.is_wide else JobFlag(0)
        return wide | (JobFlag.CHANNELS if self.is_by_channel else JobFlag(0))

    @property
    def is_flat(self) -> bool:
        """Whether its jobs work byte by byte, wherever pixels begin and end."""
        return not self.is_by_channel

    @property
    def beat_bytes(self) -> int:
        """Bytes of a beat that it reads."""
        return OUTPUT_BYTES

    @property
    def can_overwrite(self) -> bool:
        """Whether the output can take the place of an input with pixels as far apart."""
        return True

    @property
    def broadcast_inputs(self) -> tuple[int, ...]:
        """Inputs of one pixel, which serves all pixels of the output."""
        return self.inputs[1:] if self.is_by_channel else ()


@dataclass(frozen=True, eq=False, kw_only=True)
class TableOperation(ElementOperation):
    """What element-wise operations with tables have.

    Parameters
    ----------
    tables : int32 [256, 2]
        What a byte of the first and of the second input contributes to the sum, by unsigned byte.
    is_square : bool
        Not the sum is scaled, but its square.
    """

    tables: NDArray[np.int32]
    is_square: bool = False

    @property
    def flags(self) -> JobFlag:
        """Flags of its jobs."""
        square = JobFlag.SQUARE | JobFlag.WIDE if self.is_square else JobFlag(0)
        return super().flags | square


@dataclass(frozen=True, eq=False, kw_only=True)
class TableLookup(TableOperation):
    """One tensor through a table."""

    @property
    def kind(self) -> JobKind:
        """What its jobs are."""
        return JobKind.TABLE


@dataclass(frozen=True, eq=False, kw_only=True)
class FloatConversion(TableOperation):
    """A QUANTIZE of float32, or a DEQUANTIZE.

    Transfers of the tensor of float32 convert it. A job has only to bring the bytes from one tensor
    to another; it is needed where no other job reads the one, or writes the other.

    Parameters
    ----------
    edge : FloatEdge
        The tensor of float32: the input or the output.
    """

    edge: FloatEdge

    @property
    def kind(self) -> JobKind:
        """What its jobs are."""
        return JobKind.TABLE

    @property
    def quantizes(self) -> bool:
        """Whether it is a QUANTIZE."""
        return self.inputs == (self.edge.tensor,)

    @property
    def keeps_bytes(self) -> bool:
        """Whether its job changes nothing."""
        is_limited = self.clamp != (-128, 127)
        return not is_limited and np.array_equal(self.tables[:, 0].astype(np.uint8), np.arange(256))


@dataclass(frozen=True, eq=False, kw_only=True)
class Addition(TableOperation):
    """Two tensors through a table each, and their sum."""

    @property
    def kind(self) -> JobKind:
        """What its jobs are."""
        return JobKind.ADD


@dataclass(frozen=True, eq=False, kw_only=True)
class RowAddition(TableOperation):
    """Two rows of one tensor through a table each, and their sum: one output row, or some columns.

    The input's rows are as long as the output's, byte by byte.

    Parameters
    ----------
    rows : tuple of int
        Which rows, counted from the first one of their image.
    """

    rows: tuple[int, int]

    @property
    def kind(self) -> JobKind:
        """What its jobs are."""
        return JobKind.ADD

    @property
    def can_overwrite(self) -> bool:
        """Whether the output can take the place of an input with pixels as far apart."""
        return False


@dataclass(frozen=True, eq=False, kw_only=True)
class Multiplication(ElementOperation):
    """Products of two tensors.

    Parameters
    ----------
    input_zero_points : tuple of int
        Of the two tensors.
    """

    input_zero_points: tuple[int, int]

    @property
    def kind(self) -> JobKind:
        """What its jobs are."""
        return JobKind.MUL

    @property
    def zero_points(self) -> tuple[int, int]:
        """What its jobs subtract from input bytes and from the bytes of weights."""
        return self.input_zero_points
