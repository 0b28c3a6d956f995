"""Compiler and reference engine together against TensorFlow Lite Micro, bit for bit."""

import dataclasses

import numpy as np
import pytest

from kiwicha.compiler import compile_model, compile_stages
from kiwicha.contract import configs
from kiwicha.contract.program import Kernel
from kiwicha.program.image import Program
from kiwicha.sim.reference import executor as reference
from tests.support.choices import INT8_MODELS, at_night, by_day
from tests.support.models import random_models, random_networks
from tests.support.oracle import oracle

pytestmark = pytest.mark.slow

BLOCK = 8
"""Random models that one test asks the oracle about."""
SMALL = ((64, 1), (32, 2), (64, 8), (128, 4))
"""Products per cycle and KiB of scratchpad of engines in which tensors must be streamed."""


@pytest.fixture(autouse=True)
def small_engines(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Make engines with small scratchpads known for the time of a test."""
    for macs, kib in SMALL:
        config = dataclasses.replace(
            configs.ENGINE_CONFIGS[str(macs)], name=f"{macs}-{kib}", scratchpad_bytes=kib * 1024
        )
        for known in (configs.ENGINE_CONFIGS, configs.ALL_CONFIGS):
            monkeypatch.setitem(known, config.name, config)
    return list(configs.ENGINE_CONFIGS)


@pytest.mark.parametrize("eliminate", by_day(True, False), ids=["eliminated", "whole"])
@pytest.mark.parametrize("has_tables", by_day(True, False), ids=["tables", "no_tables"])
@pytest.mark.parametrize("config", by_day("64", "128", "32"))
@pytest.mark.parametrize("name", INT8_MODELS)
def test_goldens(
    name: str, config: str, has_tables: bool, eliminate: bool, zoo_model, golden_cases
) -> None:
    program = compile_model(zoo_model(name), config, eliminate=eliminate, has_tables=has_tables)
    assert Program.from_bytes(program.to_bytes()) == program
    assert program.config.name == config
    goldens = golden_cases(name)
    # One golden each where the two options change nothing.
    for golden in goldens if has_tables and eliminate else goldens[:1]:
        (output,) = reference.run(program, [golden.input])
        assert output.tobytes() == golden.output, golden.name


@pytest.mark.parametrize("config", by_day("64", "32", "128"))
@pytest.mark.parametrize("name", [at_night(INT8_MODELS[0]), *INT8_MODELS[1:]])
def test_goldens_optimized_for_size(name: str, config: str, zoo_model, golden_cases) -> None:
    program = compile_model(zoo_model(name), config, optimize="size")
    golden = golden_cases(name)[0]
    (output,) = reference.run(program, [golden.input])
    assert output.tobytes() == golden.output, golden.name


@pytest.mark.parametrize("name", INT8_MODELS)
def test_only_softmax_is_left_to_the_cpu(name: str, zoo_model) -> None:
    program = compile_model(zoo_model(name), "64", has_tables=True)
    kernels = [step.kernel for step in program.steps]
    assert kernels in ([Kernel.ENGINE], [Kernel.ENGINE, Kernel.SOFTMAX])


def check(cases: dict[int, oracle.Case], configs: list[str]) -> None:
    answers = dict(zip(cases, oracle.ask(list(cases.values())), strict=True))
    problems = []
    jobs = streamed = passed = 0
    for seed, case in cases.items():
        outputs = answers[seed].outputs
        assert outputs is not None, f"seed {seed}: no answer: {answers[seed].error}"
        for number, config in enumerate(configs):
            stages = compile_stages(
                case.model, config, eliminate=bool((seed + number) % 3), has_tables=True
            )
            got = reference.run(stages.program, case.inputs)
            jobs += sum(len(found.jobs) for found in stages.lists)
            streamed += sum(len(found.plan.streamed) for found in stages.lists)
            passed += sum(len(found.plan.passed) for found in stages.lists)
            for expected, actual in zip(outputs, got, strict=True):
                if actual.shape != expected.shape or not np.array_equal(actual, expected):
                    problems.append(f"seed {seed} {config}")
    assert not problems
    assert jobs > len(cases)
    assert streamed
    assert passed


@pytest.mark.parametrize("first", by_day(0, BLOCK, 2 * BLOCK))
def test_random_networks(first: int, small_engines: list[str]) -> None:
    seeds = range(first, first + BLOCK)
    check({seed: random_networks.engine_network(seed) for seed in seeds}, small_engines)


@pytest.mark.nightly
def test_pools_with_patches_where_a_plan_has_gaps(small_engines: list[str]) -> None:
    check({seed: random_networks.engine_network(seed) for seed in (645, 959)}, small_engines)


@pytest.mark.nightly
def test_random_networks_of_several_images(small_engines: list[str]) -> None:
    seeds = range(10)
    cases = {s: random_networks.engine_network(s, images=2 + s % 2) for s in seeds}
    check(cases, small_engines)


@pytest.mark.nightly
@pytest.mark.parametrize("first", by_day(0, BLOCK))
def test_random_pools(first: int, small_engines: list[str]) -> None:
    check(
        {seed: random_networks.pools(seed) for seed in range(first, first + BLOCK)}, small_engines
    )


@pytest.mark.nightly
@pytest.mark.parametrize("first", range(3 * BLOCK, 150 * BLOCK, BLOCK))
def test_many_random_networks(first: int, small_engines: list[str]) -> None:
    test_random_networks(first, small_engines)


@pytest.mark.parametrize(
    "operator",
    [
        *("CONV_2D", "DEPTHWISE_CONV_2D", "FULLY_CONNECTED", "MEAN", "SUM"),
        *("AVERAGE_POOL_2D", "MAX_POOL_2D"),
        *("ADD", "MUL", "MAXIMUM", "PRELU", "LEAKY_RELU", "QUANTIZE"),
    ],
)
def test_random_operators(operator: str) -> None:
    cases = [random_models.single_operator(operator, seed) for seed in range(25)]
    on_engine = 0
    for case, answer in zip(cases, oracle.ask(cases), strict=True):
        assert answer.outputs is not None
        program = compile_model(case.model, "64", has_tables=True)
        on_engine += sum(step.kernel is Kernel.ENGINE for step in program.steps)
        for expected, actual in zip(
            answer.outputs, reference.run(program, case.inputs), strict=True
        ):
            assert np.array_equal(actual, expected)
    assert on_engine
