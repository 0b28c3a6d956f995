"""The strided copy in C against loops over single pieces."""

import dataclasses
from typing import Any

import numpy as np
import pytest

from kiwicha.contract.program import MAX_RANK, Kernel
from kiwicha.kernels.copy import Copy
from tests.support.programs.copies import copy_case
from tests.support.programs.steps import ProgramBuilder, whole_copy


@pytest.mark.parametrize("block", range(0, 60, 20))
def test_copies(run_steps: Any, block: int) -> None:
    builder = ProgramBuilder()
    cases = [copy_case(seed) for seed in range(block, block + 20)]
    for case in cases:
        source = builder.input(case.input)
        # The model's input is kept, so that the output starts with known bytes.
        background = builder.input(case.background)
        target = builder.output(case.expected.shape)
        builder.step(Kernel.COPY, whole_copy(background, target))
        params = dataclasses.replace(case.params, input=source, output=target)
        builder.step(Kernel.COPY, params)
    for case, actual in zip(cases, run_steps(builder), strict=True):
        np.testing.assert_array_equal(actual, case.expected, err_msg=str(case.params))


def test_pieces_may_overlap_where_a_damaged_program_says_so(run_steps: Any) -> None:
    """On machines with a C library of their own; sanitizers see copies that C does not define."""
    builder = ProgramBuilder()
    # In front of each input in the arena lies the output: the first piece covers a part of itself.
    source = builder.input(np.arange(32, dtype=np.int8))
    copied = builder.output((32,))
    builder.step(Kernel.COPY, whole_copy(source, copied))
    shape = (*(1,) * (MAX_RANK - 1), 2)
    steps = (*(0,) * (MAX_RANK - 1), 8)
    moved = Copy(
        dataclasses.replace(copied, bytes=16),
        dataclasses.replace(copied, offset=copied.offset + 3, bytes=16),
        shape,
        steps,
        steps,
        0,
        8,
    )
    builder.step(Kernel.COPY, moved)
    expected = np.arange(32, dtype=np.int8)
    for first in (0, 8):
        expected[first + 3 : first + 11] = expected[first : first + 8].copy()
    (actual,) = run_steps(builder)
    np.testing.assert_array_equal(actual, expected)
