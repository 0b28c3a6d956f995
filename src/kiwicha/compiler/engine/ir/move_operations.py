"""Moves: operations that only copy bytes, from one place of an image to another."""

import dataclasses
import itertools
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property, lru_cache

from kiwicha.compiler.engine.ir.operations import Operation
from kiwicha.compiler.engine.ir.strided_copies import Loop, StridedCopy, in_order, within
from kiwicha.compiler.engine.ir.window import Image, Window
from kiwicha.contract.engine import JobKind

__all__ = ["MoveOperation", "Planes", "closes_gaps", "closing_gaps", "divided", "moved"]

MIN_LEFT_OUT = 512
"""Bytes between two planes that are worth a transfer for each of them."""
MUCH_LEFT_OUT = 8192
"""Bytes of the scratchpad that are worth as many transfers as there are planes."""
_ALL_BYTES = (-128, 127)


@dataclass(frozen=True)
class Planes:
    """Parts of a tensor, equally far apart, of which some output rows need the same bytes each.

    Parameters
    ----------
    bytes : int
        From one plane to the next.
    first, end : int
        Number of the first plane that is needed, and of the one behind the last.
    low, high : int
        First byte of each that is needed, and the one behind the last.
    """

    bytes: int
    first: int
    end: int
    low: int
    high: int

    @property
    def is_worthwhile(self) -> bool:
        """Whether there is enough between what is needed to leave it out."""
        count = self.end - self.first
        left_out = self.bytes - (self.high - self.low)
        return count > 1 and (left_out >= MIN_LEFT_OUT or count * left_out >= MUCH_LEFT_OUT)


@dataclass(frozen=True, eq=False, kw_only=True)
class MoveOperation(Operation):
    """Copies of bytes from tensors without gaps to another one.

    Parameters
    ----------
    copies : tuple of StridedCopy
        In order; together they write every byte of the output.
    images : mapping of int to Image
        In what rows, columns and channels the inputs lie.
    place : tuple of int or None
        The tensor of which its output is a part, and the first byte there; None if it is none. Such
        an output has a number that only operations know, and always lies in the arena.
    planes : int
        Of how many parts a row of the output consists, which lie as far apart as there are rows in
        a part of the output; 1 if rows are contiguous.
    """

    copies: tuple[StridedCopy, ...]
    images: Mapping[int, Image]
    place: tuple[int, int] | None = None
    planes: int = 1

    def with_place(self, place: tuple[int, int]) -> "MoveOperation":
        """Return the move to a part of a tensor."""
        return dataclasses.replace(self, place=place)

    @property
    def part_bytes(self) -> int:
        """Contiguous bytes of an output row."""
        return self.output_image.row_bytes // self.planes

    @property
    def plane_bytes(self) -> int:
        """Bytes from one part of an output row to the next."""
        return self.window.output_rows * self.part_bytes

    @property
    def kind(self) -> JobKind:
        """What its jobs are."""
        return JobKind.MOVE

    @property
    def has_gaps(self) -> bool:
        """Whether pixels that it writes take whole words."""
        return False

    @property
    def starts_anywhere(self) -> bool:
        """Whether its jobs write from any byte on."""
        return True

    @property
    def job_operations(self) -> tuple[()]:
        """Nothing: its jobs have neither weights nor parameters."""
        return ()

    def input_image(self, tensor: int) -> Image:
        """Return the rows, columns and channels of an input."""
        return self.images[tensor]

    def rows_read(self, tensor: int, first: int, end: int) -> tuple[int, int]:
        """Return the first row of an input that output rows need, and the one behind the last."""
        spans = [copy.source_span for copy in self.parts(first, end) if copy.source == tensor]
        image = self.images[tensor]
        if not spans:
            # One row is always there.
            start = min(first, image.rows - 1)
            return start, start + 1
        low, high = min(span[0] for span in spans), max(span[1] for span in spans)
        return low // image.row_bytes, -(-high // image.row_bytes)

    def parts(self, first: int, end: int) -> tuple[StridedCopy, ...]:
        """Return the copies that write output rows from ``first`` up to ``end``."""
        return _parts(self, first, end)

    def planes_read(self, tensor: int, first: int, end: int) -> Planes | None:
        """Return what output rows need of an input in planes, None if it does not lie in such."""
        size = self._plane_bytes.get(tensor)
        spans = [
            _in_plane(copy, size)
            for copy in (self.parts(first, end) if size else ())
            if size and copy.source == tensor
        ]
        if not size or not spans:
            return None
        return Planes(
            size,
            min(span[0] for span in spans),
            max(span[1] for span in spans),
            min(span[2] for span in spans),
            max(span[3] for span in spans),
        )

    @cached_property
    def _plane_bytes(self) -> dict[int, int]:
        found = {}
        for tensor in self.inputs:
            own = [copy for copy in self.copies if copy.source == tensor]
            # The smallest planes: nothing between them is read for other rows.
            sizes = (size for size in sorted(self._steps(own)) if self._are_planes(own, size))
            found[tensor] = next(sizes, 0)
        return {tensor: size for tensor, size in found.items() if size}

    def _in_row(self, copy: StridedCopy) -> list[Loop]:
        """Return the loops of a copy that go on within an output row, at least to some index."""
        across = divided(copy, self.plane_bytes)[0] if self.planes > 1 else ()
        return [k for k in copy.loops if k in across or k.target < self.part_bytes]

    def _steps(self, copies: Iterable[StridedCopy]) -> set[int]:
        """Return by how much the source moves on within an output row; nothing if one stays."""
        steps = [{abs(loop.source) for loop in self._in_row(copy)} - {0} for copy in copies]
        return set().union(*steps) if all(steps) else set()

    def _are_planes(self, copies: Iterable[StridedCopy], size: int) -> bool:
        """Whether each output row reads some bytes of planes of this size, the same of each."""
        for copy in copies:
            _, _, low, high = _in_plane(copy, size)
            across = divided(copy, self.plane_bytes)[0] if self.planes > 1 else ()
            if low < 0 or high > size:
                return False
            for loop in copy.loops:
                is_in_row = loop in across or loop.count * loop.target <= self.part_bytes
                if loop.source % size == 0 and not is_in_row:
                    return False
        return True


@lru_cache(maxsize=4096)
def _parts(operation: MoveOperation, first: int, end: int) -> tuple[StridedCopy, ...]:
    low, high = (row * operation.part_bytes for row in (first, end))
    size = operation.plane_bytes
    if operation.planes == 1:
        found = (within(copy, low, high) for copy in operation.copies)
        return tuple(itertools.chain.from_iterable(found))
    parts = []
    for copy in operation.copies:
        across, along = divided(copy, size)
        start = copy.target_start // size * size
        one = dataclasses.replace(copy, loops=along)
        for part in within(one, start + low, start + high):
            loops, piece = in_order((*across, *part.loops), part.piece_bytes)
            parts.append(dataclasses.replace(part, loops=loops, piece_bytes=piece))
    return tuple(parts)


def divided(copy: StridedCopy, size: int) -> tuple[tuple[Loop, ...], tuple[Loop, ...]]:
    """Return the loops that go from plane to plane of the output, and those within one."""
    across = tuple(loop for loop in copy.loops if loop.target and loop.target % size == 0)
    return across, tuple(loop for loop in copy.loops if loop not in across)


def _in_plane(copy: StridedCopy, size: int) -> tuple[int, int, int, int]:
    """Return first plane and end that a copy reads, and first byte and end in each."""
    plane, start = divmod(copy.source_start, size)
    first = end = plane
    low, high = start, start + copy.piece_bytes
    for loop in copy.loops:
        if loop.source % size == 0:
            steps = (loop.count - 1) * loop.source // size
            first, end = first + min(steps, 0), end + max(steps, 0)
        else:
            reach = (loop.count - 1) * loop.source
            low, high = low + min(reach, 0), high + max(reach, 0)
    return first, end + 1, low, high


def moved(
    position: int,
    copies: Iterable[StridedCopy],
    images: Mapping[int, Image],
    output: int,
    output_image: Image,
    constants: Mapping[int, bytes] | None = None,
) -> MoveOperation:
    """Return a move.

    Parameters
    ----------
    position : int
        Position of its layer.
    copies : iterable of StridedCopy
        In order; together they write every byte of the output.
    images : mapping of int to Image
        In what rows, columns and channels the inputs lie. What only fills has the first of them as
        its input.
    output : int
        Tensor that it writes.
    output_image : Image
        In what rows, columns and channels that lies.
    constants : mapping of int to bytes, optional
        Contents of tensors, of some of its inputs and perhaps of others.
    """
    ordered = tuple(copies)
    inputs = tuple(dict.fromkeys(copy.source for copy in ordered if copy.source is not None))
    inputs = inputs or tuple(images)[:1]
    first = images[inputs[0]]
    return MoveOperation(
        position=position,
        inputs=inputs,
        output=output,
        window=Window(
            first.rows, first.columns, first.channels, output_image.rows, output_image.columns
        ),
        output_channels=output_image.channels,
        clamp=_ALL_BYTES,
        copies=ordered,
        images={tensor: images[tensor] for tensor in inputs},
        constants={t: values for t, values in (constants or {}).items() if t in inputs},
    )


def closing_gaps(operation: Operation, source: int, output: int) -> MoveOperation:
    """Return the move of what an operation writes from a tensor with gaps between pixels."""
    image = operation.output_image
    copy = StridedCopy(source, 0, 0, (), image.bytes)
    return moved(operation.position, [copy], {source: image}, output, image)


def closes_gaps(operation: MoveOperation) -> bool:
    """Whether a move does nothing else: it is one that `closing_gaps` returns."""
    image = operation.output_image
    copies = (StridedCopy(operation.inputs[0], 0, 0, (), image.bytes),)
    is_plain = operation.place is None and operation.planes == 1 and not operation.constants
    same = all(operation.input_image(tensor) == image for tensor in operation.inputs)
    return is_plain and same and operation.copies == copies
