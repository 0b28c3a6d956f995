"""Random strided copies, with what they must give byte by byte, and a Program of copies."""

import random
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from kiwicha.contract.configs import Config
from kiwicha.contract.layout import Ref
from kiwicha.contract.program import MAX_RANK, DType, Kernel, Where
from kiwicha.kernels.copy import Copy
from kiwicha.program.image import Program
from kiwicha.program.parts import IoTensor, Layer, Step
from tests.support.programs.steps import whole_copy

__all__ = ["CopyCase", "copy_case", "copy_program"]


@dataclass(frozen=True)
class CopyCase:
    """A copy and its data.

    Parameters
    ----------
    params : Copy
        References count from 0.
    input, background, expected : int8 [bytes]
        What is read; what the output holds before and after.
    """

    params: Copy
    input: NDArray[np.int8]
    background: NDArray[np.int8]
    expected: NDArray[np.int8]


def _strides(rng: random.Random, shape: Sequence[int], piece_bytes: int) -> list[int]:
    """Give strides at which no two pieces meet, in any order of the dimensions, with gaps."""
    strides = [0] * len(shape)
    reach = piece_bytes
    for axis in rng.sample(range(len(shape)), len(shape)):
        strides[axis] = reach + rng.choice([0, 0, 0, 1, 3])
        reach += strides[axis] * (shape[axis] - 1)
    return strides


def copy_case(seed: int) -> CopyCase:
    """Give a copy of up to six dimensions; some repeat their input, some reverse it."""
    rng = random.Random(f"copy{seed}")
    rank = rng.randint(1, MAX_RANK)
    shape = [1] * (MAX_RANK - rank) + [rng.randint(1, 4) for _ in range(rank)]
    shape[-1] = rng.choice([shape[-1], 1, 13])
    piece_bytes = rng.choice([1, 1, 1, 2, 4, 4, 7, 12])
    targets = _strides(rng, shape, piece_bytes)
    sources = _strides(rng, shape, piece_bytes)
    if rng.random() < 0.2:
        piece_bytes, targets[-1], sources[-1] = 1, 1, 0
        targets[:-1] = [stride * shape[-1] for stride in targets[:-1]]
    else:
        sources = [rng.choice([1, 1, 1, 1, 0, -1]) * stride for stride in sources]
    before = sum((n - 1) * -s for n, s in zip(shape, sources, strict=True) if s < 0)
    size = sum((n - 1) * abs(s) for n, s in zip(shape, sources, strict=True)) + piece_bytes
    target_size = sum((n - 1) * s for n, s in zip(shape, targets, strict=True)) + piece_bytes
    generator = np.random.default_rng(seed)
    source, background = (
        generator.integers(-128, 128, count, np.int8) for count in (size, target_size)
    )
    expected = background.copy()
    for index in np.ndindex(*shape):
        at = before + sum(k * s for k, s in zip(index, sources, strict=True))
        to = sum(k * s for k, s in zip(index, targets, strict=True))
        expected[to : to + piece_bytes] = source[at : at + piece_bytes]
    params = Copy(
        Ref(0, size),
        Ref(0, target_size),
        tuple(shape),
        tuple(sources),
        tuple(targets),
        before,
        piece_bytes,
    )
    return CopyCase(params, source, background, expected)


def copy_program(config: Config, *, size: int = 64, steps: int = 2) -> Program:
    """Give a Program whose output is its input, copied from place to place."""
    refs = [Ref(index * size, size) for index in range(steps + 1)]
    return Program(
        config_hash=config.hash,
        arena_bytes=(steps + 1) * size,
        inputs=(IoTensor("x", refs[0], DType.INT8, (size,), 1.0, 0),),
        outputs=(IoTensor("y", refs[-1], DType.INT8, (size,), 1.0, 0),),
        layers=(Layer(0, "RESHAPE", (size,), 0, Where.CPU),),
        steps=tuple(
            Step(Kernel.COPY, 0, whole_copy(refs[index], refs[index + 1])) for index in range(steps)
        ),
        constants=b"",
    )
