"""Views of tensors against numpy, and the copies of bytes that moves between them become."""

import random

import numpy as np
import pytest
from numpy.typing import NDArray

from kiwicha.compiler.lower.byte_copies import byte_copy
from kiwicha.compiler.lower.views import View
from kiwicha.kernels.copy import Copy


def elements(view: View, size: int) -> NDArray[np.int64]:
    """Return what a view takes of a tensor that counts its elements."""
    grid = np.indices(view.shape).reshape(len(view.shape), -1)
    taken = view.start + np.array(view.strides) @ grid
    assert 0 <= taken.min() <= taken.max() < size
    return taken.reshape(view.shape)


def test_views_are_those_of_numpy() -> None:
    whole = np.arange(2 * 6 * 5).reshape(2, 6, 5)
    view = View.of(whole.shape)
    for made, expected in (
        (view, whole),
        (view.sliced(1, 4, 2, -3), whole[:, 4:0:-3]),
        (view.sliced(2, 1, 2, 2), whole[:, :, 1:4:2]),
        (view.permuted((2, 0, 1)), whole.transpose(2, 0, 1)),
        (view.split(1, 3, 2), whole.reshape(2, 3, 2, 5)),
        (view.repeated(1, 2), whole.repeat(2, axis=1).reshape(2, 6, 2, 5)),
    ):
        np.testing.assert_array_equal(elements(made, whole.size), expected)


def copied(params: Copy, source: NDArray[np.uint8], size: int) -> NDArray[np.int64]:
    """Execute a copy from byte 0 on; -1 is what it does not write."""
    result = np.full(size, -1, np.int64)
    for index in np.ndindex(*params.shape):
        at = params.input_start + int(np.dot(index, params.input_strides))
        to = int(np.dot(index, params.output_strides))
        result[to : to + params.piece_bytes] = source[at : at + params.piece_bytes]
    return result


@pytest.mark.parametrize("element_bytes", [1, 4])
@pytest.mark.parametrize("seed", range(20))
def test_pieces_copy_every_element(seed: int, element_bytes: int) -> None:
    rng = random.Random(seed)
    shape = [rng.choice([1, 2, 3, 40]) for _ in range(rng.randint(1, 4))]
    axes = rng.sample(range(len(shape)), len(shape))
    source, target = View.of(shape).permuted(axes), View.of([shape[axis] for axis in axes])
    for axis in range(len(shape)):
        if rng.random() < 0.3:
            source = source.sliced(axis, source.shape[axis] - 1, source.shape[axis], -1)
    size = int(np.prod(shape))
    values = np.random.default_rng(seed).integers(0, 256, (size, element_bytes), np.uint8)
    copy = byte_copy(source, target, element_bytes)
    expected = values[elements(source, size)].reshape(-1)
    first, count = copy.source
    flat = values.reshape(-1)[first : first + count]
    np.testing.assert_array_equal(copied(copy.params, flat, size * element_bytes), expected)
    assert copy.target == (0, size * element_bytes)


def loops(source: View, target: View) -> tuple[list[int], int]:
    """Return the counts of the loops, and the bytes of a piece."""
    params = byte_copy(source, target, 1).params
    return [count for count in params.shape if count > 1], params.piece_bytes


def test_runs_are_few_and_long() -> None:
    image = View.of((2, 24, 24, 16))
    assert loops(image, image) == ([], 2 * 24 * 24 * 16)
    assert byte_copy(image, image, 4).is_one
    inside = image.sliced(1, 1, 20).sliced(2, 2, 20)
    assert loops(inside, View.of(inside.shape)) == ([2, 20], 20 * 16)
    assert loops(View.repeating((24, 16)), View.of((24, 16))) == ([24 * 16], 1)
    doubled = View.of((1, 4, 4, 3)).repeated(2, 2)
    assert loops(doubled, View.of(doubled.shape)) == ([16, 2], 3)


def test_wide_steps_are_taken_in_blocks() -> None:
    """Bytes of 16 channels: a block of pixels stays in the cache until all channels are read."""
    image = View.of((1, 24, 24, 16)).permuted((0, 3, 1, 2))
    assert loops(image, View.of(image.shape)) == ([6, 16, 96], 1)
    small = View.of((1, 4, 4, 16)).permuted((0, 3, 1, 2))
    assert loops(small, View.of(small.shape)) == ([16, 16], 1)
