"""Transposed images with layers of bytes between, against the oracle."""

import numpy as np
import pytest

from kiwicha.compiler import compile_stages
from kiwicha.contract.program import Kernel
from kiwicha.program.image import Program
from kiwicha.sim.reference import executor as reference
from tests.support.models.transposed_images import transposed_images
from tests.support.oracle import oracle

pytestmark = pytest.mark.slow

BLOCK = 10
"""Random models that one test asks the oracle about."""


def check(seeds: range, configs: tuple[str, ...]) -> None:
    """Compare outputs with the oracle's; many transpositions must have gone."""
    cases = [transposed_images(seed) for seed in seeds]
    problems, models, before, after = [], 0, 0, 0
    for seed, case, answer in zip(seeds, cases, oracle.ask(cases, oracle.MICRO), strict=True):
        for config in configs if answer.outputs is not None else ():
            stages = compile_stages(case.model, config)
            models += 1
            before += sum(operator.name == "TRANSPOSE" for operator in stages.graph.operators)
            after += sum(layer.kernel is Kernel.COPY for layer in stages.lowered.layers)
            outputs = reference.run(Program.from_bytes(stages.program.to_bytes()), case.inputs)
            for got, expected in zip(outputs, answer.outputs or (), strict=True):
                if not np.array_equal(got, expected):
                    problems.append(f"seed {seed} {config} differs")
    assert not problems
    assert models > len(seeds) * len(configs) * 0.9
    assert after < before * 0.6


def test_random_images() -> None:
    check(range(BLOCK), ("simd", "64"))


@pytest.mark.nightly
@pytest.mark.parametrize("first", range(BLOCK, 48 * BLOCK, BLOCK))
def test_many_random_images(first: int) -> None:
    check(range(first, first + BLOCK), ("baseline", "32", "64", "128"))
