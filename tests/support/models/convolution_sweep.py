"""Models of one convolution: every combination of its parameters, with an input for each."""

import itertools
import math
from dataclasses import dataclass

import numpy as np

from kiwicha.tflite_writer.builder import ACTIVATIONS, PADDINGS
from tests.support.models.tflite_builder import ModelBuilder
from tests.support.oracle.oracle import Case

__all__ = ["COMBINATIONS", "MORE_COMBINATIONS", "Combination", "case"]

KERNELS = ((1, 1), (2, 3), (3, 3), (4, 1), (5, 5), (6, 2), (7, 7))
WIDE_KERNELS = ((1, 4), (3, 6))
"""Widths that `KERNELS` lacks; their weights have the least value of their type, too."""
STRIDES = (1, 2, 3)
DILATIONS = (1, 2)
KINDS = ("int8", "int8 per channel", "uint8")
"""Signedness and granularity: uint8 weights have one scale, and a zero point."""
ACTIVATED = ("NONE", "RELU", "RELU6")
SHAPES = (
    *(("CONV_2D", channels, outputs) for channels, outputs in ((1, 4), (3, 8), (8, 5), (16, 16))),
    *(("DEPTHWISE_CONV_2D", channels, multiplier) for channels, multiplier in ((8, 1), (5, 2))),
)
"""Operator, input channels, and output channels or depth multiplier."""


@dataclass(frozen=True)
class Combination:
    """One combination of parameters."""

    operator: str
    channels: int
    outputs: int
    kernel: tuple[int, int]
    stride: int
    dilation: int
    padding: str
    kind: str
    activation: str

    def __str__(self) -> str:
        """Return what a failing test shows."""
        return "-".join(str(value) for value in vars(self).values())

    @property
    def is_unsigned(self) -> bool:
        """Whether tensors are uint8."""
        return self.kind == "uint8"


COMBINATIONS = [
    Combination(*shape, *rest)
    for shape, *rest in itertools.product(
        SHAPES, KERNELS, STRIDES, DILATIONS, PADDINGS, KINDS, ACTIVATED
    )
]
MORE_COMBINATIONS = [
    Combination(*shape, *rest)
    for shape, *rest in itertools.product(
        SHAPES, WIDE_KERNELS, STRIDES[:2], DILATIONS[:1], PADDINGS, KINDS, ("NONE", "RELU_N1_TO_1")
    )
]


def case(combination: Combination) -> Case:
    """Return the model of a combination and its input, always the same."""
    c = combination
    rng = np.random.default_rng(list(str(c).encode()))
    extents = [(size - 1) * c.dilation + 1 for size in c.kernel]
    sizes = [extent + int(rng.integers(0, 7)) for extent in extents]
    if c.padding == "SAME":
        results = [-(-size // c.stride) for size in sizes]
    else:
        results = [(size - n) // c.stride + 1 for size, n in zip(sizes, extents, strict=True)]
    is_wide = c.kernel in WIDE_KERNELS
    is_depthwise = c.operator == "DEPTHWISE_CONV_2D"
    outputs = c.channels * c.outputs if is_depthwise else c.outputs
    weights_shape = (1, *c.kernel, outputs) if is_depthwise else (outputs, *c.kernel, c.channels)
    window = math.prod(c.kernel) * (1 if is_depthwise else c.channels)
    input_scale = float(np.float32(10 ** rng.uniform(-3, 0)))
    weight_scales = 10 ** rng.uniform(-3, -1) * rng.uniform(0.3, 1.5, outputs)
    weight_scales = weight_scales if c.kind == "int8 per channel" else weight_scales[:1]
    spread = 100 * 74 * math.sqrt(window)
    builder = ModelBuilder()
    dtype, low = (np.uint8, 0) if c.is_unsigned else (np.int8, -128)

    def zero_point() -> int:
        return int(rng.integers(low, low + 256))

    x = builder.tensor((1, *sizes, c.channels), dtype, scale=input_scale, zero_point=zero_point())
    operands = [
        x,
        builder.tensor(
            weights_shape,
            dtype,
            scale=weight_scales.tolist(),
            zero_point=zero_point() if c.is_unsigned else 0,
            axis=3 if is_depthwise else 0,
            data=rng.integers(low + (not is_wide), low + 256, weights_shape, dtype),
        ),
    ]
    operands.append(
        builder.tensor(
            (outputs,),
            np.int32,
            scale=(np.float32(input_scale) * weight_scales.astype(np.float32)).tolist(),
            data=rng.normal(0, spread, outputs).astype(np.int32),
        )
    )
    y = builder.tensor(
        (1, *results, outputs),
        dtype,
        scale=float(spread * input_scale * weight_scales.mean() / rng.uniform(10, 150)),
        zero_point=zero_point(),
    )
    options = {"depthMultiplier": c.outputs} if is_depthwise else {}
    builder.operator(
        c.operator,
        operands,
        [y],
        padding=PADDINGS[c.padding],
        strideH=c.stride,
        strideW=c.stride,
        dilationHFactor=c.dilation,
        dilationWFactor=c.dilation,
        fusedActivationFunction=ACTIVATIONS[c.activation],
        **options,
    )
    image = rng.integers(low, low + 256, (1, *sizes, c.channels), dtype)
    return Case(builder.build([x], [y]), (image,))
