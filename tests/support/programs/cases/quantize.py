"""Normally distributed float32."""

import math

import numpy as np

from kiwicha.contract.program import Kernel
from kiwicha.kernels.lookup import Quantize
from tests.support.programs.images import image_shape
from tests.support.programs.steps import ProgramBuilder

__all__ = ["PARAMS", "add"]

PARAMS = Quantize


def add(builder: ProgramBuilder, kernel: Kernel, rng: np.random.Generator, number: int) -> None:
    """Add a step."""
    words = builder.constant(rng.normal(0, 1, math.prod(image_shape(kernel, rng))), np.float32)
    stairs = builder.constant(np.linspace(-(2**30), 2**30, 255).astype(np.int32))
    builder.step(kernel, Quantize(words, builder.output((words.bytes // 4,)), stairs))
