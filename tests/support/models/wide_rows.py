"""Models of one operator whose rows are too wide for an engine's scratchpad."""

from typing import Any

import numpy as np

from tests.support.models.tflite_builder import ModelBuilder
from tests.support.oracle import oracle

__all__ = ["wide_rows"]


def wide_rows(
    operator: str,
    shape: tuple[int, int, int],
    *,
    kernel: int | tuple[int, int] = 3,
    stride: int = 1,
    dilation: int = 1,
    outputs: int = 0,
    is_padded: bool = True,
    images: int = 1,
) -> oracle.Case:
    """Give a convolution or pool with random weights and its input.

    Parameters
    ----------
    operator : str
        CONV_2D, DEPTHWISE_CONV_2D or a pool.
    shape : tuple of int
        Rows, columns and channels of the input.
    kernel : int or tuple of int
        Rows and columns of the window; they are equal if one number is given.
    stride, dilation : int
        Of rows and columns.
    outputs : int
        Channels of the output of a CONV_2D.
    is_padded : bool
        The padding is SAME, else VALID.
    images : int
        How many there are.
    """
    sides = (kernel, kernel) if isinstance(kernel, int) else kernel
    rng = np.random.default_rng([*shape, *sides, stride, dilation])
    builder = ModelBuilder()
    channels = shape[2]
    reaches = [1 if is_padded else (side - 1) * dilation + 1 for side in sides]
    size = [-(-(count - reach + 1) // stride) for count, reach in zip(shape, reaches, strict=False)]
    quantization = {"scale": 0.05, "zero_point": 3}
    x = builder.tensor((images, *shape), **quantization)
    options: dict[str, Any] = {"strideH": stride, "strideW": stride, "padding": int(not is_padded)}
    if operator.endswith("POOL_2D"):
        y = builder.tensor((images, *size, channels), **quantization)
        builder.operator(operator, [x], [y], filterHeight=sides[0], filterWidth=sides[1], **options)
    else:
        is_depthwise = operator == "DEPTHWISE_CONV_2D"
        count = channels if is_depthwise else outputs
        taps = (1, *sides, channels) if is_depthwise else (count, *sides, channels)
        options |= {"dilationHFactor": dilation, "dilationWFactor": dilation}
        options |= {"depthMultiplier": 1} if is_depthwise else {}
        weights = rng.integers(-127, 128, taps).astype(np.int8)
        bias = rng.integers(-1000, 1000, count).astype(np.int32)
        operands = [
            x,
            builder.tensor(taps, scale=0.01, data=weights),
            builder.tensor((count,), np.int32, scale=0.0005, data=bias),
        ]
        y = builder.tensor((images, *size, count), scale=0.5, zero_point=-5)
        builder.operator(operator, operands, [y], **options)
    values = rng.integers(-128, 128, (images, *shape)).astype(np.int8)
    return oracle.Case(builder.build([x], [y]), (values,))
