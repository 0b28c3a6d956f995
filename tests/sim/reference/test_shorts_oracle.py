"""Operators on int16 with weights of int8, against TensorFlow Lite Micro, bit for bit."""

import random

import numpy as np
import pytest

from kiwicha.compiler import compile_model
from kiwicha.contract.cfu import Status
from kiwicha.contract.configs import CONFIGS, ENGINE_CONFIGS, Config, find_config
from kiwicha.firmware.native import build_native, run_native
from kiwicha.program.parts import Where
from kiwicha.sim.reference import executor as reference
from tests.support.choices import by_day
from tests.support.models import random_shorts
from tests.support.models.short_networks import short_network
from tests.support.oracle import oracle

DRAWS = 6
NETWORKS = 12
CPU, ENGINE = CONFIGS["simd"], ENGINE_CONFIGS["64"]
WITH_INT16 = find_config("128-int16")


def differing(case: oracle.Case, answer: oracle.Answer, *, has_firmware: bool) -> str:
    """Say what differs from the oracle's answer; nothing if all is well."""
    if answer.outputs is None:
        return f"no answer: {answer.error}"
    for config in (CPU, ENGINE, *([WITH_INT16] if has_firmware else [])):
        got = reference.run(compile_model(case.model, config), case.inputs)
        for number, (actual, expected) in enumerate(zip(got, answer.outputs, strict=True)):
            if actual.dtype != expected.dtype or actual.tobytes() != expected.tobytes():
                return f"output {number} of the reference differs for {config.name}"
    if not has_firmware:
        return ""
    raw = compile_model(case.model, CPU).to_bytes()
    inputs = [values.tobytes() for values in case.inputs]
    native = run_native(build_native(CPU), raw, inputs, outputs=len(answer.outputs))
    if native.status is not Status.OK:
        return f"firmware says {native.status.name}"
    is_same = native.outputs == tuple(values.tobytes() for values in answer.outputs)
    return "" if is_same else "firmware differs"


def check(cases: list[oracle.Case], *, has_firmware: bool = False) -> None:
    """Compare with the oracle: name every case that differs, and see more than extremes."""
    answers = oracle.ask(cases, oracle.MICRO)
    found = [
        differing(case, answer, has_firmware=has_firmware)
        for case, answer in zip(cases, answers, strict=True)
    ]
    assert not {number: text for number, text in enumerate(found) if text}
    seen = {int(x) for answer in answers for y in answer.outputs or () for x in np.ravel(y)}
    # Both ends of a range, and others.
    assert len(seen) > 2


@pytest.mark.parametrize("operator", random_shorts.OPERATORS)
def test_random_operators(operator: str) -> None:
    check([random_shorts.single_operator(operator, seed) for seed in range(DRAWS)])


@pytest.mark.slow
@pytest.mark.parametrize("first", by_day(DRAWS, 2 * DRAWS))
@pytest.mark.parametrize("operator", random_shorts.OPERATORS)
def test_firmware(operator: str, first: int) -> None:
    """The C kernels, under sanitizers."""
    seeds = range(first, first + DRAWS)
    check([random_shorts.single_operator(operator, seed) for seed in seeds], has_firmware=True)


@pytest.mark.slow
def test_networks() -> None:
    """Layer after layer in one arena, some of int16 and some of int8."""
    cases = [short_network(random.Random(f"network {seed}")) for seed in range(NETWORKS)]
    check(cases, has_firmware=True)


@pytest.mark.parametrize(("config", "where"), [(ENGINE, Where.CPU), (WITH_INT16, Where.ENGINE)])
def test_the_engine_takes_what_is_of_int8(config: Config, where: Where) -> None:
    """And the CPU what computes with int16, in the same Program, but for jobs of int16."""
    program = compile_model(short_network(random.Random("network 0")).model, config)
    places = {layer.operator: layer.where for layer in program.layers}
    assert places["CONV_2D"] is where
    assert places["FULLY_CONNECTED"] is Where.ENGINE
    assert places["LEAKY_RELU"] is where
