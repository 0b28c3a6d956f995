"""Long sums and transposed convolutions on the engine, against the oracle of each type."""

import numpy as np
import pytest

from kiwicha.compiler import Compilation, compile_stages
from kiwicha.contract.configs import ENGINE_FAMILY, Config
from kiwicha.contract.engine import SumFlag
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
MODELS = {"long": random_networks.long_sums, "transposed": random_networks.transposed}
CONFIGS = [ENGINE_FAMILY[name] for name in ("32", "64", "128", "128-8k-r4")]


def kept(stages: Compilation) -> int:
    """Count the jobs that keep sums."""
    return sum(
        bool(job.sums & SumFlag.KEEP) for found in stages.lists for job in found.weighted_jobs
    )


def check(kind: str, dtype: DType, seeds: range, configs: list[Config]) -> None:
    """Compare engines with the oracle; there must be jobs that keep sums, or pieces of layers."""
    cases = [MODELS[kind](seed, is_unsigned=dtype is DType.UINT8) for seed in seeds]
    problems, found, jobs = [], 0, 0
    for seed, case, answer in zip(seeds, cases, oracle.ask(cases, ORACLES[dtype]), strict=True):
        for config in configs if answer.outputs is not None else []:
            stages = compile_stages(case.model, config)
            found += kept(stages)
            jobs += sum(len(item.jobs) for item in stages.lists)
            outputs = reference.run(Program.from_bytes(stages.program.to_bytes()), case.inputs)
            for got, expected in zip(outputs, answer.outputs or (), strict=True):
                if not np.array_equal(got, expected):
                    problems.append(f"seed {seed} {config.name} differs")
    assert not problems
    assert found > len(seeds) if kind == "long" else jobs > 4 * len(seeds)


@pytest.mark.parametrize("dtype", ORACLES, ids=lambda dtype: dtype.name.lower())
@pytest.mark.parametrize("kind", MODELS)
def test_random_layers(kind: str, dtype: DType) -> None:
    check(kind, dtype, range(BLOCK), CONFIGS[1:3])


@pytest.mark.nightly
@pytest.mark.parametrize("dtype", ORACLES, ids=lambda dtype: dtype.name.lower())
@pytest.mark.parametrize("kind", MODELS)
@pytest.mark.parametrize("first", range(BLOCK, 53 * BLOCK, BLOCK))
def test_many_random_layers(kind: str, dtype: DType, first: int) -> None:
    check(kind, dtype, range(first, first + BLOCK), CONFIGS)


@pytest.mark.parametrize("config", CONFIGS[1:3], ids=lambda config: config.name)
def test_sums_of_32_bits_are_kept(config: Config) -> None:
    """Halves of a sum that each need more than 25 bits, and cancel but for a little."""
    count, rng = 4096, np.random.default_rng(1)
    builder = ModelBuilder()
    x = builder.tensor((1, count), scale=0.5, zero_point=-128)
    halves = np.where(np.arange(count) < count // 2, 127, -127)
    weights = np.clip(halves + rng.integers(-3, 4, (8, count)), -127, 127).astype(np.int8)
    w = builder.tensor(weights.shape, scale=0.01, data=weights)
    y = builder.tensor((1, 8), scale=40.0)
    builder.operator("FULLY_CONNECTED", [x, w, -1], [y])
    case = oracle.Case(builder.build([x], [y]), (np.full((1, count), 127, np.int8),))
    (answer,) = oracle.ask([case])
    assert answer.outputs is not None
    assert len(np.unique(answer.outputs[0])) > 3
    stages = compile_stages(case.model, config)
    assert kept(stages)
    (got,) = reference.run(stages.program, case.inputs)
    np.testing.assert_array_equal(got, answer.outputs[0])
