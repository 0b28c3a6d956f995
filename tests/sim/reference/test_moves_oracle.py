"""Operators that only move data against TensorFlow Lite Micro, byte for byte."""

import numpy as np
import pytest

from kiwicha.compiler import compile_model
from kiwicha.contract.cfu import Status
from kiwicha.contract.configs import CONFIGS, ENGINE_CONFIGS, Config
from kiwicha.firmware.native import build_native, run_native
from kiwicha.program.image import Program
from kiwicha.sim.reference import executor as reference
from tests.support.choices import by_day
from tests.support.models import random_moves
from tests.support.oracle import oracle

pytestmark = pytest.mark.slow

BLOCK = 10
"""Random models that one test asks the oracle about."""


def differing(case: oracle.Case, answer: oracle.Answer, config: Config, has_firmware: bool) -> str:
    """Say what differs from the oracle's answer; nothing if all is well."""
    if answer.outputs is None:
        return f"no answer: {answer.error}"
    program = compile_model(case.model, config)
    raw = program.to_bytes()
    got = reference.run(Program.from_bytes(raw), case.inputs)
    for number, (actual, expected) in enumerate(zip(got, answer.outputs, strict=True)):
        if actual.dtype != expected.dtype or not np.array_equal(actual, expected):
            return f"output {number} of the reference differs"
    if has_firmware:
        inputs = [values.tobytes() for values in case.inputs]
        native = run_native(build_native(config), raw, inputs, outputs=len(got))
        if native.status is not Status.OK:
            return f"firmware says {native.status.name}"
        if native.outputs != tuple(values.tobytes() for values in answer.outputs):
            return "firmware differs"
    return ""


def check(cases: dict[int, oracle.Case], configs: list[Config], firmware_every: int = 5) -> None:
    """Compare with the oracle; name every seed that differs."""
    answers = oracle.ask(list(cases.values()))
    problems = {
        f"seed {seed} {config.name}": differing(
            case, answer, config, not config.engine_macs and seed % firmware_every == 0
        )
        for (seed, case), answer in zip(cases.items(), answers, strict=True)
        for config in configs
    }
    assert not {name: text for name, text in problems.items() if text}


@pytest.mark.parametrize("operator", random_moves.OPERATORS)
def test_random_operators(operator: str) -> None:
    cases = {seed: random_moves.single_operator(operator, seed) for seed in range(BLOCK)}
    check(cases, [CONFIGS["simd"], ENGINE_CONFIGS["64"]])


@pytest.mark.parametrize("first", by_day(0, BLOCK))
def test_random_networks(first: int) -> None:
    """With operators of other kinds between; on the CPU and with an engine."""
    cases = {seed: random_moves.network(seed) for seed in range(first, first + BLOCK)}
    check(cases, [CONFIGS["simd"], ENGINE_CONFIGS["64"]])


@pytest.mark.nightly
@pytest.mark.parametrize("operator", random_moves.OPERATORS)
@pytest.mark.parametrize("first", range(BLOCK, 50 * BLOCK, BLOCK))
def test_many_random_operators(operator: str, first: int) -> None:
    seeds = range(first, first + BLOCK)
    cases = {seed: random_moves.single_operator(operator, seed) for seed in seeds}
    check(cases, [CONFIGS["baseline"]], firmware_every=1)


@pytest.mark.nightly
@pytest.mark.parametrize("first", range(2 * BLOCK, 100 * BLOCK, BLOCK))
def test_many_random_networks(first: int) -> None:
    cases = {seed: random_moves.network(seed) for seed in range(first, first + BLOCK)}
    check(cases, [*CONFIGS.values(), *ENGINE_CONFIGS.values()], firmware_every=1)
