"""The largest elements of outputs."""

import numpy as np
import pytest

from kiwicha.contract.layout import Ref
from kiwicha.contract.program import DType
from kiwicha.program.parts import IoTensor
from kiwicha.report.answers import largest

VALUES = np.array([[3, 9, -1, 9, 0, 5, 7]], np.int8)


def tensor(dtype: DType = DType.INT8, scale: float = 0.5, zero_point: int = -1) -> IoTensor:
    return IoTensor("scores", Ref(), dtype, (1, 7), scale, zero_point)


def test_the_largest_come_first_and_of_equal_ones_the_first() -> None:
    found = largest(tensor(), VALUES, "abcdefg")
    assert found == [("b", 5.0), ("d", 5.0), ("g", 4.0), ("f", 3.0), ("a", 2.0)]


@pytest.mark.parametrize("labels", [(), ("one", "two")])
def test_without_labels_elements_have_their_numbers(labels: tuple[str, ...]) -> None:
    assert largest(tensor(), VALUES, labels, 2) == [("1", 5.0), ("3", 5.0)]


def test_real_numbers_stay_what_they_are() -> None:
    values = np.array([0.25, 0.75], np.float32)
    assert largest(tensor(DType.FLOAT32, 0.0, 0), values, ("no", "yes")) == [
        ("yes", 0.75),
        ("no", 0.25),
    ]
