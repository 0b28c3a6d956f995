"""The strided copy in C against loops over single pieces."""

import dataclasses
from typing import Any

import numpy as np
import pytest

from kiwicha.contract.program import Kernel
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
