"""Models that break a support rule of operators that only move data, and the refusals."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from tests.support.models.one_operator import Model, unary

__all__ = ["BROKEN_MOVES"]

Shape = tuple[int, ...]


def move(
    code: str, x: Shape, y: Shape, parameters: Sequence[Any] = (), at: int = 1, **options: Any
) -> bytes:
    """Return an operator with one input and output; its parameters stand from ``at`` on."""
    model = Model()
    operands = [model.activation("x", x)]
    for number, values in enumerate(parameters):
        array = np.asarray(values, np.int32)
        index = model.tensor(array.shape, np.int32, name=f"p{number}", data=array)
        operands.insert(at + number, index)
    return model.single(code, operands, model.activation("y", y), **options)


def join(code: str, shapes: Sequence[Shape], y: Shape, scale: float = 0.5, **options: Any) -> bytes:
    """Return an operator with several inputs, the first with this scale."""
    model = Model()
    operands = [
        model.activation(f"x{k}", shape, scale=scale if k == 0 else 0.5)
        for k, shape in enumerate(shapes)
    ]
    return model.single(code, operands, model.activation("y", y), **options)


def split(code: str, parameters: Sequence[Any], ys: Sequence[Shape], **options: Any) -> bytes:
    """Return an operator that cuts [4, 6]; the axis of SPLIT comes first."""
    model = Model()
    operands = [model.activation("x", (4, 6))]
    for number, values in enumerate(parameters):
        operands.insert(0 if code == "SPLIT" else 1 + number, model.parameters(values))
    outputs = [model.activation(f"y{k}", shape) for k, shape in enumerate(ys)]
    model.operator(code, operands, outputs, **options)
    return model.build([operands[1] if code == "SPLIT" else operands[0]], outputs)


def padded(dtype: Any = np.int8, count: int = 1, scale: float = 0.5) -> bytes:
    """Return a PADV2 with this value."""
    model = Model()
    x, y = model.activation("x", (2,)), model.activation("y", (4,))
    value = model.tensor(
        (count,), dtype, name="v", scale=scale, data=np.zeros(count, np.dtype(dtype))
    )
    return model.single("PADV2", [x, model.parameters([[1, 1]]), value], y)


IMAGE = (1, 4, 4, 2)

BROKEN_MOVES: list[tuple[Callable[[], bytes], str]] = [
    (
        lambda: unary("SQUEEZE", {"dtype": np.int32, "scale": None}, {}),
        "operator 0 SQUEEZE (x): input must be int8 or uint8, not int32",
    ),
    (
        lambda: move("PADV2", (2,), (4,), [[[1, 1]]]),
        "operator 0 PADV2: inputs 0 to 2 must be present, not only 2 of them",
    ),
    (lambda: padded(np.int32), "operator 0 PADV2 (v): value must be int8, not int32"),
    (
        lambda: padded(count=2),
        "operator 0 PADV2 (v): value must be a dense constant of one element",
    ),
    (
        lambda: padded(scale=0.25),
        "operator 0 PADV2 (v): value must have the output's scale and zero point",
    ),
    (
        lambda: join("CONCATENATION", [(2, 3)], (2, 3), axis=0, fusedActivationFunction=1),
        "operator 0 CONCATENATION: fused activation must be NONE, not RELU",
    ),
    (
        lambda: join("CONCATENATION", [(2, 3)], (2, 3), axis=2),
        "operator 0 CONCATENATION: axis must be -2 to 1, not 2",
    ),
    (
        lambda: join("CONCATENATION", [(2, 3), (3,)], (3, 3), axis=0),
        "operator 0 CONCATENATION: inputs must have 2 dimensions, not [[2, 3], [3]]",
    ),
    (
        lambda: join("CONCATENATION", [(2, 3), (2, 4)], (4, 3), axis=0),
        "operator 0 CONCATENATION: inputs must differ only in dimension 0, not [[2, 3], [2, 4]]",
    ),
    (
        lambda: join("CONCATENATION", [(2, 3), (1, 3)], (4, 3), axis=-2),
        "operator 0 CONCATENATION (y): output must be [3, 3], not [4, 3]",
    ),
    (
        lambda: join("PACK", [(2,), (3,)], (2, 2), axis=0),
        "operator 0 PACK: inputs must have one shape, not [[2], [3]]",
    ),
    (
        lambda: join("PACK", [(2,), (2,)], (2, 3), axis=1),
        "operator 0 PACK (y): output must be [2, 2], not [2, 3]",
    ),
    (
        lambda: join("PACK", [(2,), (2,)], (2, 2), axis=-3),
        "operator 0 PACK: axis must be -2 to 1, not -3",
    ),
    (
        lambda: split("UNPACK", [], [(6,)] * 3, axis=0),
        "operator 0 UNPACK: number of outputs must be 4, not 3",
    ),
    (
        lambda: split("UNPACK", [], [(4,)] * 6, axis=2),
        "operator 0 UNPACK: axis must be -2 to 1, not 2",
    ),
    (
        lambda: split("SPLIT", [[2]], [(4, 3)] * 2),
        "operator 0 SPLIT (p): axis must be -2 to 1, not 2",
    ),
    (
        lambda: split("SPLIT", [[1, 0]], [(4, 3)] * 2),
        "operator 0 SPLIT (p): axis must have 1 value, not 2",
    ),
    (
        lambda: split("SPLIT", [1], [(4, 1)] * 4),
        "operator 0 SPLIT: parts of dimension 1 must be 6 in all, not 4",
    ),
    (
        lambda: split("SPLIT_V", [[1, 4], [1]], [(4, 1), (4, 5)]),
        "operator 0 SPLIT_V (p): sizes must be those of the outputs, [1, 5], not [1, 4]",
    ),
    (
        lambda: move("SLICE", (4,), (2,), [[3], [2]]),
        "operator 0 SLICE: slice of dimension 0 must lie in 0 to 4, not in 3 to 5",
    ),
    (
        lambda: move("SLICE", (4,), (2,), [[1, 1], [2]]),
        "operator 0 SLICE (p0): begin must have 1 values, not 2",
    ),
    (
        lambda: move("SLICE", (4,), (2,), [[1], [-1]]),
        "operator 0 SLICE (y): output must be [3], not [2]",
    ),
    (
        lambda: move("STRIDED_SLICE", (4,), (2,), [[0], [2], [0]]),
        "operator 0 STRIDED_SLICE (p2): strides must not be 0",
    ),
    (
        lambda: move("STRIDED_SLICE", (4,), (4,), [[0], [2], [1]], ellipsisMask=3),
        "operator 0 STRIDED_SLICE: ellipsis mask must have one bit, not 0b11",
    ),
    (
        lambda: move("STRIDED_SLICE", (4,), (2,), [[0], [2], [1]], offset=True),
        "operator 0 STRIDED_SLICE: ends must be positions, not offsets",
    ),
    (
        lambda: move("STRIDED_SLICE", (4,), (2,), [[0, 0], [2, 2], [1, 1]]),
        "operator 0 STRIDED_SLICE (x): slice must have at most 1 dimensions",
    ),
    (
        lambda: move("STRIDED_SLICE", (4,), (2,), [[3], [1], [1]]),
        (
            "operator 0 STRIDED_SLICE: slice of dimension 0 must take positions of 0 to 3, not "
            "0 from 3 in steps of 1"
        ),
    ),
    (
        lambda: move("STRIDED_SLICE", (4,), (), [[3], [4], [-1]], shrinkAxisMask=1),
        (
            "operator 0 STRIDED_SLICE: slice of dimension 0 must take positions of 0 to 3, not "
            "1 from 3 in steps of -1"
        ),
    ),
    (
        lambda: move("STRIDED_SLICE", (4,), (3,), [[0], [4], [2]]),
        "operator 0 STRIDED_SLICE (y): output must be [2], not [3]",
    ),
    (
        lambda: move("TILE", (2, 3), (2, 6), [[1]]),
        "operator 0 TILE (p0): multiples must have 2 values, not 1",
    ),
    (
        lambda: move("TILE", (2, 3), (2, 3), [[1, 0]]),
        "operator 0 TILE (p0): multiples must be 1 or more, not [1, 0]",
    ),
    (
        lambda: move("TILE", (2, 3), (4, 3), [[1, 2]]),
        "operator 0 TILE (y): output must be [2, 6], not [4, 3]",
    ),
    (
        lambda: move("TRANSPOSE", (2, 3), (3, 2), [[1, 1]]),
        "operator 0 TRANSPOSE (p0): permutation must be of 2 dimensions, not [1, 1]",
    ),
    (
        lambda: move("TRANSPOSE", (2, 3), (2, 3), [[1, 0]]),
        "operator 0 TRANSPOSE (y): output must be [3, 2], not [2, 3]",
    ),
    (
        lambda: move("SPACE_TO_DEPTH", (1, 4, 8), (1, 2, 16), blockSize=2),
        "operator 0 SPACE_TO_DEPTH (x): images must have 4 dimensions, not [1, 4, 8]",
    ),
    (
        lambda: move("SPACE_TO_DEPTH", IMAGE, IMAGE, blockSize=0),
        "operator 0 SPACE_TO_DEPTH: block size must be 1 or more, not 0",
    ),
    (
        lambda: move("DEPTH_TO_SPACE", IMAGE, (1, 8, 8, 1), blockSize=2),
        (
            "operator 0 DEPTH_TO_SPACE (y): output must have 2x2 blocks of the input "
            "[1, 4, 4, 2], not [1, 8, 8, 1]"
        ),
    ),
    (
        lambda: move("SPACE_TO_BATCH_ND", (4, 2), (4, 2), [[2], [[0, 0]]]),
        (
            "operator 0 SPACE_TO_BATCH_ND (x): input must have 3 or 4 dimensions, as the output, "
            "not 2"
        ),
    ),
    (
        lambda: move("SPACE_TO_BATCH_ND", IMAGE, (4, 2, 2, 2), [[2], [[0, 0]] * 2]),
        "operator 0 SPACE_TO_BATCH_ND (p0): block shape must have 2 values, not 1",
    ),
    (
        lambda: move("SPACE_TO_BATCH_ND", IMAGE, (4, 2, 2, 2), [[2, 2], [[0, -1], [0, 0]]]),
        ("operator 0 SPACE_TO_BATCH_ND (p0): block shape must be 1 or more and paddings 0 or more"),
    ),
    (
        lambda: move("BATCH_TO_SPACE_ND", (4, 2, 2, 2), (1, 4, 3, 2), [[2, 2], [[0, 0]] * 2]),
        (
            "operator 0 BATCH_TO_SPACE_ND (y): output must have 2x2 blocks of the input "
            "[4, 2, 2, 2], not [1, 4, 3, 2]"
        ),
    ),
    (
        lambda: move("RESIZE_NEAREST_NEIGHBOR", (1, 4, 2), (1, 8, 2), [[8, 2]]),
        "operator 0 RESIZE_NEAREST_NEIGHBOR (x): input must have 4 dimensions, not [1, 4, 2]",
    ),
    (
        lambda: move("RESIZE_NEAREST_NEIGHBOR", IMAGE, (1, 8, 8, 2), [[8, 8, 2]]),
        "operator 0 RESIZE_NEAREST_NEIGHBOR (p0): size must have 2 values, not 3",
    ),
    (
        lambda: move("RESIZE_NEAREST_NEIGHBOR", IMAGE, (1, 8, 8, 2), [[8, 6]]),
        "operator 0 RESIZE_NEAREST_NEIGHBOR (y): output must be [1, 8, 6, 2], not [1, 8, 8, 2]",
    ),
    (
        lambda: unary("EXPAND_DIMS", {}, {}),
        "operator 0 EXPAND_DIMS: inputs 0 to 1 must be present, not only 1 of them",
    ),
    (
        lambda: unary("SQUEEZE", {}, {"shape": (4, 4)}),
        "operator 0 SQUEEZE (y): output must have 32 values, not 16",
    ),
    (
        lambda: move("SQUEEZE", (1, 2), (2,), [[0]]),
        "operator 0 SQUEEZE: number of inputs must be at most 1, not 2",
    ),
]
