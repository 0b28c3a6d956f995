"""Models that break a support rule of operators on integers, or with computed indices."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from tests.support.models.one_operator import Model

__all__ = ["BROKEN_INTEGERS"]

Shape = tuple[int, ...]


def operator(
    code: str,
    inputs: Sequence[tuple[Any, Any]],
    outputs: Sequence[tuple[Any, Shape]],
    *,
    scale: float = 0.5,
    zero_point: int = 0,
    **options: Any,
) -> bytes:
    """Give a model of one operator; an input that is no shape but a list is a constant."""
    model = Model()
    computed, operands = [], []
    for number, (dtype, what) in enumerate(inputs):
        if isinstance(what, list):
            operands.append(model.parameters(what, dtype))
            continue
        bytes_of = (
            {"scale": scale, "zero_point": zero_point} if dtype in (np.int8, np.uint8) else {}
        )
        computed.append(model.tensor(what, dtype, name="abc"[number], **bytes_of))
        operands.append(computed[-1])
    results = [
        model.tensor(
            shape, dtype, name=f"y{number}", **({"scale": 0.5} if dtype is np.int8 else {})
        )
        for number, (dtype, shape) in enumerate(outputs)
    ]
    model.operator(code, operands, results, **options)
    return model.build(computed, results)


def divided(divisor: int, **changes: Any) -> bytes:
    """Give a DIV of bytes by a constant."""
    model = Model()
    b = model.tensor((), name="b", data=np.array(divisor, np.int8), **({"scale": 0.5} | changes))
    return model.single("DIV", [model.activation("a"), b], model.activation("y"))


WORD, LONG, BYTE, BOOL = np.int32, np.int64, np.int8, np.bool_
BROKEN_INTEGERS: list[tuple[Callable[[], bytes], str]] = [
    (
        lambda: operator("DIV", [(BYTE, (2,)), (BYTE, (2,))], [(BYTE, (2,))]),
        (
            "operator 0 DIV (b): divisor must be one constant; multiply by the inverse of a "
            "computed one"
        ),
    ),
    (
        lambda: divided(3, zero_point=3),
        "operator 0 DIV (b): divisor must not be its zero point, which stands for 0",
    ),
    (
        lambda: divided(100, scale=2.0**20),
        (
            "operator 0 DIV (y): output scale must be such that quotients neither overflow nor "
            "vanish"
        ),
    ),
    (
        lambda: operator("ADD", [(WORD, (2,)), (LONG, (2,))], [(WORD, (2,))]),
        "operator 0 ADD: input 1 and input 2 and output must have one type, not int32 and int64",
    ),
    (
        lambda: operator("MUL", [(WORD, (2,))] * 2, [(WORD, (2,))], fusedActivationFunction=1),
        "operator 0 MUL: fused activation of integers must be NONE, not RELU",
    ),
    (
        lambda: operator("EQUAL", [(WORD, (2,)), (WORD, (3,))], [(BOOL, (3,))]),
        "operator 0 EQUAL: input shapes must broadcast, not [2] and [3]",
    ),
    (
        lambda: operator("LESS", [(BYTE, (2,))] * 2, [(BOOL, (2,))], scale=1.0),
        (
            "operator 0 LESS (a): input 1's scale must be less than 1, not 1.0; "
            "operator 0 LESS (b): input 2's scale must be less than 1, not 1.0"
        ),
    ),
    (
        lambda: operator("REDUCE_ANY", [(BOOL, (3, 2)), (WORD, [1])], [(BOOL, (3, 1))]),
        "operator 0 REDUCE_ANY (y0): output must be [3], as keep_dims says, not [3, 1]",
    ),
    (
        lambda: operator(
            "REDUCE_ANY", [(BOOL, (3, 2)), (WORD, [1])], [(BOOL, (3,))], keepDims=True
        ),
        "operator 0 REDUCE_ANY (y0): output must be [3, 1], as keep_dims says, not [3]",
    ),
    (
        lambda: operator(
            "SELECT", [(BOOL, (3,)), (WORD, (2, 3)), (WORD, (2, 3))], [(WORD, (2, 3))]
        ),
        "operator 0 SELECT: condition must be [2, 3] or [2], not [3]",
    ),
    (
        lambda: operator("SELECT", [(BOOL, (2,)), (WORD, (2, 3)), (WORD, (2,))], [(WORD, (2, 3))]),
        "operator 0 SELECT: inputs must have one shape, not [2, 3] and [2]",
    ),
    (
        lambda: operator("NEG", [(WORD, (2,))], [(WORD, (3,))]),
        "operator 0 NEG (y0): output must be [2], not [3]",
    ),
    (
        lambda: operator("CUMSUM", [(WORD, (2,)), (WORD, [1])], [(WORD, (2,))]),
        "operator 0 CUMSUM: axis must be one of -1 to 0, not [1]",
    ),
    (
        lambda: operator("CUMSUM", [(BYTE, (2,)), (WORD, [0])], [(BYTE, (2,))], scale=2.0**19),
        "operator 0 CUMSUM (y0): output scale must be more than 2**-19 of the input scale",
    ),
    (
        lambda: operator("TOPK_V2", [(WORD, (2, 3)), (WORD, [4])], [(WORD, (2, 4))] * 2),
        "operator 0 TOPK_V2 (p): k must be 1 to 3, not [4]",
    ),
    (
        lambda: operator(
            "TOPK_V2", [(WORD, (2, 3)), (WORD, [2])], [(WORD, (2, 2)), (WORD, (2, 3))]
        ),
        "operator 0 TOPK_V2 (y1): output must be [2, 2], not [2, 3]",
    ),
    (
        lambda: operator("FILL", [(WORD, [2, 3]), (WORD, (2,))], [(WORD, (2, 3))]),
        "operator 0 FILL (b): value must have 1 element, not 2",
    ),
    (
        lambda: operator("GATHER_ND", [(WORD, (2, 3)), (np.int16, (2, 1))], [(WORD, (2, 3))]),
        "operator 0 GATHER_ND (b): indices must be int32 or int64, not int16",
    ),
    (
        lambda: operator("GATHER_ND", [(WORD, (2, 3)), (WORD, (2, 3))], [(WORD, (2,))]),
        ("operator 0 GATHER_ND (b): indices must end in a dimension of at most 2, not be [2, 3]"),
    ),
    (
        lambda: operator(
            "SCATTER_ND", [(WORD, (2, 1)), (WORD, (2, 2)), (WORD, [4, 3])], [(WORD, (4, 3))]
        ),
        "operator 0 SCATTER_ND (b): updates must be [2, 3], not [2, 2]",
    ),
    (
        lambda: operator("EMBEDDING_LOOKUP", [(WORD, (2,)), (WORD, (2,))], [(WORD, (2,))]),
        (
            "operator 0 EMBEDDING_LOOKUP: lookup must have 1 dimension and input 2 or more, "
            "not [2] and [2]"
        ),
    ),
    (
        lambda: operator("RANGE", [(WORD, ()), (WORD, ()), (WORD, ())], [(WORD, (4,))]),
        (
            "operator 0 RANGE: inputs must be constants of int32, int64 or bool, or fixed shapes, "
            "and the output none of the model"
        ),
    ),
]
