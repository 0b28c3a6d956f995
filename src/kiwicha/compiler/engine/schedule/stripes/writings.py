"""What a stripe writes of a tensor in the arena, and how it lies in a buffer of the scratchpad."""

import dataclasses
from dataclasses import dataclass

from kiwicha.compiler.engine.ir.move_operations import MoveOperation
from kiwicha.compiler.engine.ir.operations import Operation
from kiwicha.compiler.engine.ir.strided_copies import StridedCopy
from kiwicha.compiler.engine.schedule.stripes.readings import MovedPiece
from kiwicha.compiler.engine.schedule.stripes.stripes import Stripe
from kiwicha.contract.cfu import ALIGNMENT_BYTES

__all__ = ["Writing"]


@dataclass(frozen=True)
class Writing:
    """What is stored of a tensor.

    Parameters
    ----------
    pieces : tuple of MovedPiece
        A transfer each.
    plane_bytes : int
        Bytes of the tensor from piece to piece; 0 if there is only one.
    plane_step : int
        Those in the buffer.
    """

    pieces: tuple[MovedPiece, ...]
    plane_bytes: int = 0
    plane_step: int = 0

    @classmethod
    def of(cls, operation: Operation, row_bytes: int, part: Stripe) -> "Writing":
        """Return what an operation, whose output rows have so many bytes, writes for a stripe."""
        # DRAM and scratchpad count bytes of their lines alike.
        if not isinstance(operation, MoveOperation) or operation.planes == 1:
            first = part.first_output_row * row_bytes
            place = isinstance(operation, MoveOperation) and operation.place
            lead = (first + (place[1] if place else 0)) % ALIGNMENT_BYTES
            # A single pixel has bytes behind it that are not the tensor's.
            size = part.output_rows * operation.output_image.row_bytes
            return cls((MovedPiece(first, size, lead),))
        first, size = (
            rows * operation.part_bytes for rows in (part.first_output_row, part.output_rows)
        )
        whole = operation.plane_bytes
        step = size + (whole - size) % ALIGNMENT_BYTES
        lead = first % ALIGNMENT_BYTES
        pieces = (
            MovedPiece(first + number * whole, size, lead + number * step)
            for number in range(operation.planes)
        )
        return cls(tuple(pieces), whole, step)

    @property
    def bytes(self) -> int:
        """Bytes of the buffer."""
        last = self.pieces[-1]
        return last.place + last.bytes

    def in_buffer(self, copy: StridedCopy) -> StridedCopy:
        """Return a copy to the tensor as one to the buffer."""
        first = self.pieces[0]
        if not self.plane_bytes:
            start = copy.target_start - first.first + first.place
            return dataclasses.replace(copy, target_start=start)
        plane, offset = divmod(copy.target_start, self.plane_bytes)
        loops = tuple(
            dataclasses.replace(loop, target=loop.target // self.plane_bytes * self.plane_step)
            if loop.target % self.plane_bytes == 0
            else loop
            for loop in copy.loops
        )
        start = plane * self.plane_step + offset - first.first + first.place
        return dataclasses.replace(copy, target_start=start, loops=loops)
