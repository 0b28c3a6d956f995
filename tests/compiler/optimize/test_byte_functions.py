"""Functions of single bytes become one table, exactly, and only where nothing else needs a part."""

import numpy as np
import pytest

from kiwicha.compiler.driver import compile_stages
from kiwicha.contract.program import Kernel
from kiwicha.sim.reference import executor as reference
from tests.support.models.tflite_builder import ModelBuilder
from tests.support.oracle import oracle

SHAPE = (1, 4, 8, 8)
CONFIGS = ("baseline", "simd", "64")


def silu(*, keeps_gate: bool = False, is_unsigned: bool = False) -> bytes:
    """Give LOGISTIC and the MUL with its input, and a hard swish of that from ADD, RELU6, MUL."""
    shift, kind = (128, np.uint8) if is_unsigned else (0, np.int8)
    builder = ModelBuilder()

    def tensor(scale: float, zero_point: int) -> int:
        return builder.tensor(SHAPE, kind, scale=scale, zero_point=zero_point + shift)

    x, gate, y = tensor(0.05, 3), tensor(1 / 256, -128), tensor(0.03, -100)
    three = builder.tensor((1,), kind, scale=0.1, zero_point=shift, data=np.array([30 + shift]))
    more, limited, z = tensor(0.06, -20), tensor(0.06, -20), tensor(0.05, -20)
    builder.operator("LOGISTIC", [x], [gate])
    builder.operator("MUL", [x, gate], [y])
    builder.operator("ADD", [y, three], [more])
    builder.operator("RELU6", [more], [limited])
    builder.operator("MUL", [limited, y], [z])
    return builder.build([x], [z, gate] if keeps_gate else [z])


@pytest.mark.parametrize("is_unsigned", [False, True], ids=["int8", "uint8"])
@pytest.mark.parametrize("keeps_gate", [False, True])
@pytest.mark.parametrize("config", CONFIGS)
def test_it_is_the_same(config: str, keeps_gate: bool, is_unsigned: bool) -> None:
    raw = silu(keeps_gate=keeps_gate, is_unsigned=is_unsigned)
    values = np.resize(np.arange(256, dtype=np.uint8), SHAPE)
    case = oracle.Case(raw, (values.view(np.uint8 if is_unsigned else np.int8),))
    (answer,) = oracle.ask([case], oracle.LITERT if is_unsigned else oracle.MICRO)
    assert answer.outputs is not None
    got = reference.run(compile_stages(raw, config).program, case.inputs)
    for expected, actual in zip(answer.outputs, got, strict=True):
        np.testing.assert_array_equal(actual, expected)


@pytest.mark.parametrize("is_unsigned", [False, True], ids=["int8", "uint8"])
def test_one_table_is_left(is_unsigned: bool) -> None:
    program = compile_stages(silu(is_unsigned=is_unsigned), "baseline").program
    assert [step.kernel for step in program.steps] == [Kernel.LOOKUP]
    (jobs,) = compile_stages(silu(is_unsigned=is_unsigned), "64").lists
    assert len(jobs.jobs) == 1


def test_what_others_read_stays() -> None:
    program = compile_stages(silu(keeps_gate=True), "baseline").program
    assert [step.kernel for step in program.steps].count(Kernel.LOOKUP) == 2


def test_tensors_of_different_origin_are_no_table() -> None:
    builder = ModelBuilder()
    x, y, z = (builder.tensor(SHAPE, scale=0.05) for _ in range(3))
    builder.operator("MUL", [x, y], [z])
    program = compile_stages(builder.build([x, y], [z]), "baseline").program
    assert [step.kernel for step in program.steps] == [Kernel.MUL]


def test_a_broadcast_is_no_table() -> None:
    builder = ModelBuilder()
    column, row = builder.tensor((4, 1), scale=0.05), builder.tensor((1, 4), scale=0.05)
    z = builder.tensor((4, 4), scale=0.05)
    builder.operator("RESHAPE", [column], [row])
    builder.operator("MUL", [column, row], [z])
    program = compile_stages(builder.build([column], [z]), "baseline").program
    assert [step.kernel for step in program.steps] == [Kernel.MUL]
