"""Convolutions of separate channels in blocks of them, against the oracle of each type."""

import numpy as np
import pytest

from kiwicha.compiler import Compilation, compile_stages
from kiwicha.compiler.engine.ir.operations import DividedOperation
from kiwicha.contract import configs
from kiwicha.contract.program import DType
from kiwicha.program.image import Program
from kiwicha.sim.reference import executor as reference
from tests.support.models import random_networks
from tests.support.models.tflite_builder import ModelBuilder
from tests.support.oracle import oracle

pytestmark = pytest.mark.slow

BLOCK = 6
"""Random models that one test asks the oracle about."""
ORACLES = {DType.INT8: oracle.MICRO, DType.UINT8: oracle.LITERT}


def blocks(stages: Compilation) -> int:
    """Count the operations in blocks of channels."""
    divided = [item for item in stages.engine.operations if isinstance(item, DividedOperation)]
    return sum(operation.is_in_blocks for operation in divided)


def check(dtype: DType, seeds: range) -> None:
    """Compare every engine with the oracle; most of the models must need blocks."""
    cases = [random_networks.separate_channels(s, is_unsigned=dtype is DType.UINT8) for s in seeds]
    problems, found = [], 0
    for seed, case, answer in zip(seeds, cases, oracle.ask(cases, ORACLES[dtype]), strict=True):
        for config in configs.ENGINE_CONFIGS if answer.outputs is not None else []:
            stages = compile_stages(case.model, config)
            found += blocks(stages)
            (got,) = reference.run(Program.from_bytes(stages.program.to_bytes()), case.inputs)
            if not np.array_equal(got, answer.outputs[0]):
                problems.append(f"seed {seed} {config} differs")
    assert not problems
    assert found > len(seeds)


@pytest.mark.parametrize("dtype", ORACLES, ids=lambda dtype: dtype.name.lower())
def test_separate_channels(dtype: DType) -> None:
    check(dtype, range(BLOCK))


@pytest.mark.nightly
@pytest.mark.parametrize("dtype", ORACLES, ids=lambda dtype: dtype.name.lower())
@pytest.mark.parametrize("first", range(BLOCK, 40 * BLOCK, BLOCK))
def test_many_separate_channels(dtype: DType, first: int) -> None:
    check(dtype, range(first, first + BLOCK))


@pytest.mark.parametrize("config", configs.ENGINE_CONFIGS)
def test_limits_behind_several_jobs_hold_for_all_of_them(config: str) -> None:
    """A RELU becomes the clamp of the pool before it, also in the jobs for its borders."""
    builder = ModelBuilder()
    x, y, z = (builder.tensor((1, 8, 8, 16), scale=0.02, zero_point=5) for _ in range(3))
    sizes = {"filterHeight": 3, "filterWidth": 3, "strideH": 1, "strideW": 1}
    builder.operator("AVERAGE_POOL_2D", [x], [y], padding=0, **sizes)
    builder.operator("RELU", [y], [z])
    values = np.random.default_rng(0).integers(-128, 128, (1, 8, 8, 16), np.int8)
    case = oracle.Case(builder.build([x], [z]), (values,))
    (answer,) = oracle.ask([case])
    assert answer.outputs is not None
    stages = compile_stages(case.model, config)
    assert len(stages.engine.operations) == 1
    (got,) = reference.run(stages.program, case.inputs)
    np.testing.assert_array_equal(got, answer.outputs[0])
