"""Tensors of int16 that are planes wherever they lie: only layers of planes know them."""

from collections.abc import Mapping
from functools import lru_cache

from kiwicha.compiler.engine.ir.operations import Operation, OperationSequence
from kiwicha.compiler.engine.ir.replacements import with_fields
from kiwicha.compiler.engine.ir.window import Image, padded
from kiwicha.compiler.engine.select.shorts.kept_planes import joined_image, split_image
from kiwicha.compiler.lower.network import Network

__all__ = ["with_whole_planes"]

_STEPS = (3, 4)
"""Of a layer of int16: moves of one tensor or two to planes, what computes, and one from there."""


def with_whole_planes(
    network: Network, operations: Mapping[int, Operation]
) -> dict[int, Operation]:
    """Return operations of which those of int16 leave planes for each other, where they can.

    Planes of channels in groups of 8 have as many bytes as the tensor. So they can lie in its
    place, in the arena too, where nothing else reads it.

    Parameters
    ----------
    network : Network
        The model.
    operations : mapping of int to Operation
        What the engine computes, by position.
    """
    short = [item for item in operations.values() if _is_short(item)]
    made = {item.output: joined_image(item.steps[-1]) for item in short}
    read: dict[int, int] = {}
    for item in short:
        for source, image in _split(item).items():
            if _are_alike(made.get(source), image):
                read[source] = read.get(source, 0) + 1
    kept = {state for item in network.graph.states for state in (item.before, item.after)}
    whole = frozenset(t for t, count in read.items() if network.readers(t) == count) - kept
    changed = {
        position: _without_moves(item, whole & {*_split(item), item.output})
        for position, item in operations.items()
        if _is_short(item) and {*_split(item), item.output} & whole
    }
    return {**operations, **changed}


def _is_short(item: Operation) -> bool:
    """Whether an operation is a layer of int16 between moves to planes and one from planes."""
    if len(item.steps) not in _STEPS or joined_image(item.steps[-1]) is None:
        return False
    return all(split_image(step) is not None for step in item.steps[:-2])


def _split(item: Operation) -> dict[int, Image | None]:
    """Return the images of the tensors that a layer of int16 brings to planes."""
    return {step.inputs[0]: split_image(step) for step in item.steps[:-2]}


def _are_alike(made: Image | None, read: Image | None) -> bool:
    """Whether planes are as a reader wants them: pixels come one behind the other in any rows."""
    if made is None or read is None or made.channels != read.channels:
        return False
    return made.bytes == read.bytes and padded(read.channels) == read.channels


@lru_cache(maxsize=1024)
def _without_moves(item: Operation, whole: frozenset[int], /) -> Operation:
    """Return a layer without moves of tensors that are planes; the same one for the same."""
    *before, middle, last = item.steps
    same = {move.output: move.inputs[0] for move in before if move.inputs[0] in whole}
    inputs = tuple(same.get(planes, planes) for planes in middle.inputs)
    gives_planes = last.output in whole
    output = last.output if gives_planes else middle.output
    steps = [move for move in before if move.output not in same]
    steps += [with_fields(middle, inputs=inputs, output=output)]
    return OperationSequence.of([*steps, *([] if gives_planes else [last])])
