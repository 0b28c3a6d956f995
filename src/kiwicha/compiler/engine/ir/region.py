"""A region: consecutive operations that the engine computes in one list, without the CPU."""

from dataclasses import dataclass
from functools import cached_property

from kiwicha.compiler.engine.ir.float_edges import FloatEdge
from kiwicha.compiler.engine.ir.move_operations import MoveOperation
from kiwicha.compiler.engine.ir.operations import Operation
from kiwicha.compiler.engine.ir.product_operations import ComputedProductOperation
from kiwicha.compiler.engine.ir.strided_copies import StridedCopy, repitched
from kiwicha.compiler.engine.ir.window import padded

__all__ = ["Region"]


@dataclass(frozen=True)
class Region:
    """Operations that the engine computes one after the other; equal if all of these are.

    Parameters
    ----------
    operations : tuple of Operation
        In order.
    loads : frozenset of int
        Tensors that are in the arena before.
    stores : frozenset of int
        Tensors that must be in the arena afterwards.
    edges : tuple of FloatEdge
        Those of them that are float32 there.
    """

    operations: tuple[Operation, ...]
    loads: frozenset[int]
    stores: frozenset[int]
    edges: tuple[FloatEdge, ...] = ()

    def verify(self) -> None:
        """Assert that operations come in order and read only what is loaded or written before."""
        assert self.operations
        known = set(self.loads)
        for operation in self.operations:
            assert known.issuperset(operation.inputs)
            assert operation.output not in known
            known.add(operation.output)
        assert self.stores <= known - self.loads
        assert {*self.tables} <= self.loads | self.stores
        assert len(self.tables) == len({(edge.tensor, edge.table) for edge in self.edges})
        positions = [operation.position for operation in self.operations]
        assert positions == sorted(positions)

    @property
    def positions(self) -> tuple[int, ...]:
        """Positions of all layers that it computes."""
        found = (position for item in self.operations for position in item.positions)
        return tuple(dict.fromkeys(found))

    @cached_property
    def tables(self) -> dict[int, bytes]:
        """The converter's table of each tensor that is float32 in the arena."""
        return {edge.tensor: edge.table for edge in self.edges}

    @property
    def position(self) -> int:
        """Position of its first operation's layer: its place among the steps."""
        return self.operations[0].position

    @cached_property
    def first_layer(self) -> int:
        """Lowest position of a layer that jobs compute, which theirs are counted from.

        A convolution with a sum behind it is in the place of that, behind layers that come later.
        """
        return min(part.position for part in self.numbers)

    @cached_property
    def numbers(self) -> dict[Operation, int]:
        """The number in the region of each operation, and of what its jobs compute."""
        return {
            part: number
            for number, operation in enumerate(self.operations)
            for part in (operation, *operation.job_operations)
        }

    @cached_property
    def producers(self) -> dict[int, Operation]:
        """The operation that writes each tensor."""
        return {operation.output: operation for operation in self.operations}

    @cached_property
    def places(self) -> dict[int, tuple[int, int]]:
        """Outputs that are parts of tensors: of which, and the first byte there."""
        return {
            operation.output: operation.place
            for operation in self.operations
            if isinstance(operation, MoveOperation) and operation.place is not None
        }

    @cached_property
    def constants(self) -> dict[int, bytes]:
        """What the constants are that are read: tensors that are loaded from the Program."""
        return {t: values for item in self.operations for t, values in item.constants.items()}

    @property
    def list_tensor(self) -> int | None:
        """What its list is called in the region before, if it lies in the arena."""
        first = self.operations[0]
        return first.list_tensor if isinstance(first, ComputedProductOperation) else None

    @property
    def written(self) -> frozenset[int]:
        """Tensors that others read, and of which it writes all or a part."""
        states = (state for operation in self.operations for state in operation.states)
        stored = (self.places.get(tensor, (tensor, 0))[0] for tensor in self.stores)
        return frozenset([*stored, *states])

    def input_pitch(self, operation: Operation) -> int:
        """Return the bytes of an input pixel of an operation."""
        return self.pitch(operation.inputs[0], operation)

    def pitch(self, tensor: int, reader: Operation) -> int:
        """Return the bytes of a pixel of a tensor that an operation reads."""
        producer = self.producers.get(tensor)
        if producer is not None and self.is_padded(producer):
            return self.output_pitch(producer)
        return reader.input_image(tensor).channels

    def output_pitch(self, operation: Operation) -> int:
        """Return the bytes of an output pixel of an operation."""
        if operation.is_flat:
            return self.input_pitch(operation)
        channels = operation.output_channels
        return padded(channels) if operation.has_gaps else channels

    def is_padded(self, operation: Operation) -> bool:
        """Whether there are bytes between the pixels that an operation writes."""
        dense = operation.output_channels
        return operation.window.output_pixels > 1 and self.output_pitch(operation) != dense

    def output_bytes(self, operation: Operation) -> int:
        """Return the bytes that hold the output of an operation."""
        return operation.window.output_pixels * self.output_pitch(operation)

    def input_bytes(self, operation: Operation, tensor: int) -> int:
        """Return the bytes that hold an input of an operation."""
        if tensor in operation.broadcast_inputs:
            return operation.window.channels
        return operation.input_image(tensor).rows * self.input_row_bytes(operation, tensor)

    def input_row_bytes(self, operation: Operation, tensor: int) -> int:
        """Return the bytes of a row of an input of an operation."""
        return operation.input_image(tensor).columns * self.pitch(tensor, operation)

    def output_row_bytes(self, operation: Operation) -> int:
        """Return the bytes of an output row of an operation."""
        return self._output_row_bytes[operation.output]

    @cached_property
    def _output_row_bytes(self) -> dict[int, int]:
        return {
            operation.output: operation.window.output_columns * self.output_pitch(operation)
            for operation in self.operations
        }

    def tensor_bytes(self, tensor: int) -> int:
        """Return the bytes that hold a tensor."""
        producer = self.producers.get(tensor)
        if producer is not None:
            return self.output_bytes(producer)
        return self.input_bytes(self.operations[self.uses(tensor)[0]], tensor)

    def copies(self, operation: MoveOperation, first: int, end: int) -> list[StridedCopy]:
        """Return the copies of some output rows of a move, with the sources' pixels as they lie."""
        copies: list[StridedCopy] = []
        for copy in operation.parts(first, end):
            found = self.copies_between(operation, copy)
            assert found is not None, "there are gaps that a move cannot leave out"
            copies += found
        return copies

    def copies_between(
        self, operation: MoveOperation, copy: StridedCopy
    ) -> list[StridedCopy] | None:
        """Return a copy with the source's pixels as they lie; None if it cannot leave out gaps."""
        if copy.source is None:
            return [copy]
        channels = operation.images[copy.source].channels
        return repitched(copy, channels, self.pitch(copy.source, operation))

    def is_streamable(self, tensor: int) -> bool:
        """Whether a tensor can lie in the arena: it has no bytes between its pixels.

        What only operations of a layer know has no place there.
        """
        if tensor in self.places or tensor in self.constants:
            return True
        return tensor >= 0 and not self.has_gaps(tensor)

    def has_gaps(self, tensor: int) -> bool:
        """Whether there are bytes between the pixels of a tensor."""
        producer = self.producers.get(tensor)
        return producer is not None and self.is_padded(producer)

    def uses(self, tensor: int) -> tuple[int, int]:
        """Return the numbers of the first and the last operation that write or read a tensor."""
        return self._uses[tensor]

    @cached_property
    def _uses(self) -> dict[int, tuple[int, int]]:
        found: dict[int, tuple[int, int]] = {}
        for number, operation in enumerate(self.operations):
            for tensor in (*operation.inputs, operation.output):
                found[tensor] = found.get(tensor, (number, number))[0], number
        return found
