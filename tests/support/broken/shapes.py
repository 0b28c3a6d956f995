"""Operators that break one rule each of shapes, and the refusals."""

from collections.abc import Callable

from tests.support.models.one_operator import (
    POOL,
    SOFTMAX_OUT,
    connected,
    conv,
    depthwise,
    mean,
    pad,
    pair,
    unary,
)

__all__ = ["BROKEN_SHAPES"]

BROKEN_SHAPES: list[tuple[Callable[[], bytes], str]] = [
    (
        lambda: conv(x={"shape": (4, 4, 2)}),
        "operator 0 CONV_2D (x): input must have 4 dimensions, not [4, 4, 2]",
    ),
    (
        lambda: conv(x={"shape": (1, 1, 32768, 2)}, y={"shape": (1, 1, 32767, 3)}, strideW=0),
        (
            "operator 0 CONV_2D (x): input must be at most 32767 high and wide, "
            "not [1, 1, 32768, 2]; operator 0 CONV_2D: stride width must be 1 to 32767, not 0"
        ),
    ),
    (
        lambda: conv(w={"shape": (3, 3, 1, 2)}, dilationHFactor=20000),
        "operator 0 CONV_2D: dilated kernel height must be 1 to 32767, not 40001",
    ),
    (
        lambda: conv(x={"shape": (1, 4, 4, 3)}),
        "operator 0 CONV_2D (w): weights' input channels must divide 3, not be 2",
    ),
    (
        lambda: conv(x={"shape": (1, 4, 4, 4)}),
        "operator 0 CONV_2D (w): outputs must be a multiple of the 2 groups, not 3",
    ),
    (
        lambda: conv(y={"shape": (1, 4, 5, 3)}),
        "operator 0 CONV_2D (y): output must be [1, 4, 4, 3], not [1, 4, 5, 3]",
    ),
    (
        lambda: conv(w={"shape": (3, 5, 1, 2)}, padding=1),
        "operator 0 CONV_2D (x): window of 5x1 must fit the input [1, 4, 4, 2]",
    ),
    (
        lambda: depthwise((2, 1, 1, 4), 4, depthMultiplier=2),
        "operator 0 DEPTHWISE_CONV_2D (w): weights' first dimension must be 1, not 2",
    ),
    (
        lambda: depthwise((1, 1, 1, 4), 4, depthMultiplier=1),
        "operator 0 DEPTHWISE_CONV_2D (w): weights must have 2 x 1 channels, not 4",
    ),
    (
        lambda: unary(
            "MAX_POOL_2D",
            {"shape": (1, 4096, 2048, 1)},
            {"shape": (1, 1, 1, 1)},
            **(POOL | {"padding": 1, "filterHeight": 4096, "filterWidth": 2048}),
        ),
        "operator 0 MAX_POOL_2D: window must cover at most 4194304 elements, not 8388608",
    ),
    (
        lambda: unary("AVERAGE_POOL_2D", {}, {"shape": (1, 4, 4, 3)}, **POOL),
        "operator 0 AVERAGE_POOL_2D (y): output must be [1, 4, 4, 2], not [1, 4, 4, 3]",
    ),
    (
        lambda: connected((1, 4), (3, 4), (1, 3), weightsFormat=1),
        "operator 0 FULLY_CONNECTED (w): weights format must be DEFAULT, not shuffled",
    ),
    (
        lambda: connected((1, 4), (3, 4), (1, 4)),
        "operator 0 FULLY_CONNECTED (y): output must end in 3, not [1, 4]",
    ),
    (
        lambda: connected((1, 5), (3, 4), (1, 3)),
        "operator 0 FULLY_CONNECTED (x): input must have 1 x 4 values, not 5",
    ),
    (
        lambda: connected((1, 4), (3, 4), (1, 3), b=5.0),
        "operator 0 FULLY_CONNECTED (b): bias scale must be 0.0500000007, not 5",
    ),
    (
        lambda: pair("MUL", {"shape": (1, 3)}, {"shape": (1, 2)}, {"shape": (1, 3)}),
        "operator 0 MUL: input shapes must broadcast, not [1, 3] and [1, 2]",
    ),
    (
        lambda: pair("SUB", {"shape": (1, 3)}, {"shape": (2, 1)}, {"shape": (1, 3)}),
        "operator 0 SUB (y): output must be [2, 3], not [1, 3]",
    ),
    (
        lambda: mean([1, 4], (1, 4, 2)),
        "operator 0 MEAN (p): axes must be -4 to 3, not [1, 4]",
    ),
    (
        lambda: mean([1, -2], (1, 4, 2)),
        "operator 0 MEAN (y): output must be [1, 2], not [1, 4, 2]",
    ),
    (
        lambda: mean([0], (1,), x=(4194305, 1)),
        "operator 0 MEAN: reduced elements must be at most 4194304, not 4194305",
    ),
    (
        lambda: pad([[0, 0]], (2, 3)),
        "operator 0 PAD (p): paddings must be [2, 2], not [1, 2]",
    ),
    (
        lambda: pad([[0, 1], [-1, 0]], (3, 2)),
        "operator 0 PAD (p): paddings must be 0 or more, not [(0, 1), (-1, 0)]",
    ),
    (
        lambda: pad([[0, 1], [1, 0]], (3, 3)),
        "operator 0 PAD (y): output must be [3, 4], not [3, 3]",
    ),
    (
        lambda: unary("RESHAPE", {}, {"shape": (1, 31)}),
        "operator 0 RESHAPE (y): output must have 32 values, not 31",
    ),
    (
        lambda: unary(
            "SOFTMAX", {"shape": (1, 4096)}, {"shape": (1, 4096), **SOFTMAX_OUT}, beta=1.0
        ),
        "operator 0 SOFTMAX (x): input must have rows of at most 4095, not [1, 4096]",
    ),
    (
        lambda: unary("SOFTMAX", {}, {"shape": (1, 32), **SOFTMAX_OUT}, beta=1.0),
        "operator 0 SOFTMAX (y): output must be [1, 4, 4, 2], not [1, 32]",
    ),
    (
        lambda: unary("LOG_SOFTMAX", {"shape": (4096,)}, {"shape": (4096,)}),
        "operator 0 LOG_SOFTMAX (x): input must have rows of at most 4095, not [4096]",
    ),
]
