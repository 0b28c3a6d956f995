"""Images that grow by 1 to 3 rows and columns."""

import numpy as np

from kiwicha.compiler.tflite.graph import Options
from kiwicha.compiler.tflite.interpolation import interpolation
from kiwicha.contract.program import Kernel
from kiwicha.kernels.resize_bilinear import ResizeBilinear
from tests.support.programs.images import image_shape
from tests.support.programs.steps import ProgramBuilder, int8s

__all__ = ["PARAMS", "add"]

PARAMS = ResizeBilinear


def add(builder: ProgramBuilder, kernel: Kernel, rng: np.random.Generator, number: int) -> None:
    """Add a step, every third of them in float32 where firmware can do that."""
    is_float = number % 3 == 2 and builder.config.has_float_interpolation
    shape = (1, 4, 3, 4) if is_float else image_shape(kernel, rng)
    source = builder.input(int8s(rng, shape))
    out = tuple(size + int(rng.integers(1, 4)) for size in shape[1:3])
    tables = [
        builder.constant(
            interpolation(size, wanted, Options(half_pixel_centers=True)).table(is_float=is_float)
        )
        for size, wanted in zip(shape[1:3], out, strict=True)
    ]
    target = builder.output((*out, shape[3]))
    builder.step(kernel, ResizeBilinear(source, target, *tables, *shape, *out, 0, int(is_float)))
