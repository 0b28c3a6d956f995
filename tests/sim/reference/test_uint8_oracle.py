"""uint8 models: compiler and reference executor together against LiteRT's reference kernels."""

from collections.abc import Sequence

import numpy as np
import pytest
from PIL import Image

from kiwicha.compiler import compile_model
from kiwicha.contract.configs import CONFIGS
from kiwicha.contract.program import DType, Kernel
from kiwicha.program.image import Program
from kiwicha.sim.reference import executor as reference
from tests.support import requirements
from tests.support.models import close_scales, random_models, random_networks
from tests.support.oracle import oracle

MODELS = ["mobilenet_v1_0.25_128_quant", "mobilenet_v2_1.0_224_quant"]
ALL_CONFIGS = [*CONFIGS, "64", "128"]
BLOCK = 6
"""Random models that one test asks the oracle about."""
WITHOUT_BIAS = ("has_bias was not true", "optional but was expected")
"""LiteRT refuses CONV_2D without a bias."""


def stored(program: Program) -> Program:
    """Give the Program that firmware reads: what went through bytes."""
    restored = Program.from_bytes(program.to_bytes())
    assert restored == program
    return restored


def picture(height: int, width: int) -> np.ndarray:
    """Give a photograph of the public inputs as uint8 [1, height, width, 3]."""
    path = requirements.find_in_models("inputs/grace_hopper.bmp")
    with Image.open(path) as opened:
        resized = opened.convert("RGB").resize((width, height), Image.Resampling.BILINEAR)
    return np.asarray(resized, np.uint8)[None]


def check_model(name: str, config: str, zoo_model) -> None:
    path = zoo_model(name)
    program = stored(compile_model(path, config))
    (tensor,) = program.inputs
    assert tensor.dtype is DType.UINT8
    image = picture(*tensor.shape[1:3])
    (answer,) = oracle.ask([oracle.Case(path.read_bytes(), (image,))], oracle.LITERT)
    assert answer.outputs is not None
    (output,) = reference.run(program, [image])
    assert output.dtype == np.uint8
    np.testing.assert_array_equal(output, answer.outputs[0])


@pytest.mark.parametrize("config", ALL_CONFIGS)
def test_small_model(config: str, zoo_model) -> None:
    check_model(MODELS[0], config, zoo_model)


@pytest.mark.nightly
@pytest.mark.parametrize("config", ALL_CONFIGS)
def test_large_model(config: str, zoo_model) -> None:
    check_model(MODELS[1], config, zoo_model)


def test_only_softmax_is_left_to_the_cpu(zoo_model) -> None:
    program = compile_model(zoo_model(MODELS[0]), "64")
    assert [step.kernel for step in program.steps] == [Kernel.ENGINE, Kernel.SOFTMAX]


def check(cases: dict[int, oracle.Case], configs: Sequence[str] = ALL_CONFIGS) -> None:
    """Compare configurations with the oracle; name every seed that differs."""
    answers = dict(zip(cases, oracle.ask(list(cases.values()), oracle.LITERT), strict=True))
    problems = []
    compared = 0
    for seed, case in cases.items():
        outputs, error = answers[seed].outputs, answers[seed].error
        if outputs is None:
            assert any(text in error for text in WITHOUT_BIAS), f"seed {seed}: {error}"
            continue
        for config in configs:
            got = reference.run(stored(compile_model(case.model, config)), case.inputs)
            for expected, actual in zip(outputs, got, strict=True):
                compared += 1
                assert (actual.dtype, actual.shape) == (expected.dtype, expected.shape)
                if not np.array_equal(actual, expected):
                    differing = np.count_nonzero(actual != expected)
                    problems.append(f"seed {seed} {config}: {differing} of {actual.size} differ")
    assert not problems
    assert compared


def operators(operator: str, seeds: range) -> dict[int, oracle.Case]:
    return {seed: random_models.single_operator(operator, seed, is_unsigned=True) for seed in seeds}


@pytest.mark.slow
@pytest.mark.parametrize("operator", random_models.OPERATORS)
def test_random_operators(operator: str) -> None:
    check(operators(operator, range(BLOCK)))


@pytest.mark.slow
@pytest.mark.parametrize("operator", close_scales.OPERATORS)
def test_rounding_of_scales(operator: str) -> None:
    check({seed: close_scales.close_model(operator, seed) for seed in range(BLOCK)})


@pytest.mark.slow
def test_random_networks() -> None:
    check({seed: random_networks.network(seed, is_unsigned=True) for seed in range(2 * BLOCK)})


@pytest.mark.nightly
@pytest.mark.parametrize("operator", random_models.OPERATORS)
@pytest.mark.parametrize("first", range(BLOCK, 100 * BLOCK, BLOCK))
def test_many_random_operators(operator: str, first: int) -> None:
    check(operators(operator, range(first, first + BLOCK)))


@pytest.mark.nightly
@pytest.mark.parametrize("first", range(2 * BLOCK, 100 * BLOCK, BLOCK))
def test_many_random_networks(first: int) -> None:
    seeds = range(first, first + BLOCK)
    check({seed: random_networks.network(seed, is_unsigned=True) for seed in seeds})
