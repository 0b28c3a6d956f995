"""Support rules of operators that move pixels of images: blocks, batches, repeated pixels.

They rely on the rules for operands.
"""

import math
from collections.abc import Iterator

from kiwicha.compiler.check.problems import length_problems, shape_problems
from kiwicha.compiler.check.rules import Problem, Rule, rule
from kiwicha.compiler.tflite.graph import Graph, Operator
from kiwicha.compiler.tflite.shapes import paddings

__all__ = ["IMAGE_MOVE_RULES"]

IMAGE_MOVE_RULES: list[Rule] = []


@rule(IMAGE_MOVE_RULES, "SPACE_TO_DEPTH", "DEPTH_TO_SPACE")
def moves_blocks(graph: Graph, operator: Operator) -> Iterator[Problem]:
    """SPACE_TO_DEPTH and DEPTH_TO_SPACE work on images of whole blocks, of 1x1 or more."""
    block = operator.options.block_size
    pair = graph.input(operator), graph.output(operator)
    for tensor in pair:
        if len(tensor.shape) != 4:
            yield Problem(f"images must have 4 dimensions, not {list(tensor.shape)}", tensor)
            return
    if block < 1:
        yield Problem(f"block size must be 1 or more, not {block}")
        return
    space, depth = pair if operator.name == "SPACE_TO_DEPTH" else reversed(pair)
    batches, height, width, channels = depth.shape
    expected = (batches, height * block, width * block)
    if space.shape[:3] != expected or space.shape[3] * block * block != channels:
        yield Problem(
            f"output must have {block}x{block} blocks of the input {list(pair[0].shape)}, "
            f"not {list(pair[1].shape)}",
            pair[1],
        )


@rule(IMAGE_MOVE_RULES, "SPACE_TO_BATCH_ND", "BATCH_TO_SPACE_ND")
def moves_batches(graph: Graph, operator: Operator) -> Iterator[Problem]:
    """SPACE_TO_BATCH_ND and BATCH_TO_SPACE_ND have 1 or 2 dimensions between batch and channels."""
    is_spreading = operator.name == "SPACE_TO_BATCH_ND"
    source, output = graph.input(operator), graph.output(operator)
    rank = len(source.shape)
    if rank not in {3, 4} or len(output.shape) != rank:
        yield Problem(f"input must have 3 or 4 dimensions, as the output, not {rank}", source)
        return
    margin = "paddings" if is_spreading else "crops"
    found = [
        problem
        for position, what, count in ((1, "block shape", rank - 2), (2, margin, 2 * (rank - 2)))
        for problem in length_problems(graph, operator, position, what, count)
    ]
    yield from found
    if found:
        return
    blocks, margins = (graph.input(operator, position) for position in (1, 2))
    if min(blocks.integers()) < 1 or min(margins.integers()) < 0:
        yield Problem(f"block shape must be 1 or more and {margin} 0 or more", blocks)
        return
    space, batch = (source, output) if is_spreading else (output, source)
    wide = [
        size + sum(pair)
        for size, pair in zip(space.shape[1:-1], paddings(graph, operator, 2), strict=True)
    ]
    parts = [size * block for size, block in zip(batch.shape[1:-1], blocks.integers(), strict=True)]
    copies = space.shape[0] * math.prod(blocks.integers())
    if wide != parts or (batch.shape[0], batch.shape[-1]) != (copies, space.shape[-1]):
        yield Problem(
            f"output must have {'x'.join(map(str, blocks.integers()))} blocks of the input "
            f"{list(source.shape)}, not {list(output.shape)}",
            output,
        )


@rule(IMAGE_MOVE_RULES, "RESIZE_NEAREST_NEIGHBOR")
def resizes_images(graph: Graph, operator: Operator) -> Iterator[Problem]:
    """RESIZE_NEAREST_NEIGHBOR resizes images of 4 dimensions."""
    source, output, size = graph.input(operator), graph.output(operator), graph.input(operator, 1)
    if len(source.shape) != 4:
        yield Problem(f"input must have 4 dimensions, not {list(source.shape)}", source)
        return
    found = list(length_problems(graph, operator, 1, "size", 2))
    yield from found
    if not found:
        expected = (source.shape[0], *size.integers(), source.shape[3])
        yield from shape_problems(output, expected)
