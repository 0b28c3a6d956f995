"""Tensors of int16 that are planes wherever they lie: only convolutions of planes know them."""

from collections.abc import Mapping
from functools import lru_cache

from kiwicha.compiler.engine.ir.operations import Operation, OperationSequence
from kiwicha.compiler.engine.ir.replacements import with_fields
from kiwicha.compiler.engine.ir.window import Image, padded
from kiwicha.compiler.engine.select.shorts.kept_planes import joined_image, split_image
from kiwicha.compiler.lower.network import Network

__all__ = ["with_whole_planes"]

_MOVES = 2
"""Of a layer: to planes, and from planes."""


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
        image, source = split_image(item.steps[0]), item.steps[0].inputs[0]
        if _are_alike(made.get(source), image):
            read[source] = read.get(source, 0) + 1
    kept = {state for item in network.graph.states for state in (item.before, item.after)}
    whole = frozenset(t for t, count in read.items() if network.readers(t) == count) - kept
    changed = {
        position: _without_moves(item, item.inputs[0] in whole, item.output in whole)
        for position, item in operations.items()
        if _is_short(item) and {item.inputs[0], item.output} & whole
    }
    return {**operations, **changed}


def _is_short(item: Operation) -> bool:
    """Whether an operation is a layer of int16 between two moves."""
    first, *others = item.steps
    is_between = len(others) == _MOVES and split_image(first) is not None
    return is_between and joined_image(others[-1]) is not None


def _are_alike(made: Image | None, read: Image | None) -> bool:
    """Whether planes are as a reader wants them: pixels come one behind the other in any rows."""
    if made is None or read is None or made.channels != read.channels:
        return False
    return made.bytes == read.bytes and padded(read.channels) == read.channels


@lru_cache(maxsize=1024)
def _without_moves(item: Operation, has_planes: bool, gives_planes: bool, /) -> Operation:
    """Return a layer without its first or last move; the same one for the same."""
    first, convolution, last = item.steps
    inputs = first.inputs if has_planes else convolution.inputs
    output = last.output if gives_planes else convolution.output
    middle = with_fields(convolution, inputs=inputs, output=output)
    before, behind = [] if has_planes else [first], [] if gives_planes else [last]
    return OperationSequence.of([*before, middle, *behind])
