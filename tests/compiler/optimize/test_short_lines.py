"""Chains of integer operators from int16 to int8 are a line, where they are one."""

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from kiwicha.compiler.driver import compile_stages
from kiwicha.compiler.optimize.short_lines import line_of
from kiwicha.contract.program import Kernel
from kiwicha.program.image import Program
from kiwicha.sim.reference import executor as reference
from tests.support.models.tflite_builder import ModelBuilder
from tests.support.oracle.sequences import ask_in_a_row

ALL = np.arange(-(2**15), 2**15, dtype=np.int64)
ONES = (("MUL", 256), ("ADD", 333), ("DIV", 666), ("ADD", -128), ("MINIMUM", 127))
"""All but the last of a frontend."""
FRONTEND = (*ONES, ("MAXIMUM", -128))


def model(chain: tuple[tuple[str, int], ...], *, shows: int | None = None) -> bytes:
    """Give a chain of operators with constants, of which one result may be an output, too."""
    builder = ModelBuilder("line")
    x, shown = builder.tensor((300,), np.int16), []
    last = builder.tensor((300,), np.int32)
    builder.operator("CAST", [x], [last])
    for number, (name, value) in enumerate(chain):
        source, last = last, builder.tensor((300,), np.int32)
        constant = builder.tensor((), np.int32, data=np.array(value, np.int32))
        builder.operator(name, [source, constant], [last])
        shown += [last] if number == shows else []
    y = builder.tensor((300,), np.int8)
    builder.operator("CAST", [last], [y])
    return builder.build([x], [y, *shown])


def inputs() -> NDArray[np.int16]:
    """Give what is about the limits, and anything."""
    rng = np.random.default_rng(3)
    return np.concatenate([
        np.arange(-5, 5),
        np.arange(655, 670),
        [-(2**15), 2**15 - 1],
        rng.integers(-(2**15), 2**15, 73),
        rng.integers(0, 800, 200),
    ]).astype(np.int16)


def kernels(raw: bytes) -> list[Kernel]:
    """Compare outputs with the interpreter's, and return what the CPU executes."""
    ((answer,),) = ask_in_a_row([(raw, [(inputs(),)])])
    stages = compile_stages(raw, "simd")
    program = Program.from_bytes(stages.program.to_bytes())
    for found, expected in zip(reference.run(program, [inputs()]), answer, strict=True):
        np.testing.assert_array_equal(found, expected)
    return [step.kernel for step in stages.program.steps]


def test_the_end_of_a_frontend_is_a_line() -> None:
    assert kernels(model(FRONTEND)) == [Kernel.SHORT_LINE]


@pytest.mark.parametrize(
    ("chain", "shows"),
    [
        # What wraps around falls; a result in between is wanted.
        (ONES, None),
        ((("MUL", -1), ("MINIMUM", 127), ("MAXIMUM", -128)), None),
        (FRONTEND, 2),
    ],
)
def test_what_is_no_line_stays(chain: tuple[tuple[str, int], ...], shows: int | None) -> None:
    assert Kernel.SHORT_LINE not in kernels(model(chain, shows=shows))


def line(values: NDArray[Any]) -> bool:
    """Tell whether there is a line, and assert that it is the function."""
    found = line_of(values)
    if found is None:
        return False
    inside = ALL.clip(found.first, found.last)
    sums = found.factor * inside + found.offset
    assert abs(found.factor * np.abs(inside)).max() + abs(found.offset) < 2**31
    np.testing.assert_array_equal(sums >> found.shift, values)
    return True


@pytest.mark.parametrize("seed", range(20))
def test_lines_are_found(seed: int) -> None:
    rng = np.random.default_rng(seed)
    divisor, start = int(rng.integers(1, 3000)), int(rng.integers(-(2**15), 2**15))
    low, high = sorted(rng.integers(-128, 128, 2).tolist())
    values = ((ALL - start) * int(rng.integers(1, divisor + 1)) // divisor).clip(low, high)
    assert line(values)


def test_steps_and_constants_are_lines_and_bends_are_none() -> None:
    assert line(np.full(2**16, 7))
    assert line(np.where(ALL > 5, 100, -3))
    assert line(np.where(ALL > -(2**15), 1, 0))
    assert not line(np.where(ALL < 0, ALL // 4, ALL).clip(-128, 127))
    assert not line(np.where(ALL > 5, -3, 100))
