"""In which rows and columns moves see their tensors: those of the operations around them.

A move can take any rows for bytes that lie without gaps. It works in stripes with its neighbours if
it sees the same rows as they do.
"""

import dataclasses
from collections.abc import Mapping
from functools import lru_cache

from kiwicha.compiler.engine.ir.move_operations import MoveOperation, moved
from kiwicha.compiler.engine.ir.operations import Operation, OperationSequence
from kiwicha.compiler.engine.ir.window import Image

__all__ = ["shape_moves"]


def shape_moves(operations: Mapping[int, Operation]) -> dict[int, Operation]:
    """Return operations whose moves see tensors in the rows of those that write or read them.

    Parameters
    ----------
    operations : mapping of int to Operation
        What the engine computes, by position.
    """
    steps = [step for position in sorted(operations) for step in operations[position].steps]
    written: dict[int, Image] = {}
    read: dict[int, Image] = {}
    for step in steps:
        for tensor in step.inputs if not isinstance(step, MoveOperation) else ():
            read.setdefault(tensor, step.input_image(tensor))
    for step in reversed(steps):
        # What only moves read can have the rows that these write, if they are as many.
        if isinstance(step, MoveOperation) and step.output in read:
            for tensor in step.inputs:
                rows = read[step.output].rows
                if step.input_image(tensor).rows == rows:
                    read.setdefault(tensor, step.input_image(tensor))
    shaped: dict[Operation, Operation] = {}
    for step in steps:
        if isinstance(step, MoveOperation):
            images = {t: written.get(t, step.images[t]) for t in step.inputs}
            image = read.get(step.output, step.output_image)
            images = {t: _fitting(images[t], step.images[t]) for t in images}
            image = _fitting(image, step.output_image)
            if step.planes > 1:
                # Output rows are those of the input, or of another dimension.
                image = step.output_image
                if any(images[t].rows != image.rows for t in images):
                    images = dict(step.images)
            shaped[step] = _shaped(step, tuple(images.items()), image)
        if isinstance(step, MoveOperation) and step.planes > 1:
            continue  # its rows are no rows of the tensor
        written[step.output] = shaped.get(step, step).output_image
    return {
        position: _sequence(tuple(shaped.get(step, step) for step in operation.steps))
        if any(step in shaped for step in operation.steps)
        else operation
        for position, operation in operations.items()
    }


# Regions of the same operations are scheduled once.
@lru_cache(maxsize=1024)
def _shaped(
    move: MoveOperation, images: tuple[tuple[int, Image], ...], image: Image
) -> MoveOperation:
    found = moved(move.position, move.copies, dict(images), move.output, image, move.constants)
    return dataclasses.replace(found, merged=move.merged, place=move.place, planes=move.planes)


@lru_cache(maxsize=1024)
def _sequence(steps: tuple[Operation, ...]) -> Operation:
    return OperationSequence.of(steps)


def _fitting(wanted: Image, own: Image) -> Image:
    return wanted if wanted.bytes == own.bytes else own
