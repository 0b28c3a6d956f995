"""Operations: layers in the engine's terms.

An operation is a layer of the network, or several that one job computes. A `ComputeOperation` has
jobs that compute some of its rows: `JobOperation` and its subclasses, a class for each kind of job,
need one of them; a `DividedOperation` needs several.
"""

import dataclasses
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property

from kiwicha.compiler.engine.ir.window import Image, Window, padded
from kiwicha.contract.engine import MAX_KEPT_SUMS, JobFlag, JobKind, SumFlag
from kiwicha.program.weight_streams import Parameters

__all__ = [
    "MAX_INTERNAL_TENSORS",
    "ComputeOperation",
    "DividedOperation",
    "JobOperation",
    "Operation",
    "OperationSequence",
    "Piece",
    "internal_tensor",
]

MAX_INTERNAL_TENSORS = 256
"""Tensors of a layer that only its own operations know, at most."""


@dataclass(frozen=True, eq=False, kw_only=True)
class Operation(ABC):
    """What all operations have.

    Parameters
    ----------
    position : int
        Position of the layer; of several merged ones, of the one whose place it has.
    inputs : tuple of int
        Tensors it reads.
    output : int
        Tensor it writes.
    window : Window
        Geometry.
    output_channels : int
        Channels of the output.
    clamp : tuple of int
        Smallest and largest output.
    merged : tuple of int
        Positions of other layers that it computes as well.
    constants : mapping of int to bytes
        What inputs hold that are constants.
    """

    position: int
    inputs: tuple[int, ...]
    output: int
    window: Window
    output_channels: int
    clamp: tuple[int, int]
    merged: tuple[int, ...] = ()
    constants: Mapping[int, bytes] = field(default_factory=dict)

    @property
    def positions(self) -> tuple[int, ...]:
        """Positions of all layers that it computes."""
        return (*self.merged, self.position)

    @property
    @abstractmethod
    def kind(self) -> JobKind:
        """What its jobs are."""

    @property
    @abstractmethod
    def job_operations(self) -> "tuple[JobOperation, ...]":
        """What single jobs compute: itself, or its pieces; nothing for a move."""

    @property
    def is_flat(self) -> bool:
        """Whether its jobs work byte by byte, wherever pixels begin and end."""
        return False

    @property
    def has_gaps(self) -> bool:
        """Whether pixels that it writes take whole words."""
        return not self.is_flat

    @property
    def has_clamp(self) -> bool:
        """Whether its jobs limit what they write to `clamp`."""
        return False

    @property
    def starts_anywhere(self) -> bool:
        """Whether its jobs write from any byte on."""
        return False

    @property
    def can_overwrite(self) -> bool:
        """Whether the output can take the place of an input with pixels as far apart."""
        return False

    @property
    def is_one_job(self) -> bool:
        """Whether one job computes any rows of an image."""
        return False

    @property
    def broadcast_inputs(self) -> tuple[int, ...]:
        """Inputs of one pixel, which serves all pixels of the output."""
        return ()

    @property
    def pixel_inputs(self) -> tuple[int, ...]:
        """Inputs of which each output needs the pixel in the same place, and no window."""
        return ()

    @property
    def states(self) -> tuple[int, ...]:
        """Inputs that it writes as well, for the next inference."""
        return ()

    @property
    def steps(self) -> "tuple[Operation, ...]":
        """What is done one after the other: itself, or several operations of one layer."""
        return (self,)

    @property
    def output_image(self) -> Image:
        """Rows, columns and channels of the output."""
        return Image(self.window.output_rows, self.window.output_columns, self.output_channels)

    def input_image(self, tensor: int) -> Image:
        """Return the rows, columns and channels of an input."""
        if tensor in self.broadcast_inputs:
            return Image(1, 1, self.window.channels)
        return Image(self.window.input_rows, self.window.input_columns, self.window.channels)


@dataclass(frozen=True, eq=False, kw_only=True)
class ComputeOperation(Operation):
    """An operation whose jobs compute outputs row by row: no move, and no sequence."""

    @abstractmethod
    def within(self, first_row: int, rows: int) -> "Iterator[Piece]":
        """Yield what computes some of the rows of an image, a job each.

        Parameters
        ----------
        first_row : int
            The first output row, counted from the first one of the image.
        rows : int
            How many output rows.
        """


@dataclass(frozen=True, eq=False, kw_only=True)
class JobOperation(ComputeOperation):
    """An operation of which one job computes any rows.

    Parameters
    ----------
    parameters : Parameters
        Of the output channels; one for all in element-wise operations that are not by channel.
    output_zero_point : int
        Zero point of the output.
    sums : SumFlag
        What it leaves for the next one of a series, or continues.
    has_long_rows : bool
        Jobs cannot step over its whole rows, or the padding beside them: only over parts.
    """

    parameters: Parameters
    output_zero_point: int
    sums: SumFlag = SumFlag.NONE
    has_long_rows: bool = False

    @property
    def has_clamp(self) -> bool:
        """Whether its jobs limit what they write to `clamp`."""
        return True

    @property
    def is_one_job(self) -> bool:
        """Whether one job computes any rows of an image."""
        return True

    @property
    def flags(self) -> JobFlag:
        """Flags of its jobs."""
        return JobFlag(0)

    @property
    def zero_points(self) -> tuple[int, int]:
        """What its jobs subtract from input bytes and from the bytes of weights."""
        return 0, 0

    @property
    def job_operations(self) -> "tuple[JobOperation, ...]":
        """Itself."""
        return (self,)

    def within(self, first_row: int, rows: int) -> "Iterator[Piece]":
        """Yield these rows, for one job."""
        yield Piece(range(first_row, first_row + rows), self)


@dataclass(frozen=True, eq=False, kw_only=True)
class DividedOperation(ComputeOperation):
    """An operation that needs several jobs even where all rows fit at once.

    Parameters
    ----------
    pieces : tuple of Piece
        What the jobs compute, in this order. Later ones may overwrite what earlier ones wrote.
        Pieces of a series, which add to the same sums, follow each other.
    """

    pieces: "tuple[Piece, ...]"

    @property
    def kind(self) -> JobKind:
        """What its jobs are."""
        return self.pieces[0].operation.kind

    @property
    def job_operations(self) -> tuple[JobOperation, ...]:
        """What single jobs compute."""
        return tuple(piece.operation for piece in self.pieces)

    @property
    def has_clamp(self) -> bool:
        """Whether its jobs limit what they write to `clamp`."""
        return True

    @property
    def is_in_blocks(self) -> bool:
        """Whether its jobs are about some of the output channels each."""
        return any(p.operation.output_channels != self.output_channels for p in self.pieces)

    @property
    def is_in_parts(self) -> bool:
        """Whether any row takes all of its jobs: of channels, of summands, or of phases."""
        is_in_phases = self.window.dilation_columns > 1 or self.window.is_transposed
        is_summed = any(piece.operation.sums for piece in self.pieces)
        return self.is_in_blocks or is_in_phases or is_summed or self.kind is JobKind.CONV

    @cached_property
    def _series(self) -> "tuple[tuple[Piece, ...], ...]":
        """Pieces of the same outputs, of which all but the last one leave sums for the next."""
        found, series = [], []
        for piece in self.pieces:
            series.append(piece)
            if not piece.operation.sums & SumFlag.KEEP:
                found.append(tuple(series))
                series = []
        assert not series
        return tuple(found)

    def within(self, first_row: int, rows: int) -> "Iterator[Piece]":
        """Yield what computes some of the rows of an image, a job each."""
        for series in self._series:
            found = _between(series[0].rows, first_row, first_row + rows)
            if not found:
                continue
            for some_rows, columns in _tiles(series, found):
                for piece in series:
                    yield dataclasses.replace(piece, rows=some_rows, columns=columns)


@dataclass(frozen=True, eq=False, kw_only=True)
class OperationSequence(Operation):
    """Several operations that compute a layer one after the other.

    Parameters
    ----------
    sequence : tuple of Operation
        In order; of what all but the last one write, some is known to them only.
    """

    sequence: tuple[Operation, ...]

    def __post_init__(self) -> None:
        last = self.sequence[-1]
        assert (self.position, self.output, self.clamp) == (last.position, last.output, last.clamp)

    @classmethod
    def of(cls, sequence: "Iterable[Operation]") -> "Operation":
        """Return the sequence, or its only operation."""
        items = tuple(sequence)
        if len(items) == 1:
            return items[0]
        last = items[-1]
        merged = dict.fromkeys(position for item in items for position in item.positions)
        del merged[last.position]
        return cls(
            position=last.position,
            inputs=items[0].inputs,
            output=last.output,
            window=last.window,
            output_channels=last.output_channels,
            clamp=last.clamp,
            merged=tuple(merged),
            sequence=items,
        )

    @property
    def kind(self) -> JobKind:
        """What its last jobs are."""
        return self.sequence[-1].kind

    @property
    def steps(self) -> tuple[Operation, ...]:
        """The operations, in order."""
        return self.sequence

    @property
    def job_operations(self) -> "tuple[JobOperation, ...]":
        """What single jobs compute."""
        return tuple(part for item in self.sequence for part in item.job_operations)


def internal_tensor(position: int, number: int) -> int:
    """Return a number for a tensor that only operations of a layer know: less than any tensor's.

    Parameters
    ----------
    position : int
        Position of the layer.
    number : int
        Number among those of the layer, less than `MAX_INTERNAL_TENSORS`.
    """
    assert 0 <= number < MAX_INTERNAL_TENSORS
    return -2 - position * MAX_INTERNAL_TENSORS - number


@dataclass(frozen=True, eq=False)
class Piece:
    """Outputs of an operation that one job computes.

    Parameters
    ----------
    rows : range
        Output rows, counted from the first one of their image; every so many-th one.
    operation : JobOperation
        The operation as it is there: its parameters may differ, and it may be about some channels
        of the whole operation only. Its window has the rows and columns of such pieces alone.
    columns : range or None
        Output columns, likewise; None if it is all of them.
    first_input_channel, first_output_channel : int
        Of the whole operation, the first channels that it is about.
    """

    rows: range
    operation: JobOperation
    columns: range | None = None
    first_input_channel: int = 0
    first_output_channel: int = 0


def _between(rows: range, first: int, end: int) -> range:
    """Return those of the rows that are ``first`` or more and less than ``end``."""
    start, stop = (max(-(-(row - rows.start) // rows.step), 0) for row in (first, end))
    return rows[start:stop]


def _tiles(series: tuple[Piece, ...], rows: range) -> Iterator[tuple[range, range | None]]:
    """Yield the rows and columns of jobs whose sums the engine can keep from one to the next."""
    piece = series[0]
    if len(series) == 1:
        yield rows, piece.columns
        return
    columns = piece.columns or range(piece.operation.window.output_columns)
    most = MAX_KEPT_SUMS // padded(piece.operation.output_channels)
    if len(columns) <= most:
        for some in _parts(rows, most // len(columns)):
            yield some, piece.columns
        return
    for row in _parts(rows, 1):
        for some in _parts(columns, most):
            yield row, some


def _parts(values: range, most: int) -> Iterator[range]:
    """Yield parts of about the same size, each of up to ``most``."""
    count = -(-len(values) // most)
    size = -(-len(values) // count)
    for first in range(0, len(values), size):
        yield values[first : first + size]
