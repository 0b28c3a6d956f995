"""The move that makes weight streams of computed matrices, and transpositions before it."""

import random

import numpy as np
import pytest
from numpy.typing import NDArray

from kiwicha.compiler.engine.ir.strided_copies import Loop, StridedCopy, in_order
from kiwicha.compiler.engine.select.products.composition import composed
from kiwicha.compiler.engine.select.products.streams import Matrices, stream_move
from kiwicha.contract.engine import outputs_of
from kiwicha.program.weight_streams import Parameters, pack_conv_words, pack_groups

TENSOR = 7


def places(copy: StridedCopy) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Give from where and to where each byte goes."""
    ends = [np.array([start]) for start in (copy.source_start, copy.target_start)]
    for loop in (*copy.loops, Loop(copy.piece_bytes, 1, 1)):
        for number, step in enumerate((loop.source, loop.target)):
            ends[number] = np.add.outer(ends[number], np.arange(loop.count) * step).reshape(-1)
    return ends[0], ends[1]


def written(copies: tuple[StridedCopy, ...], sources: dict[int, bytes], size: int) -> bytes:
    """Give what copies write."""
    found = np.zeros(size, np.int64) - 1000
    for copy in copies:
        read, target = places(copy)
        if copy.source is None:
            found[target] = copy.fill
        else:
            found[target] = np.frombuffer(sources[copy.source], np.int8)[read]
    assert found.min() >= -128
    return found.astype(np.int8).tobytes()


@pytest.mark.parametrize("macs", [32, 64, 128, 256])
@pytest.mark.parametrize("seed", range(8))
def test_streams_are_those_of_convolutions(seed: int, macs: int) -> None:
    rng = np.random.default_rng([seed, macs])
    count, rows = int(rng.integers(1, 4)), int(rng.integers(1, 40))
    depth, zero_point = int(rng.integers(1, 40)), int(rng.integers(-128, 128))
    values = rng.integers(-128, 128, (count, rows, depth), np.int8)
    fields = (rng.integers(-(2**31), 2**31, rows).astype(np.int32) for _ in range(3))
    parameters = Parameters(*fields)
    outputs = outputs_of(macs)
    move = stream_move(3, TENSOR, Matrices(count, rows, depth, zero_point), parameters, outputs)
    wanted = b""
    for matrix in values:
        weights = np.zeros((rows, -(-depth // 8) * 8), np.int16)
        weights[:, :depth] = matrix.astype(np.int16) - zero_point
        words = pack_conv_words(weights.reshape(rows, -1, 8), macs) + np.int16(zero_point)
        wanted += pack_groups(parameters, words.astype(np.int8), outputs)
    sources = {TENSOR: values.tobytes(), **move.constants}
    assert written(move.copies, sources, move.output_image.bytes) == wanted


def transposition(shape: tuple[int, ...], order: list[int]) -> StridedCopy:
    """Give the copy that writes a tensor's dimensions in another order."""
    steps = [int(np.prod(shape[axis + 1 :])) for axis in range(len(shape))]
    sizes = [shape[axis] for axis in order]
    targets = [int(np.prod(sizes[place + 1 :])) for place in range(len(sizes))]
    loops = (
        Loop(size, steps[axis], target)
        for size, axis, target in zip(sizes, order, targets, strict=True)
    )
    ordered, piece = in_order(loops, 1)
    return StridedCopy(TENSOR, 0, 0, ordered, piece)


@pytest.mark.parametrize("seed", range(20))
def test_a_transposition_is_read_through(seed: int) -> None:
    rng = random.Random(f"transposed{seed}")
    shape = tuple(rng.randint(1, 12) for _ in range(3))
    order = rng.sample(range(3), 3)
    first, second, third = (shape[axis] for axis in order)
    inner = transposition(shape, order)
    values = np.random.default_rng(seed).integers(-128, 128, shape, np.int8).tobytes()
    between = written((inner,), {TENSOR: values}, len(values))
    rows, depth = rng.choice([(first * second, third), (first, second * third)])
    outer = StridedCopy(
        *(TENSOR + 1, 0, 0), *in_order([Loop(rows, depth, 1), Loop(depth, 1, rows)], 1)
    )
    found = composed(outer, inner)
    wanted = written((outer,), {TENSOR + 1: between}, len(values))
    assert found is not None
    assert written((found,), {TENSOR: values}, len(values)) == wanted


def test_heads_become_whole_pieces() -> None:
    """Of 25 tokens with 4 heads of 32 channels, transposed, eight channels at a time are read."""
    inner = transposition((25, 4, 32), [1, 2, 0])
    outer = StridedCopy(
        *(TENSOR + 1, 0, 96), (Loop(16, 200, 352), Loop(25, 1, 8), Loop(8, 25, 1)), 1
    )
    found = composed(outer, inner)
    loops = Loop(16, 8, 352), Loop(25, 128, 8)
    assert found == StridedCopy(TENSOR, 0, 96, loops, 8)


def test_loops_that_end_within_a_dimension_are_left() -> None:
    inner = transposition((6, 5), [1, 0])
    assert composed(StridedCopy(TENSOR + 1, 0, 0, (Loop(4, 4, 1),), 1), inner) is None
