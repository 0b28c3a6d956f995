"""Images that grow by 1 to 3 rows and columns."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from kiwicha.compiler.tflite.graph import Options
from kiwicha.compiler.tflite.interpolation import interpolation
from kiwicha.contract.program import Kernel
from kiwicha.kernels.resize_bilinear import Blend, ResizeBilinear, scratch_bytes
from tests.support.programs.images import image_shape
from tests.support.programs.steps import ProgramBuilder, int8s

__all__ = ["PARAMS", "add", "add_shape"]

PARAMS = ResizeBilinear


def add(builder: ProgramBuilder, kernel: Kernel, rng: np.random.Generator, number: int) -> None:
    """Add a step: one blend after the other."""
    blend = Blend(number % len(Blend))
    shape = (1, 4, 3, 4) if blend is Blend.FLOAT else image_shape(kernel, rng)
    more = (2 * size if blend is Blend.PACKED else size + rng.integers(1, 4) for size in shape[1:3])
    out = tuple(int(size) for size in more)
    add_shape(builder, kernel, rng, blend, shape, out, 128 * (number % 2))


def add_shape(
    builder: ProgramBuilder,
    kernel: Kernel,
    rng: np.random.Generator,
    blend: Blend,
    shape: tuple[int, ...],
    out: tuple[int, ...],
    offset: int,
) -> None:
    """Add a step from images [batches, rows, columns, channels] to rows and columns."""
    source = builder.input(int8s(rng, shape))
    ways = [
        interpolation(size, wanted, Options(half_pixel_centers=True))
        for size, wanted in zip(shape[1:3], out, strict=True)
    ]
    tables: Sequence[NDArray[np.int32]] | None
    if blend is Blend.PACKED:
        tables = ways[0].packed(ways[1])
        assert tables is not None
    else:
        tables = [way.table(is_float=blend is Blend.FLOAT) for way in ways]
    target = builder.output((shape[0], *out, shape[3]))
    refs = [builder.constant(table) for table in tables]
    scratch = builder.arena(scratch_bytes(shape[3]))
    params = ResizeBilinear(source, target, *refs, *shape, *out, offset, blend, scratch)
    builder.step(kernel, params)
