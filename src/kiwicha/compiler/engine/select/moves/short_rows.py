"""Moves of tensors whose rows are too long for the scratchpad: in shorter rows, and what is left.

A move writes bytes wherever rows begin and end. So its output is a number of rows of some size and
a rest, each of them a part of the tensor with a place of its own. What these need of an input is
loaded for each of them: see `schedule.stripes.spans`.
"""

import dataclasses
import itertools
from collections.abc import Iterator

from kiwicha.compiler.engine.ir.move_operations import MoveOperation, moved
from kiwicha.compiler.engine.ir.operations import Operation, OperationSequence, internal_tensor
from kiwicha.compiler.engine.ir.strided_copies import within
from kiwicha.compiler.engine.ir.window import Image

__all__ = ["has_long_rows", "in_short_rows"]

LONG_ROW_BYTES = 8192
"""Rows of which two stripes of input and output may not fit a scratchpad."""
SHORT_ROW_BYTES = 2048


def has_long_rows(operation: Operation) -> bool:
    """Whether a layer is moves only, of rows that may not fit the scratchpad."""
    steps = [step for step in operation.steps if isinstance(step, MoveOperation)]
    if len(steps) != len(operation.steps) or not all(_is_alone(step, steps) for step in steps):
        return False
    images = [image for step in steps for image in (*step.images.values(), step.output_image)]
    return max(image.row_bytes for image in images) > LONG_ROW_BYTES


def in_short_rows(operation: Operation) -> Operation:
    """Return moves that do the same as those of a layer in shorter rows."""
    numbers = itertools.count(max((_number(step) for step in operation.steps), default=0) + 1)
    parts = (
        part
        for step in operation.steps
        if isinstance(step, MoveOperation)
        for part in _parts(step, numbers)
    )
    return OperationSequence.of(parts)


def _is_alone(step: MoveOperation, steps: list[MoveOperation]) -> bool:
    """Whether other operations of the layer have nothing to do with what one writes."""
    return not any(step.output in other.inputs for other in steps)


def _number(step: Operation) -> int:
    """Return the largest number of a tensor that only operations of the layer know."""
    first = internal_tensor(step.position, 0)
    return max((first - t for t in (*step.inputs, step.output) if t < 0), default=-1)


def _parts(step: MoveOperation, numbers: Iterator[int]) -> Iterator[MoveOperation]:
    tensor, start = step.place or (step.output, 0)
    total = step.output_image.bytes
    whole = total // SHORT_ROW_BYTES * SHORT_ROW_BYTES
    for first, end, size in ((0, whole, SHORT_ROW_BYTES), (whole, total, total - whole)):
        if first == end:
            continue
        image = Image((end - first) // size, 1, size)
        found = (part for copy in step.copies for part in within(copy, first, end))
        copies = [dataclasses.replace(k, target_start=k.target_start - first) for k in found]
        output = internal_tensor(step.position, next(numbers))
        part = moved(step.position, copies, step.images, output, image, step.constants)
        yield dataclasses.replace(part, place=(tensor, start + first))
