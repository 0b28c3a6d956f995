"""The strided copy of the reference against loops over single pieces."""

import dataclasses
from typing import Any

import numpy as np
import pytest

from kiwicha.contract.layout import Ref
from kiwicha.contract.program import Kernel
from kiwicha.errors import ProgramError
from kiwicha.kernels.copy import Copy
from kiwicha.sim.reference import executor as reference
from tests.support.programs.copies import copy_case
from tests.support.programs.steps import ProgramBuilder, whole_copy


@pytest.mark.parametrize("seed", range(40))
def test_copies(seed: int) -> None:
    case = copy_case(seed)
    builder = ProgramBuilder()
    source, background = builder.input(case.input), builder.input(case.background)
    target = builder.output(case.expected.shape)
    builder.step(Kernel.COPY, whole_copy(background, target))
    builder.step(Kernel.COPY, dataclasses.replace(case.params, input=source, output=target))
    (actual,) = reference.run(builder.program(), [case.input, case.background])
    np.testing.assert_array_equal(actual, case.expected)


ONES, ZEROS = (1,) * 6, (0,) * 6
TRIPLE = Copy(Ref(0, 6), Ref(16, 6), (*ONES[1:], 3), (*ZEROS[1:], 2), (*ZEROS[1:], 2), 0, 2)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"shape": (*ONES[1:], 0)}, "number and size of pieces must be 1 or more"),
        ({"piece_bytes": 0}, "number and size of pieces must be 1 or more"),
        ({"shape": (*ONES[1:], 4)}, "a reference must hold what is touched"),
        ({"shape": (*ONES[1:], 2)}, "a reference must hold what is touched"),
        ({"input_start": 1}, "a reference must hold what is touched"),
        ({"output": Ref(4, 6)}, "output must not overlap input"),
        ({"output": Ref(30, 6)}, "must lie inside the 32 bytes of the arena"),
        ({"output": Ref(0, 6, is_constant=True)}, "a result must lie in the arena"),
        ({"input": Ref(22, 6), "output": Ref(0, 6)}, "must be written before it is read"),
    ],
)
def test_refusals(changes: dict[str, Any], message: str) -> None:
    builder = ProgramBuilder()
    values = np.arange(6, dtype=np.int8)
    builder.input(values)
    builder.arena_bytes = 32
    builder.step(Kernel.COPY, dataclasses.replace(TRIPLE, **changes))
    with pytest.raises(ProgramError, match=message):
        reference.run(builder.program(), [values])


def test_what_lies_between_runs_stays_unwritten() -> None:
    """A reader of bytes between the pieces is refused, one of the pieces is not."""
    values = np.arange(6, dtype=np.int8)
    spread = dataclasses.replace(TRIPLE, output=Ref(16, 8), output_strides=(*ZEROS[1:], 3))
    back = dataclasses.replace(
        TRIPLE, input=Ref(16, 8), output=Ref(32, 6), input_strides=(*ZEROS[1:], 3)
    )
    builder = ProgramBuilder()
    builder.input(values)
    builder.arena(16)
    target = builder.output((6,))
    builder.step(Kernel.COPY, spread)
    builder.step(Kernel.COPY, back)
    (actual,) = reference.run(builder.program(), [values])
    np.testing.assert_array_equal(actual, values)
    builder.step(Kernel.COPY, dataclasses.replace(whole_copy(Ref(18, 6), target)))
    with pytest.raises(ProgramError, match=r"^step 2 \(COPY\): a tensor must be written before"):
        reference.run(builder.program(), [values])
