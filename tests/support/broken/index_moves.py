"""Models that break a support rule of operators that choose positions, and the refusals."""

from collections.abc import Callable, Sequence
from typing import Any

from tests.support.models.one_operator import Model

__all__ = ["BROKEN_INDEX_MOVES"]


def move(
    code: str, values: Any, y: Sequence[int], x: tuple[int, ...] = (2, 3), **options: Any
) -> bytes:
    """Give a model of one operator with a constant operand."""
    model = Model()
    operands = [model.activation("x", x), model.parameters(values)]
    return model.single(code, operands, model.activation("y", tuple(y)), **options)


BROKEN_INDEX_MOVES: list[tuple[Callable[[], bytes], str]] = [
    (
        lambda: move("MIRROR_PAD", [[0, 0], [3, 0]], (2, 6), mode=0),
        "operator 0 MIRROR_PAD (p): paddings of dimension 1 must be 0 to 2, not [3, 0]",
    ),
    (
        lambda: move("MIRROR_PAD", [[0, 0]], (2, 3), mode=1),
        "operator 0 MIRROR_PAD (p): paddings must have 4 values, not 2",
    ),
    (
        lambda: move("MIRROR_PAD", [[0, 0], [3, 0]], (2, 3), mode=1),
        "operator 0 MIRROR_PAD (y): output must be [2, 6], not [2, 3]",
    ),
    (
        lambda: move("GATHER", [0, 3], (2, 2), axis=1),
        "operator 0 GATHER (p): indices must be 0 to 2, not [0, 3]",
    ),
    (
        lambda: move("GATHER", [0, 1], (2, 2), axis=2),
        "operator 0 GATHER: axis must be -2 to 1, not 2",
    ),
    (
        lambda: move("GATHER", [0, 1], (2, 2), axis=0, batchDims=1),
        "operator 0 GATHER: batch dimensions must be 0 to 0, not 1",
    ),
    (
        lambda: move("GATHER", [[0], [1], [2]], (3, 1), axis=1, batchDims=1),
        "operator 0 GATHER (p): indices must begin with [2], not be [3, 1]",
    ),
    (
        lambda: move("GATHER", [0, 1], (2, 3), axis=1),
        "operator 0 GATHER (y): output must be [2, 2], not [2, 3]",
    ),
    (
        lambda: move("REVERSE_V2", [2], (2, 3)),
        "operator 0 REVERSE_V2 (p): axis must be -2 to 1, not 2",
    ),
    (
        lambda: move("BROADCAST_TO", [2, 4], (2, 4)),
        "operator 0 BROADCAST_TO (x): input must broadcast to [2, 4], not be [2, 3]",
    ),
]
