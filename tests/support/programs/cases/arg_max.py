"""Positions along channels or columns."""

import numpy as np

from kiwicha.contract.program import Kernel
from kiwicha.kernels.arg_max import ArgMax
from tests.support.programs.images import image_shape
from tests.support.programs.steps import ProgramBuilder, int8s

__all__ = ["PARAMS", "add", "add_shape"]

PARAMS = ArgMax


def add(builder: ProgramBuilder, kernel: Kernel, rng: np.random.Generator, number: int) -> None:
    """Add a step, along columns if the number is even."""
    shape = image_shape(kernel, rng)
    _, height, width, channels = shape
    outer, inner = (height * width, 1) if number % 2 else (height, channels)
    depth = channels if number % 2 else width
    words, flip = 1 + number // 2 % 2, -(number // 4 % 2)
    add_shape(builder, kernel, rng, outer, depth, inner, flip, words)


def add_shape(
    builder: ProgramBuilder,
    kernel: Kernel,
    rng: np.random.Generator,
    outer: int,
    depth: int,
    inner: int,
    flip: int = 0,
    words: int = 1,
) -> None:
    """Add a step along the middle one of three dimensions."""
    source = builder.input(int8s(rng, (outer, depth, inner)))
    target = builder.output((4 * words * outer * inner,))
    builder.step(kernel, ArgMax(source, target, outer, depth, inner, flip, words))
