"""Operators that are refused because no interpreter computes them of int8 or uint8."""

from typing import Any

import numpy as np
import pytest

from kiwicha.compiler import supported_operators
from tests.support.models.tflite_builder import ModelBuilder
from tests.support.oracle import oracle
from tools.documents.operator_table import WITHOUT_KERNELS

pytestmark = pytest.mark.slow


def unary(operator: str, dtype: Any) -> oracle.Case:
    """Give a model of an operator of one tensor, and an input."""
    builder = ModelBuilder()
    x, y = (builder.tensor((1, 8), dtype, scale=0.05, zero_point=7) for _ in range(2))
    builder.operator(operator, [x], [y])
    return oracle.Case(builder.build([x], [y]), (np.arange(90, 98, dtype=dtype).reshape(1, 8),))


@pytest.mark.parametrize("interpreter", [oracle.MICRO, oracle.LITERT], ids=["micro", "litert"])
def test_no_interpreter_has_kernels(interpreter: oracle.Interpreter) -> None:
    cases = [unary(name, dtype) for name in WITHOUT_KERNELS for dtype in (np.int8, np.uint8)]
    assert [answer.outputs for answer in oracle.ask(cases, interpreter)] == [None] * len(cases)
    # Where there is a kernel, there is an answer.
    (known,) = oracle.ask([unary("ABS", np.int8)], interpreter)
    assert known.outputs is not None


def test_they_are_refused() -> None:
    assert not {*WITHOUT_KERNELS} & {*supported_operators()}
