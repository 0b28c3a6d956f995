"""Broadcasting, against numpy."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from kiwicha.compiler.tflite.shapes import broadcast_shape, broadcast_strides, leading_ones

SHAPES = st.lists(st.sampled_from([1, 1, 2, 3]), max_size=6).map(tuple)


@settings(deadline=None)
@given(SHAPES, SHAPES)
def test_broadcasts_as_numpy(a: tuple[int, ...], b: tuple[int, ...]) -> None:
    try:
        expected = np.broadcast_shapes(a, b)
    except ValueError:
        assert broadcast_shape(a, b) is None
        return
    assert broadcast_shape(a, b) == expected
    for shape in (a, b):
        values = np.arange(int(np.prod(shape)), dtype=np.int64)
        strides = broadcast_strides(shape, expected)
        indices = np.indices(leading_ones(expected))
        read = values[sum(i * s for i, s in zip(indices, strides, strict=True))]
        assert np.array_equal(
            read.reshape(expected), np.broadcast_to(values.reshape(shape), expected)
        )
