"""Layers with short rows in place of long ones."""

import dataclasses
from typing import Any

import pytest

from kiwicha.compiler.engine.select.upright import has_long_rows, is_too_long, upright
from kiwicha.compiler.lower.network import Layer
from kiwicha.contract.layout import Ref
from kiwicha.contract.program import Kernel
from kiwicha.kernels.conv import Conv


def conv(**fields: int) -> Layer:
    """Give a convolution of one row."""
    numbers: dict[str, Any] = {
        name: Ref() if kind.base == "ref" else 1 for name, kind, _ in Conv.layout()
    }
    numbers |= {"input_width": 9000, "input_channels": 8, "output_width": 4499}
    numbers |= {"kernel_width": 5, "stride_width": 2, "dilation_width": 3, "pad_left": 6}
    numbers |= {"pad_top": 0}
    made = Conv(**(numbers | fields))
    return Layer(operator=0, name="CONV_2D", kernel=Kernel.CONV, params=made)


def test_rows_and_columns_change_places() -> None:
    turned = upright(conv())
    assert turned is not None
    p: Any = turned.params
    assert (p.input_height, p.input_width) == (9000, 1)
    assert (p.output_height, p.output_width) == (4499, 1)
    assert (p.kernel_height, p.stride_height, p.dilation_height, p.pad_top) == (5, 2, 3, 6)
    assert (p.kernel_width, p.stride_width, p.dilation_width, p.pad_left) == (1, 1, 1, 0)


def test_pixels_are_one_column() -> None:
    one = {"kernel_width": 1, "stride_width": 1, "pad_left": 0, "dilation_width": 1}
    turned = upright(conv(input_height=4, output_height=4, output_width=9000, **one))
    assert turned is not None
    assert (turned.params.input_height, turned.params.output_width) == (36_000, 1)


@pytest.mark.parametrize("fields", [{"input_height": 2}, {"kernel_height": 2}, {"pad_top": 1}])
def test_windows_of_several_rows_stay(fields: dict[str, int]) -> None:
    assert upright(conv(**fields)) is None


def test_lengths() -> None:
    limits = [is_too_long(conv(input_width=width)) for width in (8191, 8192)]
    assert limits == [False, True]
    assert [has_long_rows(conv(input_width=width)) for width in (1024, 1025)] == [False, True]
    layer = dataclasses.replace(conv(), kernel=Kernel.FULLY_CONNECTED)
    assert upright(layer) is None
