"""Geometry of windows, against counting."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kiwicha.compiler.tflite.graph import Padding
from kiwicha.compiler.tflite.windows import effective_size, output_size, padding_before

SIZES = st.integers(1, 40)
SMALL = st.integers(1, 6)


@settings(deadline=None)
@given(SIZES, SMALL, SMALL, SMALL)
def test_valid_windows_are_those_that_fit(
    size: int, kernel: int, stride: int, dilation: int
) -> None:
    last = (kernel - 1) * dilation
    starts = [x for x in range(0, size, stride) if x + last < size]
    outputs = output_size(Padding.VALID, size, kernel, stride, dilation)
    assert max(outputs, 0) == len(starts)
    if starts:
        assert padding_before(size, kernel, stride, dilation, outputs) == 0


@settings(deadline=None)
@given(SIZES, SMALL, SMALL, SMALL)
def test_same_windows_start_at_every_stride(
    size: int, kernel: int, stride: int, dilation: int
) -> None:
    outputs = output_size(Padding.SAME, size, kernel, stride, dilation)
    assert outputs == len(range(0, size, stride))
    before = padding_before(size, kernel, stride, dilation, outputs)
    reach = (outputs - 1) * stride + effective_size(kernel, dilation)
    after = max(reach - size - before, 0)
    assert before in {after, after - 1}


@pytest.mark.parametrize(
    ("size", "kernel", "stride", "expected"), [(96, 3, 2, 0), (96, 3, 1, 1), (49, 10, 2, 4)]
)
def test_odd_padding_is_larger_behind(size: int, kernel: int, stride: int, expected: int) -> None:
    outputs = output_size(Padding.SAME, size, kernel, stride, 1)
    assert padding_before(size, kernel, stride, 1, outputs) == expected
