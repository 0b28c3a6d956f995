"""Numbers as other types."""

from typing import Any

import numpy as np
import pytest

from kiwicha.numerics.integers import cast

INTEGERS = (np.int8, np.uint8, np.int16, np.int32, np.uint32, np.int64)


@pytest.mark.parametrize("dtype", INTEGERS)
def test_floats_saturate(dtype: Any) -> None:
    limits = np.iinfo(dtype)
    values = np.array([np.nan, np.inf, -np.inf, 1e30, -1e30, 2.9, -2.9], np.float32)
    least = max(-2, limits.min)
    expected = [0, limits.max, limits.min, limits.max, limits.min, 2, least]
    assert cast(values, dtype).tolist() == expected
    assert cast(values, dtype).dtype == dtype


@pytest.mark.parametrize("dtype", INTEGERS)
def test_integers_lose_their_upper_bits(dtype: Any) -> None:
    values = [0, 255, 256, -1, 2**40 + 3, -(2**63)]
    bits = np.iinfo(dtype).bits
    got = cast(np.array(values, np.int64), dtype)
    assert [int(x) % 2**bits for x in got] == [x % 2**bits for x in values]


def test_whatever_is_not_zero_is_true() -> None:
    assert cast(np.array([0.0, -0.0, np.nan, 1e-40], np.float32), np.bool_).tolist() == [
        False,
        False,
        True,
        True,
    ]
    assert cast(np.array([False, True]), np.float32).tolist() == [0.0, 1.0]
