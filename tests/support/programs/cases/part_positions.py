"""Positions in parts whose extreme bytes are known."""

import numpy as np

from kiwicha.contract.program import Kernel
from kiwicha.kernels.part_positions import ArgMaxOfParts
from tests.support.programs.steps import ProgramBuilder, int8s

__all__ = ["PARAMS", "add", "add_shape"]

PARAMS = ArgMaxOfParts


def add(builder: ProgramBuilder, kernel: Kernel, rng: np.random.Generator, number: int) -> None:
    """Add a step; numbers choose the size of outputs, and the smallest or the largest byte."""
    outer, parts, inner = (int(x) for x in rng.integers(1, (8, 13, 30)))
    add_shape(builder, kernel, rng, outer, parts, inner, -(number // 2 % 2), 1 + number % 2)


def add_shape(
    builder: ProgramBuilder,
    kernel: Kernel,
    rng: np.random.Generator,
    outer: int,
    parts: int,
    inner: int,
    flip: int = 0,
    words: int = 1,
) -> None:
    """Add a step of parts of up to 256 positions, in which equal bytes are frequent."""
    shape = (outer, parts, inner)
    part = int(rng.integers(1, 257))
    source = builder.input((int8s(rng, shape) // 16).astype(np.int8))
    places = rng.integers(0, part, shape).astype("<i4")
    positions = builder.input(places.reshape(-1).view(np.int8))
    target = builder.output((4 * words * outer * inner,))
    sizes = (outer, parts, inner, part, flip, words)
    builder.step(kernel, ArgMaxOfParts(source, positions, target, *sizes))
