"""Models that break a support rule of RESIZE_BILINEAR or TRANSPOSE_CONV."""

from collections.abc import Callable
from typing import Any

import numpy as np

from tests.support.models.one_operator import CONV, Model, conv

__all__ = ["BROKEN_IMAGES"]

Shape = tuple[int, ...]


def resize(
    size: list[int], y: Shape = (1, 8, 8, 2), x: Shape = (1, 4, 4, 2), **options: Any
) -> bytes:
    """Give a model of one RESIZE_BILINEAR."""
    model = Model()
    dtype = options.pop("dtype", np.int8)
    operands = [model.activation("x", x, dtype=dtype), model.parameters(size)]
    scale = options.pop("scale", 0.5)
    output = model.activation("y", y, scale=scale, dtype=dtype)
    return model.single("RESIZE_BILINEAR", operands, output, **options)


def transpose_conv(
    x: Shape = (1, 4, 4, 2),
    y: Shape = (1, 8, 8, 3),
    shape: Any = None,
    w: Shape = (3, 2, 2, 2),
    is_sparse: bool = False,
) -> bytes:
    """Give a model of one TRANSPOSE_CONV of stride 2."""
    model = Model()
    # What is sparse may have any number of bytes.
    data = {"data": bytes(18)} if is_sparse else {}
    size = model.parameters(y if shape is None else shape, **data)
    if is_sparse:
        model.tensors[size].is_sparse = True
    operands = [size, model.weights(w), model.activation("x", x)]
    options = CONV | {"strideH": 2, "strideW": 2}
    return model.single("TRANSPOSE_CONV", operands, model.activation("y", y), **options)


BROKEN_IMAGES: list[tuple[Callable[[], bytes], str]] = [
    (
        lambda: resize([32767, 82], (1, 32767, 82, 1), (1, 3, 2, 1), dtype=np.uint8),
        (
            "operator 0 RESIZE_BILINEAR (y): products of weights must have at most 52 binary "
            "places, not more, from [3, 2] to [32767, 82]"
        ),
    ),
    (
        lambda: resize([8]),
        "operator 0 RESIZE_BILINEAR (p): size must have 2 values, not 1",
    ),
    (
        lambda: resize([8, 8], x=(4, 4, 2)),
        "operator 0 RESIZE_BILINEAR (x): input must have 4 dimensions, not [4, 4, 2]",
    ),
    (
        lambda: resize([8, 9]),
        "operator 0 RESIZE_BILINEAR (y): output must be [1, 8, 9, 2], not [1, 8, 8, 2]",
    ),
    (
        lambda: resize([8, 8], alignCorners=True, halfPixelCenters=True),
        (
            "operator 0 RESIZE_BILINEAR: half_pixel_centers must be false with align_corners, "
            "not true"
        ),
    ),
    (
        lambda: resize([65, 8], (1, 65, 8, 2), (1, 2, 4, 2)),
        (
            "operator 0 RESIZE_BILINEAR (y): last pixel of the 65 along the height must lie in "
            "0 to 1, not 2"
        ),
    ),
    (
        lambda: resize([8, 8], scale=0.25),
        (
            "operator 0 RESIZE_BILINEAR (y): output scale and zero point must be the input's, "
            "0.5 and 0, not 0.25 and 0"
        ),
    ),
    (
        lambda: resize([2, 32768], (1, 2, 32768, 2), (1, 2, 4, 2)),
        (
            "operator 0 RESIZE_BILINEAR (y): images must be at most 32767 high and wide, "
            "not [1, 2, 32768, 2]"
        ),
    ),
    (
        lambda: conv(
            x={"shape": (1, 1, 1, 8194)},
            w={"shape": (8194, 1, 1, 2)},
            b={"count": 8194},
            y={"shape": (1, 1, 1, 8194)},
        ),
        (
            "operator 0 CONV_2D (w): weights for all input channels must be at most 67108864, "
            "not 67141636"
        ),
    ),
    (
        lambda: transpose_conv(x=(1, 4, 4, 3)),
        (
            "operator 0 TRANSPOSE_CONV (w): weights must have 3 input channels, not 2; operator 0 "
            "TRANSPOSE_CONV (x): input must be [1, 4, 4, 2] for the output [1, 8, 8, 3], "
            "not [1, 4, 4, 3]"
        ),
    ),
    (
        lambda: transpose_conv(x=(1, 5, 4, 2)),
        (
            "operator 0 TRANSPOSE_CONV (x): input must be [1, 4, 4, 2] for the output "
            "[1, 8, 8, 3], not [1, 5, 4, 2]"
        ),
    ),
    (
        lambda: transpose_conv(w=(4, 2, 2, 2)),
        "operator 0 TRANSPOSE_CONV (y): output must have 4 channels, not 3",
    ),
    (
        lambda: transpose_conv(shape=[1, 8, 9, 3]),
        "operator 0 TRANSPOSE_CONV (p): output shape must be [1, 8, 8, 3], not [1, 8, 9, 3]",
    ),
    (
        lambda: transpose_conv(is_sparse=True),
        "operator 0 TRANSPOSE_CONV (p): output shape must be a dense constant of type int32",
    ),
    (
        lambda: transpose_conv(shape=np.array([8.0])),
        "operator 0 TRANSPOSE_CONV (p): output shape must be [1, 8, 8, 3], not [8]",
    ),
]
