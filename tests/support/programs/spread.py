"""Steps of kernels that stay on the CPU, over a wide spread of shapes."""

import numpy as np

from kiwicha.contract.configs import ENGINE_CONFIGS
from kiwicha.contract.program import Kernel
from kiwicha.kernels.resize_bilinear import Blend
from tests.support.programs import connected, short_convolutions
from tests.support.programs.cases import (
    arg_max,
    l2_normalization,
    log_softmax,
    lstm,
    part_positions,
    resize_bilinear,
    softmax,
    softmax_of_shorts,
)
from tests.support.programs.steps import ProgramBuilder

__all__ = ["SPREAD", "spread"]

_ROWS = (
    *((1, 3), (1, 7), (1, 12), (1, 40), (1, 100), (1, 256), (1, 257), (1, 1001), (1, 4095)),
    *((6, 3), (9, 5), (10, 12), (15, 21), (30, 4), (50, 9), (20, 64), (8, 200), (5, 300), (3, 900)),
)
_POSITIONS = (
    *((1, 10, 1), (1, 100, 1), (1, 1001, 1), (1, 6000, 1), (40, 3, 1), (60, 5, 1), (100, 8, 1)),
    *((50, 12, 1), (100, 21, 1), (30, 40, 1), (8, 150, 1), (4, 700, 1)),
    *((1, 16, 16), (1, 60, 20), (1, 200, 40), (1, 140, 64), (2, 30, 32), (10, 5, 8), (20, 4, 4)),
    *((1, 16, 15), (1, 200, 21), (2, 33, 50), (10, 5, 7), (30, 3, 2)),
)
_PARTS = (
    *((1, 2, 1), (1, 7, 1), (4, 4, 1), (64, 2, 1), (1, 24, 1), (200, 3, 1), (1, 257, 1)),
    *((1, 12, 17), (1, 4, 8), (2, 2, 64), (3, 20, 20), (1, 8, 300)),
)
_FIXED, _FLOAT, _PACKED = Blend.FIXED, Blend.FLOAT, Blend.PACKED
_IMAGES = (
    *((_FIXED, (1, 3, 3, 1), (7, 7)), (_FIXED, (1, 4, 4, 3), (14, 14))),
    *((_FIXED, (1, 5, 5, 21), (12, 12)), (_FIXED, (1, 6, 6, 8), (10, 10))),
    *((_FIXED, (1, 7, 7, 16), (9, 9)), (_FIXED, (1, 4, 4, 64), (7, 7))),
    *((_FIXED, (1, 2, 2, 160), (5, 5)), (_FIXED, (1, 12, 12, 16), (5, 5))),
    *((_PACKED, (1, 3, 3, 1), (6, 6)), (_PACKED, (1, 8, 8, 3), (16, 16))),
    *((_PACKED, (1, 5, 5, 21), (10, 10)), (_PACKED, (1, 6, 6, 32), (12, 12))),
    *((_PACKED, (1, 3, 3, 160), (6, 6)), (_PACKED, (1, 4, 4, 8), (32, 32))),
    *((_FLOAT, (1, 3, 3, 1), (7, 7)), (_FLOAT, (1, 4, 4, 3), (11, 11))),
    *((_FLOAT, (1, 5, 5, 16), (7, 7)), (_FLOAT, (1, 3, 3, 64), (5, 5))),
)
_LAYERS = (
    *((1, 4, 1), (1, 8, 40), (1, 64, 10), (1, 256, 4), (1, 640, 8), (1, 1960, 4), (1, 4096, 2)),
    *(
        (1, 32, 200),
        (1, 100, 100),
        (4, 32, 32),
        (3, 64, 20),
        (5, 100, 20),
        (6, 400, 8),
        (49, 16, 5),
    ),
    *((16, 24, 48), (2, 8, 8)),
)
_ODD_LAYERS = (
    *((1, 3, 1), (1, 10, 10), (1, 49, 12), (1, 401, 3), (1, 2001, 1), (1, 13, 60), (7, 5, 20)),
    *((20, 3, 4), (3, 33, 9), (1, 2, 100)),
)

_WINDOWS = (
    *((8, 8, 16, 16, 3), (6, 6, 4, 8, 5), (10, 10, 3, 8, 3), (9, 9, 1, 12, 3)),
    *((12, 12, 8, 8, 3, 2), (8, 8, 8, 16), (7, 7, 32, 32), (5, 5, 24, 6)),
    *((1, 1, 64, 10), (1, 1, 256, 40), (1, 1, 700, 8)),
)
_CHANNELS = (
    *((8, 8, 16, 16, 3), (10, 10, 8, 8, 3, 2), (6, 6, 8, 8, 5), (5, 5, 4, 8, 3)),
    *((12, 12, 3, 3, 3), (6, 6, 32, 32, 3), (9, 9, 8, 8, 2)),
)
_SEQUENCES = (
    *((1, 4, 4), (1, 9, 8), (2, 5, 12), (1, 28, 20), (3, 4, 20), (1, 10, 24), (1, 6, 27)),
    *((1, 4, 32), (1, 3, 48), (1, 2, 64), (2, 2, 40), (1, 1, 96), (1, 2, 128), (1, 4, 1)),
)
"""Batches, steps and units."""

SPREAD = {
    Kernel.SOFTMAX: (softmax.add_shape, (*_ROWS, (1, 2), (100, 2), (700, 2))),
    Kernel.LOG_SOFTMAX: (log_softmax.add_shape, (*_ROWS, (1, 2), (50, 2))),
    Kernel.ARG_MAX: (arg_max.add_shape, _POSITIONS),
    Kernel.ARG_MAX_OF_PARTS: (part_positions.add_shape, _PARTS),
    Kernel.L2_NORMALIZATION: (l2_normalization.add_shape, _ROWS),
    Kernel.RESIZE_BILINEAR: (
        resize_bilinear.add_shape,
        tuple((*image, offset) for image in _IMAGES for offset in (0, 128)),
    ),
    Kernel.FULLY_CONNECTED: (connected.add_shape, _ODD_LAYERS),
    Kernel.SIMD_FULLY_CONNECTED: (connected.add_shape, _LAYERS),
    Kernel.SHORT_CONV: (short_convolutions.add_shape, _WINDOWS),
    Kernel.SHORT_DEPTHWISE_CONV: (short_convolutions.add_shape, _CHANNELS),
    Kernel.SHORT_LSTM: (lstm.add_shape, _SEQUENCES),
    Kernel.SOFTMAX_OF_SHORTS: (softmax_of_shorts.add_shape, _ROWS[3:]),
}
"""How to add a step of each kernel, and of which shapes."""


def spread(kernel: Kernel, seed: int = 0) -> ProgramBuilder:
    """Return a Program with a step of each shape of a kernel."""
    builder = ProgramBuilder()
    builder.config = ENGINE_CONFIGS["64"]
    rng = np.random.default_rng([seed, kernel])
    add, shapes = SPREAD[kernel]
    for shape in shapes:
        add(builder, kernel, rng, *shape)
    return builder
