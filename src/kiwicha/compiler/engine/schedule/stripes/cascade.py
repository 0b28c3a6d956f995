"""Cascades: operations of a region that run interleaved, stripe by stripe."""

import enum
import math
from collections.abc import Iterator, Sequence, Set
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from kiwicha.compiler.engine.ir.move_jobs import move_jobs
from kiwicha.compiler.engine.ir.move_operations import MoveOperation
from kiwicha.compiler.engine.ir.operations import ComputeOperation, Operation
from kiwicha.compiler.engine.ir.region import Region
from kiwicha.compiler.engine.ir.strided_copies import StridedCopy
from kiwicha.compiler.engine.schedule.stripes.readings import PlaneTables, Reading, plane_tables
from kiwicha.compiler.engine.schedule.stripes.spans import SpanTables, row_spans, span_tables
from kiwicha.compiler.engine.schedule.stripes.stripes import Rows, Stripe, by_image
from kiwicha.contract.cfu import ALIGNMENT_BYTES

__all__ = ["Cascade", "Choice", "Room", "Striping"]


@dataclass(frozen=True, eq=False)
class Cascade:
    """Consecutive operations of a region that run interleaved, stripe by stripe.

    Of what all but the last one write, only stripes ever exist.

    Parameters
    ----------
    region : Region
        The region.
    first, end : int
        Number of its first operation, and of the one behind its last.
    """

    region: Region
    first: int
    end: int

    @cached_property
    def operations(self) -> tuple[Operation, ...]:
        """The operations in order."""
        return self.region.operations[self.first : self.end]

    @property
    def positions(self) -> tuple[int, ...]:
        """Positions of its operations' layers."""
        return tuple(operation.position for operation in self.operations)

    @property
    def output(self) -> int:
        """The tensor that the last operation writes."""
        return self.operations[-1].output

    @cached_property
    def passed(self) -> frozenset[int]:
        """Tensors of which only stripes exist."""
        return frozenset(operation.output for operation in self.operations[:-1])

    @cached_property
    def inputs(self) -> tuple[int, ...]:
        """Tensors that come from outside."""
        read = (tensor for operation in self.operations for tensor in operation.inputs)
        return tuple(tensor for tensor in dict.fromkeys(read) if tensor not in self.passed)

    def readers(self, tensor: int) -> tuple[int, ...]:
        """Return the numbers, in the cascade, of the operations that read a tensor."""
        return self._readers_by_tensor.get(tensor, ())

    @cached_property
    def _readers_by_tensor(self) -> dict[int, tuple[int, ...]]:
        return {
            tensor: tuple(
                k for k, operation in enumerate(self.operations) if tensor in operation.inputs
            )
            for tensor in {tensor for operation in self.operations for tensor in operation.inputs}
        }

    @property
    def is_possible(self) -> bool:
        """Whether all that is passed on is read here only, and as the rows that are written."""
        return all(
            self.region.uses(writer.output)[1] < self.end
            and writer.output not in self.region.stores
            and all(self._fit(writer, self.operations[k]) for k in self.readers(writer.output))
            and self.readers(writer.output)
            and not (isinstance(writer, MoveOperation) and writer.planes > 1)
            for writer in self.operations[:-1]
        )

    def _fit(self, writer: Operation, reader: Operation) -> bool:
        tensor = writer.output
        written, read = writer.output_image, reader.input_image(tensor)
        return (written.rows, written.columns) == (read.rows, read.columns) and (
            self.region.output_pitch(writer) == self.region.pitch(tensor, reader)
        )

    @cached_property
    def most_planes(self) -> int:
        """Parts in which it loads or stores rows of a tensor in the arena, at most."""
        last = self.operations[-1]
        stored = last.planes if isinstance(last, MoveOperation) else 1
        tables = (self.planes(tensor) for tensor in self.inputs)
        return max([stored, *(found.count for found in tables if found is not None)])

    @cached_property
    def rows(self) -> Rows:
        """Which rows the operations compute and read for each row of the last one."""
        readers = [self.readers(operation.output) for operation in self.operations[:-1]]
        return Rows(self.operations, [*readers, ()])

    @cached_property
    def heights(self) -> tuple[int, ...]:
        """Rows of the last operation that a stripe can have: each begins at an aligned byte."""
        rows = self.operations[-1].window.output_rows
        row_bytes = self.region.output_row_bytes(self.operations[-1])
        unit = ALIGNMENT_BYTES // math.gcd(ALIGNMENT_BYTES, row_bytes)
        is_float = self.output in self.region.tables
        if self.operations[-1].starts_anywhere and not is_float:
            unit = 1
        return *range(unit, rows, unit), rows

    def input_bytes(self, tensor: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return which bytes of a tensor from outside are read for each row of the last operation.

        Of each row the first byte, and the end.
        """
        return self._input_bytes[tensor]

    @cached_property
    def _input_bytes(self) -> dict[int, tuple[NDArray[np.int64], NDArray[np.int64]]]:
        found = {}
        for tensor in self.inputs:
            starts, ends = [], []
            for number in self.readers(tensor):
                start, end = self.rows.read(number, tensor)
                row = self.region.input_row_bytes(self.operations[number], tensor)
                starts.append(start * row)
                ends.append(end * row)
            found[tensor] = np.min(starts, axis=0), np.max(ends, axis=0)
        return found

    def planes(self, tensor: int) -> PlaneTables | None:
        """Return which parts of a tensor's planes are read, if its only reader reads such."""
        number, *others = self.readers(tensor)
        operation = self.operations[number]
        if others or not isinstance(operation, MoveOperation):
            return None
        tables = plane_tables(operation, tensor)
        if tables is None:
            return None
        return tables.at(self.rows.output_starts[number], self.rows.output_ends[number])

    def spans(self, tensor: int) -> SpanTables | None:
        """Return what single rows of its only reader need of a tensor, None if that is no gain."""
        number, *others = self.readers(tensor)
        operation = self.operations[number]
        if others or not isinstance(operation, MoveOperation):
            return None
        return span_tables(operation, tensor)

    def span_bytes(
        self, tensor: int, firsts: NDArray[np.int64], lasts: NDArray[np.int64]
    ) -> tuple[NDArray[np.int64], NDArray[np.int64]] | None:
        """Return what stripes load of a tensor in spans, as `SpanTables` do."""
        tables, (number, *_) = self.spans(tensor), self.readers(tensor)
        if tables is None:
            return None
        rows = self.rows
        return tables.loaded(rows.output_starts[number][firsts], rows.output_ends[number][lasts])

    def reading(self, tensor: int, found: Sequence[Stripe]) -> Reading:
        """Return what a stripe needs of a tensor in the arena, and how it lies in a buffer."""
        number, *others = self.readers(tensor)
        operation, part = self.operations[number], found[number]
        if isinstance(operation, MoveOperation) and self.spans(tensor) is not None:
            rows = range(part.first_output_row, part.end_output_row)
            spans = [span for row in rows for span in row_spans(operation, tensor, row)]
            # One row is always there.
            return Reading.of_spans(spans or [(0, operation.images[tensor].row_bytes)])
        if isinstance(operation, MoveOperation) and not others:
            planes = operation.planes_read(tensor, part.first_output_row, part.end_output_row)
            if planes is not None and planes.is_worthwhile:
                return Reading.of_planes(planes)
        starts, ends = self.input_bytes(tensor)
        first, end = found[-1].first_output_row, found[-1].end_output_row
        return Reading.of_range(int(starts[first]), int(ends[end - 1]))

    def copies(
        self, operation: MoveOperation, part: Stripe, streamed: Set[int]
    ) -> Iterator[StridedCopy]:
        """Yield the copies of a stripe of a move: row by row if its sources are loaded so.

        Parameters
        ----------
        operation : MoveOperation
            One of the operations.
        part : Stripe
            What it computes.
        streamed : set of int
            Tensors in the arena.
        """
        read = (tensor for tensor in self.inputs if tensor in operation.inputs)
        is_by_rows = any(t in streamed and self.spans(t) is not None for t in read)
        step = 1 if is_by_rows else part.output_rows
        for row in range(part.first_output_row, part.end_output_row, step):
            yield from self.region.copies(operation, row, row + step)

    def host(self, resident: Set[int]) -> int | None:
        """Return the resident tensor whose memory the output can take over.

        It is an input of a last operation that can overwrite it, and nothing else needs it: then a
        stripe overwrites what only that stripe has read.
        """
        operation = self.operations[-1]
        keeps_pitch = self.region.input_pitch(operation) == self.region.output_pitch(operation)
        if not (operation.can_overwrite and keeps_pitch) or operation.output not in resident:
            return None
        for tensor in operation.inputs:
            if tensor in operation.broadcast_inputs:
                continue
            is_last_use = self.region.uses(tensor)[1] == self.end - 1
            if (
                tensor in resident
                and is_last_use
                and self.readers(tensor) == (len(self.operations) - 1,)
            ):
                return tensor
        return None


class Room(enum.Enum):
    """How long a stripe's output has its room: the shorter, the less memory it takes."""

    STRIPE = enum.auto()
    """Until the next stripe ends."""
    OPERATION = enum.auto()
    """Until the next stripe's first operation ends."""
    STORE = enum.auto()
    """Until it is stored, which the next stripe waits for before it writes."""


@dataclass(frozen=True)
class Striping:
    """How a cascade is cut in stripes, and when their inputs and outputs move.

    Parameters
    ----------
    cascade : Cascade
        The operations.
    height : int
        Rows of the last operation in a stripe.
    is_early : bool
        Inputs of the next stripe are loaded from a stripe's beginning on; else when their room is
        free. The later, the less memory it takes.
    room : Room
        How long a stripe's output has its room.
    loads_for, stores_of : int
        Stripes whose inputs are loaded, or outputs stored, together: only of a single move. The
        more there are, the longer are the parts of planes.
    """

    cascade: Cascade
    height: int
    is_early: bool = True
    room: Room = Room.STRIPE
    loads_for: int = 1
    stores_of: int = 1

    @property
    def is_grouped(self) -> bool:
        """Whether stripes are loaded or stored together."""
        return self.loads_for * self.stores_of > 1

    def jobs(self, streamed: Set[int]) -> int:
        """Return how many jobs there are.

        Parameters
        ----------
        streamed : set of int
            Tensors in the arena.
        """
        operations = self.cascade.operations
        count = -(-operations[-1].window.output_rows // self.height)
        if all(item.window.images == 1 and item.is_one_job for item in operations):
            return count * len(operations)
        jobs = 0
        for found in self.cascade.rows.stripes(self.height):
            for operation, part in zip(operations, found, strict=True):
                if isinstance(operation, MoveOperation):
                    copies = self.cascade.copies(operation, part, streamed)
                    jobs += sum(len(move_jobs(copy)) for copy in copies)
                    continue
                assert isinstance(operation, ComputeOperation)
                for image in by_image(operation.window, part):
                    first = operation.window.row_of(image.first_output_row)
                    jobs += len(list(operation.within(first, image.output_rows)))
        return jobs

    def load_turn(self, tensor: int) -> int:
        """Return with which operation of a stripe an input of the next stripe is loaded.

        The number of operations stands for the first one of the next stripe itself.
        """
        readers, count = self.cascade.readers(tensor), len(self.cascade.operations)
        if self.is_early:
            return 0
        return readers[-1] + 1 if readers[0] == 0 else count


@dataclass(frozen=True)
class Choice:
    """How a region is done.

    Parameters
    ----------
    stripings : tuple of Striping
        Cascades in order.
    streamed : frozenset of int
        Tensors between cascades, or at the edges of the region, that move between arena and
        scratchpad in stripes. Others that are not passed on stay in the scratchpad while they are
        needed.
    """

    stripings: tuple[Striping, ...]
    streamed: frozenset[int]
