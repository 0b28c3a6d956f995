"""Compiler and reference executor together against TensorFlow Lite Micro, bit for bit."""

import numpy as np
import pytest

from kiwicha.compiler import compile_model
from kiwicha.contract import configs
from kiwicha.program.image import Program
from kiwicha.sim.reference import executor as reference
from tests.support.choices import INT8_MODELS, by_day
from tests.support.models import random_models, random_networks
from tests.support.oracle import oracle

BLOCK = 10
"""Random models that one test asks the oracle about."""


def stored(program: Program) -> Program:
    """Give the Program that firmware reads: what went through bytes."""
    restored = Program.from_bytes(program.to_bytes())
    assert restored == program
    return restored


@pytest.mark.parametrize("config", configs.CONFIGS)
@pytest.mark.parametrize("name", INT8_MODELS)
def test_goldens(name: str, config: str, zoo_model, golden_cases) -> None:
    program = stored(compile_model(zoo_model(name), config))
    differing = []
    for golden in golden_cases(name):
        (output,) = reference.run(program, [golden.input])
        if output.tobytes() != golden.output:
            differing.append(golden.name)
    assert not differing


@pytest.mark.slow
@pytest.mark.parametrize("config", by_day("simd", "64"))
def test_goldens_of_a_model_without_deprecated_codes(config, zoo_model, golden_cases) -> None:
    name = "cfu_hps_74ops"
    program = stored(compile_model(zoo_model(name), config))
    for golden in golden_cases(name):
        (output,) = reference.run(program, [golden.input])
        assert output.tobytes() == golden.output, golden.name


@pytest.mark.parametrize("config", [*configs.CONFIGS, "64"])
@pytest.mark.parametrize("name", ["hello_world_int8", "micro_speech_quantized"])
def test_public_models_without_goldens(name: str, config: str, zoo_model) -> None:
    path = zoo_model(name)
    program = stored(compile_model(path, config))
    rng = np.random.default_rng(1)
    cases = [
        oracle.Case(path.read_bytes(), (rng.integers(-128, 128, shape).astype(np.int8),))
        for shape in [program.inputs[0].shape] * 10
    ]
    seen = set()
    for case, answer in zip(cases, oracle.ask(cases), strict=True):
        assert answer.outputs is not None, answer.error
        (output,) = reference.run(program, case.inputs)
        np.testing.assert_array_equal(output, answer.outputs[0])
        seen.add(output.tobytes())
    assert len(seen) > 1


def check(cases: dict[int, oracle.Case]) -> None:
    """Compare all configurations with the oracle; name every seed that differs."""
    answers = dict(zip(cases, oracle.ask(list(cases.values())), strict=True))
    problems = []
    for seed, case in cases.items():
        outputs = answers[seed].outputs
        if outputs is None:
            problems.append(f"seed {seed}: no answer: {answers[seed].error}")
            continue
        for config in configs.CONFIGS:
            got = reference.run(stored(compile_model(case.model, config)), case.inputs)
            for expected, actual in zip(outputs, got, strict=True):
                assert actual.shape == expected.shape
                if not np.array_equal(actual, expected):
                    differing = np.count_nonzero(actual != expected)
                    problems.append(f"seed {seed} {config}: {differing} of {actual.size} differ")
    assert not problems


@pytest.mark.parametrize("operator", random_models.OPERATORS)
@pytest.mark.parametrize("first", by_day(0, BLOCK))
def test_random_operators(operator: str, first: int) -> None:
    seeds = range(first, first + BLOCK)
    check({seed: random_models.single_operator(operator, seed) for seed in seeds})


@pytest.mark.parametrize("first", by_day(0, BLOCK))
def test_random_networks(first: int) -> None:
    check({seed: random_networks.network(seed) for seed in range(first, first + BLOCK)})


@pytest.mark.nightly
@pytest.mark.parametrize("operator", random_models.OPERATORS)
@pytest.mark.parametrize("first", range(2 * BLOCK, 100 * BLOCK, BLOCK))
def test_many_random_operators(operator: str, first: int) -> None:
    test_random_operators(operator, first)


@pytest.mark.nightly
@pytest.mark.parametrize("first", range(2 * BLOCK, 50 * BLOCK, BLOCK))
def test_many_random_networks(first: int) -> None:
    test_random_networks(first)
