"""Planes between layers of int16 in a region: what one has joined the next one need not split."""

from collections.abc import Sequence, Set
from functools import lru_cache

from kiwicha.compiler.engine.ir.move_operations import MoveOperation
from kiwicha.compiler.engine.ir.operations import Operation
from kiwicha.compiler.engine.ir.replacements import with_fields
from kiwicha.compiler.engine.ir.window import Image
from kiwicha.compiler.engine.select.shorts.planes import SHORT_BYTES, joining, splitting

__all__ = ["joined_image", "split_image", "with_kept_planes"]


def with_kept_planes(members: Sequence[Operation], wanted: Set[int]) -> tuple[Operation, ...]:
    """Return the operations of a region, without moves to planes that are there already.

    What reads the planes of a tensor then reads those that it was joined from, and a tensor that
    nothing else reads is not joined.

    Parameters
    ----------
    members : sequence of Operation
        What a region computes, in order.
    wanted : set of int
        Tensors that others need.
    """
    joined: dict[int, tuple[int, Image]] = {}
    same: dict[int, int] = {}
    left: list[Operation] = []
    for item in members:
        image = split_image(item)
        if image is not None and joined.get(item.inputs[0], (0, None))[1] == image:
            same[item.output] = joined[item.inputs[0]][0]
            continue
        current = item
        for planes in {*item.inputs} & {*same}:
            current = _reading(current, planes, same[planes])
        image = joined_image(current)
        if image is not None:
            joined[current.output] = current.inputs[0], image
        left.append(current)
    read = {tensor for item in left for tensor in item.inputs}
    needed = wanted | read
    return tuple(item for item in left if item.output in needed or joined_image(item) is None)


def split_image(item: Operation) -> Image | None:
    """Return the image of the tensor of int16 that a move brings to planes; None if it does not."""
    if not isinstance(item, MoveOperation) or len(item.inputs) > 1 or item.output >= 0:
        return None
    (source,) = item.inputs
    image = _of_shorts(item.images[source])
    if image is None:
        return None
    usual = splitting(item.position, source, image, item.output)
    return image if _are_alike(item, usual) else None


def joined_image(item: Operation) -> Image | None:
    """Return the image of the tensor of int16 that a move joins; None if it does not."""
    if not isinstance(item, MoveOperation) or len(item.inputs) > 1 or item.place is not None:
        return None
    if item.inputs[0] >= 0:
        return None
    image = _of_shorts(item.output_image)
    if image is None:
        return None
    usual = joining(item.position, item.inputs[0], image, item.output)
    return image if _are_alike(item, usual) else None


def _of_shorts(image: Image) -> Image | None:
    channels, odd = divmod(image.channels, SHORT_BYTES)
    return None if odd else Image(image.rows, image.columns, channels)


def _are_alike(first: MoveOperation, second: MoveOperation) -> bool:
    """Whether moves copy the same bytes between images alike, and nothing else."""
    has_more = bool(first.constants) or first.planes > 1
    images = first.images == second.images and first.output_image == second.output_image
    return not has_more and images and first.copies == second.copies


@lru_cache(maxsize=1024)
def _reading(operation: Operation, planes: int, other: int) -> Operation:
    """Return an operation with another input; the same one for the same, as it is scheduled."""
    inputs = tuple(other if tensor == planes else tensor for tensor in operation.inputs)
    return with_fields(operation, inputs=inputs)
