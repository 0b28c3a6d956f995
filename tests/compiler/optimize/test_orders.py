"""Orders of bytes, against numpy's transpositions."""

import itertools

import numpy as np
import pytest
from numpy.typing import NDArray

from kiwicha.compiler.lower.byte_copies import byte_copy
from kiwicha.compiler.lower.views import View
from kiwicha.compiler.optimize.orders import Order

SHAPE = (2, 3, 4)


def order(shape: tuple[int, ...], axes: tuple[int, ...]) -> Order:
    """Give the order that a transposition of bytes makes."""
    view = View.of(shape).permuted(axes)
    found = Order.of_copy(byte_copy(view, View.of(view.shape), 1).params)
    assert found is not None
    return found


def applied(found: Order, values: NDArray[np.int64]) -> NDArray[np.int64]:
    """Copy values as an order does."""
    source, target = np.zeros(1, np.int64), np.zeros(1, np.int64)
    for count, step, to in found.dimensions:
        index = np.arange(count)
        source = (source[:, None] + index * step).reshape(-1)
        target = (target[:, None] + index * to).reshape(-1)
    result = np.empty_like(values)
    result[target] = values[source]
    return result


@pytest.mark.parametrize("second", [*itertools.permutations(range(3))], ids=str)
@pytest.mark.parametrize("first", [*itertools.permutations(range(3))], ids=str)
def test_chains(first: tuple[int, ...], second: tuple[int, ...]) -> None:
    values = np.arange(24)
    turned = values.reshape(SHAPE).transpose(first)
    a, b = order(SHAPE, first), order(turned.shape, second)
    np.testing.assert_array_equal(applied(a, values), turned.reshape(-1))
    both = a.then(b)
    assert both is not None
    np.testing.assert_array_equal(applied(both, values), turned.transpose(second).reshape(-1))
    np.testing.assert_array_equal(applied(a.inverse, applied(a, values)), values)
    assert both.is_same == (applied(both, values).tolist() == values.tolist())
    assert (both.cost == 0) == both.is_same


def test_chains_of_other_dimensions() -> None:
    matrix, cube = order((6, 4), (1, 0)), order((2, 4, 3), (0, 2, 1))
    values = np.arange(24)
    both = matrix.then(cube)
    expected = values.reshape(6, 4).T.reshape(2, 4, 3).transpose(0, 2, 1).reshape(-1)
    assert both is not None
    np.testing.assert_array_equal(applied(both, values), expected)
    assert order((4, 6), (1, 0)).then(order((4, 6), (1, 0))) is None


def test_what_repeats_or_leaves_out_bytes_has_no_order() -> None:
    repeated = View.of((4, 3)).repeated(1, 2)
    assert Order.of_copy(byte_copy(repeated, View.of(repeated.shape), 1).params) is None
    taken = View.of((4, 6)).sliced(1, 0, 3, 2)
    assert Order.of_copy(byte_copy(taken, View.of((4, 3)), 1).params) is None
