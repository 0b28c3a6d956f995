"""A SOFTMAX of two with results of int16, and the QUANTIZE behind it, are one table."""

from typing import Any

import numpy as np
import pytest

from kiwicha.compiler.driver import compile_stages
from kiwicha.contract.program import Kernel
from kiwicha.program.image import Program
from kiwicha.sim.reference import executor as reference
from tests.support.models.tflite_builder import ModelBuilder
from tests.support.oracle.sequences import ask_in_a_row

_SCALES: dict[Any, dict[str, Any]] = {
    np.int8: {"scale": 1 / 256, "zero_point": -128},
    np.int16: {"scale": 1 / 30000, "zero_point": -900},
    np.int32: {"scale": 1 / 65536, "zero_point": -32768},
}


def model(kind: Any, *, depth: int = 2, gives_both: bool = False) -> bytes:
    """Give a SOFTMAX and a QUANTIZE to another type."""
    builder = ModelBuilder("pairs")
    x = builder.tensor((40, depth), scale=0.03, zero_point=5)
    y = builder.tensor((40, depth), np.int16, scale=1 / 65536, zero_point=-32768)
    z = builder.tensor((40, depth), kind, **_SCALES[kind])
    builder.operator("SOFTMAX", [x], [y], beta=1.0)
    builder.operator("QUANTIZE", [y], [z])
    return builder.build([x], [z, y] if gives_both else [z])


def kernels(raw: bytes, inputs: np.ndarray) -> list[Kernel]:
    """Compare outputs with the interpreter's, and return what the CPU executes."""
    ((answer,),) = ask_in_a_row([(raw, [(inputs,)])])
    stages = compile_stages(raw, "simd")
    program = Program.from_bytes(stages.program.to_bytes())
    for found, expected in zip(reference.run(program, [inputs]), answer, strict=True):
        np.testing.assert_array_equal(found, expected)
    assert len(np.unique(answer[0])) > 20
    return [step.kernel for step in stages.program.steps]


@pytest.mark.parametrize("kind", [np.int8, np.int16, np.int32])
def test_they_are_one_step(kind: Any) -> None:
    values = np.random.default_rng(1).integers(-128, 128, (40, 2)).astype(np.int8)
    values[:2] = (-128, 127), (127, -128)
    assert kernels(model(kind), values) == [Kernel.PAIRS]
    assert kernels(model(kind, gives_both=True), values) == [Kernel.PAIRS, Kernel.REQUANTIZE]


def test_longer_rows_have_their_sum() -> None:
    values = np.random.default_rng(1).integers(-128, 128, (40, 3)).astype(np.int8)
    assert kernels(model(np.int32, depth=3), values) == [Kernel.SHORT_SOFTMAX, Kernel.REQUANTIZE]
