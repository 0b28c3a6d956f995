"""Operations: layers in the engine's terms.

An operation is a layer of the network, or several that one job computes. `JobOperation` and its
subclasses, a class for each kind of job, are what one job computes; a `DividedOperation` needs
several of them.
"""

import dataclasses
from collections.abc import Iterator
from dataclasses import dataclass

from kiwicha.compiler.engine.ir.window import Window
from kiwicha.contract.engine import JobFlag, JobKind
from kiwicha.program.weight_streams import Parameters

__all__ = ["DividedOperation", "JobOperation", "Operation", "Piece"]


@dataclass(frozen=True, eq=False, kw_only=True)
class Operation:
    """What all operations have.

    Parameters
    ----------
    position : int
        Position of the layer, of several merged ones of the last.
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
        Positions of earlier layers that it computes as well.
    """

    position: int
    inputs: tuple[int, ...]
    output: int
    window: Window
    output_channels: int
    clamp: tuple[int, int]
    merged: tuple[int, ...] = ()

    @property
    def positions(self) -> tuple[int, ...]:
        """Positions of all layers that it computes."""
        return (*self.merged, self.position)

    @property
    def kind(self) -> JobKind:
        """What its jobs are."""
        raise NotImplementedError

    @property
    def job_operations(self) -> "tuple[JobOperation, ...]":
        """What single jobs compute: itself, or its pieces."""
        raise NotImplementedError

    @property
    def is_flat(self) -> bool:
        """Whether its jobs work byte by byte, wherever pixels begin and end."""
        return False

    @property
    def broadcast_inputs(self) -> tuple[int, ...]:
        """Inputs of one pixel, which serves all pixels of the output."""
        return ()

    def within(self, first_row: int, rows: int) -> "Iterator[Piece]":
        """Yield what computes some of the rows of an image, a job each."""
        raise NotImplementedError


@dataclass(frozen=True, eq=False, kw_only=True)
class JobOperation(Operation):
    """An operation of which one job computes any rows.

    Parameters
    ----------
    parameters : Parameters
        Of the output channels; one for all in element-wise operations that are not by channel.
    output_zero_point : int
        Zero point of the output.
    """

    parameters: Parameters
    output_zero_point: int

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
class DividedOperation(Operation):
    """An operation that needs several jobs even where all rows fit at once.

    Parameters
    ----------
    pieces : tuple of Piece
        What the jobs compute, in this order. Later ones may overwrite what earlier ones wrote.
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
    def is_in_blocks(self) -> bool:
        """Whether its jobs are about some of the output channels each."""
        return any(p.operation.output_channels != self.output_channels for p in self.pieces)

    def within(self, first_row: int, rows: int) -> "Iterator[Piece]":
        """Yield what computes some of the rows of an image, a job each."""
        for piece in self.pieces:
            start = max(piece.rows.start, first_row)
            end = min(piece.rows.stop, first_row + rows)
            if start < end:
                yield dataclasses.replace(piece, rows=range(start, end))


@dataclass(frozen=True, eq=False)
class Piece:
    """Outputs of an operation that one job computes.

    Parameters
    ----------
    rows : range
        Output rows, counted from the first one of their image.
    operation : JobOperation
        The operation as it is there: its parameters may differ, and it may be about some channels
        of the whole operation only.
    column : int or None
        The only output column, None if it is all of them.
    first_input_channel, first_output_channel : int
        Of the whole operation, the first channels that it is about.
    """

    rows: range
    operation: JobOperation
    column: int | None = None
    first_input_channel: int = 0
    first_output_channel: int = 0
