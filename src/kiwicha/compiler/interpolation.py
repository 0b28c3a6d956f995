"""Where RESIZE_BILINEAR reads its input, in 1/1024 of a pixel."""

import numpy as np
from numpy.typing import NDArray

from kiwicha.compiler.graph import Options

__all__ = ["ONE", "interpolation"]

ONE = 1 << 10
"""Distance of neighbouring pixels."""


def interpolation(inputs: int, outputs: int, options: Options) -> NDArray[np.int64]:
    """Return what the outputs along one dimension are between.

    Parameters
    ----------
    inputs, outputs : int
        Sizes of the dimension.
    options : Options
        Which of the operator's ways to place pixels.

    Returns
    -------
    ndarray of int64 [outputs, 3]
        First pixel, second pixel, and the distance from the first in 1/1024, which is negative in
        front of the first of all pixels. The first pixel is outside the input where the rounded
        scale adds up to more than the input has.

    Notes
    -----
    Ref: tensorflow/lite/kernels/internal/reference/resize_bilinear.h, ResizeBilinearInteger.
    """
    if options.align_corners and outputs > 1:
        scale = (ONE * (inputs - 1) + (outputs - 1) // 2) // (outputs - 1)
    else:
        scale = (ONE * inputs + outputs // 2) // outputs
    positions = np.arange(outputs, dtype=np.int64) * scale
    if options.half_pixel_centers:
        positions += scale // 2 - ONE // 2
    first = np.maximum(positions // ONE, 0)
    second = np.minimum(np.maximum(-(-positions // ONE), 0), inputs - 1)
    return np.stack([first, second, positions - ONE * first], axis=1)
