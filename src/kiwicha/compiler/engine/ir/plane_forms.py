"""Moves whose output rows are in parts: other dimensions than the first as rows of the output."""

import dataclasses
import math
from collections.abc import Iterator, Sequence

from kiwicha.compiler.engine.ir.move_operations import MoveOperation, divided, moved
from kiwicha.compiler.engine.ir.strided_copies import Loop, StridedCopy
from kiwicha.compiler.engine.ir.window import Image

__all__ = ["by_planes", "plane_forms"]

MAX_PLANES = 1024
"""Transfers of a stripe, at most."""
MAX_ROWS = 512
"""Rows that are told apart, about: finer stripes gain nothing."""


def plane_forms(move: MoveOperation, shape: Sequence[int] = ()) -> Iterator[MoveOperation]:
    """Yield moves that do the same with output rows in parts.

    So a transposition of what is larger than the scratchpad reads some rows, and writes some bytes
    of each plane of its output. First come rows that are those of the input, then those of any
    other dimension: then both may lie in planes.

    Parameters
    ----------
    move : MoveOperation
        With contiguous output rows.
    shape : sequence of int
        Dimensions of its output: several copies can have rows of these only, such as the images of
        a batch that are phases of one image.
    """
    rows = by_planes(move)
    if rows is not None:
        yield rows
    if len(move.inputs) != 1:
        return
    if len(move.copies) != 1:
        yield from _of_images(move, shape)
        return
    (copy,) = move.copies
    total = move.output_image.bytes
    if copy.bytes != total or move.images[move.inputs[0]].bytes != total:
        return
    for number in range(1, len(copy.loops)):
        loop = copy.loops[number]
        planes = math.prod(k.count for k in copy.loops[:number])
        if planes > MAX_PLANES or planes * loop.count * loop.target != total:
            continue
        count = _rows(loop.count)
        if rows is None or (rows.planes, rows.window.output_rows) != (planes, count):
            image = Image(count, planes, total // planes // count)
            images = dict.fromkeys(move.inputs, Image(count, 1, total // count))
            cut = [_cut(copy, number, count)]
            found = moved(move.position, cut, images, move.output, image)
            yield dataclasses.replace(found, planes=planes)


def by_planes(move: MoveOperation) -> MoveOperation | None:
    """Return a move whose output rows are as many as the input's, in parts; None if it has none."""
    sizes = {max((loop.target for loop in copy.loops), default=0) for copy in move.copies}
    total = move.output_image.bytes
    if len(sizes) != 1 or len(move.inputs) != 1:
        return None
    (size,) = sizes
    if not size or total % size:
        return None
    return _in_planes(move, total // size, move.images[move.inputs[0]].rows)


def _of_images(move: MoveOperation, shape: Sequence[int]) -> Iterator[MoveOperation]:
    """Yield forms whose rows are a dimension of the output, in all parts that lie before it."""
    for axis in range(1, len(shape) - 1):
        found = _in_planes(move, math.prod(shape[:axis]), shape[axis])
        if found is not None:
            yield found


def _in_planes(move: MoveOperation, planes: int, rows: int) -> MoveOperation | None:
    """Return a move with output rows of so many parts; None if copies go from one to another."""
    total = move.output_image.bytes
    size = total // planes
    if planes == 1 or planes > MAX_PLANES or total % planes or size % rows:
        return None
    for copy in move.copies:
        _, along = divided(copy, size)
        span = sum((loop.count - 1) * loop.target for loop in along) + copy.piece_bytes
        if copy.target_start % size + span > size:
            return None
    image = Image(rows, planes, size // rows)
    found = moved(move.position, move.copies, move.images, move.output, image, move.constants)
    return dataclasses.replace(found, planes=planes)


def _rows(count: int) -> int:
    """Return into how many equal rows a dimension is divided."""
    return next((n for n in range(min(count, MAX_ROWS), 0, -1) if count % n == 0), 1)


def _cut(copy: StridedCopy, number: int, rows: int) -> StridedCopy:
    """Return a copy with one of its loops as one from row to row and another within a row."""
    loop = copy.loops[number]
    size = loop.count // rows
    parts = [Loop(rows, size * loop.source, size * loop.target)]
    if size > 1:
        parts.append(dataclasses.replace(loop, count=size))
    return dataclasses.replace(
        copy, loops=(*copy.loops[:number], *parts, *copy.loops[number + 1 :])
    )
