"""Every support rule is broken once; the whole text of the refusal is compared."""

import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from support.broken_images import BROKEN_IMAGES
from support.broken_moves import BROKEN_MOVES
from support.broken_pairs import BROKEN_PAIRS
from support.broken_tables import BROKEN_TABLES
from support.detectors import DETECTION, detector
from support.one_operator import (
    POOL,
    connected,
    constant_output,
    conv,
    depthwise,
    mean,
    pad,
    pair,
    two_outputs,
    two_subgraphs,
    unary,
    variable,
)

from kiwicha.compiler import (
    compile_model,
    read,
    support_rules,
    supported_operators,
    violations,
)
from kiwicha.errors import UnsupportedModelError

UNSIGNED: dict[str, Any] = {"dtype": np.uint8, "zero_point": 128}
SOFTMAX_OUT = {"scale": 1 / 256, "zero_point": -128}
RULES: list[tuple[Callable[[], bytes], str]] = [
    (two_subgraphs, "model: number of subgraphs must be 1, not 2"),
    (constant_output, "model (w): model output must be computed, not be a constant"),
    (
        lambda: unary("FLOOR", {}, {}),
        "operator 0 FLOOR: operator must be one of " + ", ".join(supported_operators()),
    ),
    (
        lambda: unary("CUSTOM:Nobody", {}, {}),
        (
            "operator 0 CUSTOM:Nobody: custom operator must be one of an installed package (none); "
            "see docs/custom-operators.md"
        ),
    ),
    (two_outputs, "operator 0 RESHAPE: number of outputs must be 1, not 2"),
    (
        lambda: unary("ADD", {}, {}),
        "operator 0 ADD: inputs 0 to 1 must be there, not only 1 of them",
    ),
    (
        lambda: pair("SOFTMAX", {}, {}, {}, beta=1.0),
        "operator 0 SOFTMAX: number of inputs must be at most 1, not 2",
    ),
    (
        lambda: unary("RESHAPE", {"shape": (1, 0)}, {"shape": (1, 1)}),
        "operator 0 RESHAPE (x): input must have dimensions of 1 or more, not [1, 0]",
    ),
    (
        lambda: unary("RESHAPE", {"shape_signature": (-1, -1, 4, 2)}, {}),
        "operator 0 RESHAPE (x): input must have a fixed shape, not [-1, -1, 4, 2]",
    ),
    (
        lambda: unary("RESHAPE", {"shape": (1,) * 7}, {"shape": (1,)}),
        "operator 0 RESHAPE (x): input must have at most 6 dimensions, not 7",
    ),
    (
        lambda: unary("RESHAPE", {"scale": None}, {}),
        "operator 0 RESHAPE (x): input must have a scale and a zero point, not none",
    ),
    (
        lambda: unary("RESHAPE", {}, {"scale": [0.5, 0.5]}),
        "operator 0 RESHAPE (y): output must have one scale, not 2",
    ),
    (
        lambda: unary("RESHAPE", {}, {"scale": float("nan")}),
        "operator 0 RESHAPE (y): output's scale must be finite and more than 0, not nan",
    ),
    (
        lambda: unary("RESHAPE", {"scale": 0.0}, {}),
        "operator 0 RESHAPE (x): input's scale must be finite and more than 0, not 0.0",
    ),
    (
        lambda: unary("RESHAPE", {"zero_point": 128}, {}),
        "operator 0 RESHAPE (x): input's zero point must be -128 to 127, not 128",
    ),
    (variable, "operator 0 ADD (state): input 2 must not be a variable tensor"),
    (
        lambda: conv(w={"data": None}),
        "operator 0 CONV_2D (w): weights must be a dense constant",
    ),
    (
        lambda: conv(w={"scale": None}),
        "operator 0 CONV_2D (w): weights must have scales and zero points, not none",
    ),
    (
        lambda: conv(w={"zero_point": 3}),
        "operator 0 CONV_2D (w): weights' zero point must be 0",
    ),
    (
        lambda: conv(w={"shape": (3, 2)}),
        "operator 0 CONV_2D (w): weights must have 4 dimensions, not [3, 2]",
    ),
    (
        lambda: conv(w={"scale": [0.1, 0.1]}),
        "operator 0 CONV_2D (w): weights must have 1 or 3 scales, not 2",
    ),
    (
        lambda: conv(w={"scale": [0.1] * 3, "axis": 3}),
        "operator 0 CONV_2D (w): weights must be quantized along dimension 0, not 3",
    ),
    (
        lambda: conv(w={"scale": [0.1, -0.1, 0.1]}),
        "operator 0 CONV_2D (w): weights' scales must be finite and not negative",
    ),
    (
        lambda: conv(b={"data": None}),
        "operator 0 CONV_2D (b): bias must be a dense constant",
    ),
    (
        lambda: conv(b={"count": 2}),
        "operator 0 CONV_2D (b): bias must have 3 values, not 2",
    ),
    (
        lambda: mean([1, 2], (1, 2), dtype=np.int64),
        "operator 0 MEAN (p): axes must be int32, not int64",
    ),
    (
        lambda: mean([1, 2], (1, 2), data=None),
        "operator 0 MEAN (p): axes must be a dense constant",
    ),
    (
        lambda: conv(fusedActivationFunction=4),
        (
            "operator 0 CONV_2D: fused activation must be one of NONE, RELU, RELU_N1_TO_1, RELU6, "
            "not TANH"
        ),
    ),
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
        lambda: unary("SOFTMAX", {}, {"scale": 1 / 256}, beta=1.0),
        (
            "operator 0 SOFTMAX (y): output scale and zero point must be 0.00390625 and -128, "
            "not 0.00390625 and 0"
        ),
    ),
    (
        lambda: unary("SOFTMAX", {}, SOFTMAX_OUT, beta=-1.0),
        "operator 0 SOFTMAX (x): beta x input scale must be more than 2**-26, not -0.5",
    ),
    (
        lambda: conv(x={"scale": 2.0**20}, w={"scale": 2.0**9}, y={"scale": 0.5}),
        (
            "operator 0 CONV_2D (w): input scale x weight scale / output scale must be less than "
            "2**30, not 2**30 or more"
        ),
    ),
    (
        lambda: pair("ADD", {"scale": 2.0**19}, {}, {"scale": 1.0}),
        (
            "operator 0 ADD (y): output scale must be more than 2**-19 of the larger input scale, "
            "not 1.0"
        ),
    ),
    (
        lambda: pair("MUL", {"scale": 2.0**20}, {"scale": 2.0**10}, {"scale": 1.0}),
        (
            "operator 0 MUL (y): input scales' product / output scale must be less than 2**30, "
            "not 2**30 or more"
        ),
    ),
    (
        lambda: pair("MUL", *(UNSIGNED | {"scale": 1e38},) * 2, UNSIGNED | {"scale": 1e-38}),
        (
            "operator 0 MUL (y): input scales' product / output scale must be less than 2**30, "
            "not 2**127 or more"
        ),
    ),
    (
        lambda: mean([1, 2], (1, 2), scale=2.0**29),
        (
            "operator 0 MEAN (y): input scale / output scale must be less than 2**30, "
            "not 2**30 or more"
        ),
    ),
    (
        lambda: unary("MAX_POOL_2D", {}, {"scale": 0.25}, **POOL),
        (
            "operator 0 MAX_POOL_2D (y): output scale and zero point must be the input's, 0.5 and "
            "0, not 0.25 and 0"
        ),
    ),
    *BROKEN_IMAGES,
    *BROKEN_PAIRS,
    *BROKEN_MOVES,
    (
        lambda: unary("RESHAPE", {"dtype": np.uint8}, {}),
        "operator 0 RESHAPE: activations and weights must be all int8 or all uint8, not both",
    ),
    (
        lambda: conv(w={"dtype": np.uint8}),
        "operator 0 CONV_2D: activations and weights must be all int8 or all uint8, not both",
    ),
    (
        lambda: unary("RESHAPE", UNSIGNED | {"zero_point": 256}, UNSIGNED),
        "operator 0 RESHAPE (x): input's zero point must be 0 to 255, not 256",
    ),
    (
        lambda: conv(UNSIGNED, UNSIGNED | {"scale": [0.1, 0.1, 0.1]}, y=UNSIGNED),
        "operator 0 CONV_2D (w): uint8 weights must have one scale, not 3",
    ),
    (
        lambda: conv(UNSIGNED, UNSIGNED | {"zero_point": -1}, y=UNSIGNED),
        "operator 0 CONV_2D (w): weights' zero point must be 0 to 255, not -1",
    ),
    (
        lambda: conv(UNSIGNED, UNSIGNED, {"scale": 5.0}, UNSIGNED),
        "operator 0 CONV_2D (b): bias scale must be 0.0500000007, not 5",
    ),
    (
        lambda: unary("SOFTMAX", UNSIGNED, UNSIGNED | {"scale": 1 / 256}, beta=1.0),
        (
            "operator 0 SOFTMAX (y): output scale and zero point must be 0.00390625 and 0, "
            "not 0.00390625 and 128"
        ),
    ),
    (
        lambda: detector(0, max_classes_per_detection=2).model,
        f"operator 2 {DETECTION}: max_classes_per_detection must be 1, not 2",
    ),
    *BROKEN_TABLES,
]


@pytest.mark.parametrize(("build", "message"), RULES, ids=[text[:60] for _, text in RULES])
def test_refuses(build: Callable[[], bytes], message: str) -> None:
    text = f"the model is not supported: {message}"
    with pytest.raises(UnsupportedModelError, match=f"^{re.escape(text)}$"):
        compile_model(build(), "simd")


def test_each_rule_is_broken_above() -> None:
    broken = {v.rule for build, _ in RULES for v in violations(read(build()))}
    untested = {text for text, _ in support_rules()} - broken
    assert not untested


def test_rules_are_sentences() -> None:
    for text, operators in support_rules():
        assert re.fullmatch(r"[A-Z].*\.", text)
        assert set(operators) <= {*supported_operators(), DETECTION}
