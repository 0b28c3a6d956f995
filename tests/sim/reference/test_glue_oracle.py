"""Operators on integers, and those with computed indices, against the interpreters, bit for bit."""

from typing import Any

import numpy as np
import pytest

from kiwicha.compiler import compile_model
from kiwicha.contract.cfu import Status
from kiwicha.contract.configs import CONFIGS, ENGINE_CONFIGS
from kiwicha.errors import ProgramError
from kiwicha.firmware.native import build_native, run_native
from kiwicha.sim.reference import executor as reference
from tests.support.models import random_glue
from tests.support.models.tflite_builder import ModelBuilder
from tests.support.oracle import oracle

pytestmark = pytest.mark.slow

BLOCK = 6
"""Random models that one test asks the oracle about."""
CPU, ENGINE = CONFIGS["simd"], ENGINE_CONFIGS["64"]


def differing(case: oracle.Case, answer: oracle.Answer) -> str:
    """Say what differs from the oracle's answer; nothing if all is well."""
    if answer.outputs is None:
        return f"no answer: {answer.error}"
    for config in (CPU, ENGINE):
        got = reference.run(compile_model(case.model, config), case.inputs)
        for number, (actual, expected) in enumerate(zip(got, answer.outputs, strict=True)):
            kinds = [(values.dtype, values.shape) for values in (actual, expected)]
            if kinds[0] != kinds[1] or actual.tobytes() != expected.tobytes():
                return f"output {number} of the reference differs for {config.name}"
    raw = compile_model(case.model, CPU).to_bytes()
    inputs = [values.tobytes() for values in case.inputs]
    native = run_native(build_native(CPU), raw, inputs, outputs=len(answer.outputs))
    if native.status is not Status.OK:
        return f"firmware says {native.status.name}"
    is_same = native.outputs == tuple(values.tobytes() for values in answer.outputs)
    return "" if is_same else "firmware differs"


def check(cases: dict[int, oracle.Case]) -> None:
    """Compare with the oracle; name every seed that differs."""
    answers = oracle.ask(list(cases.values()))
    found = {
        seed: differing(case, answer)
        for (seed, case), answer in zip(cases.items(), answers, strict=True)
    }
    assert not {seed: text for seed, text in found.items() if text}


@pytest.mark.parametrize("operator", random_glue.OPERATORS)
def test_random_operators(operator: str) -> None:
    check({seed: random_glue.single_operator(operator, seed) for seed in range(BLOCK)})


@pytest.mark.nightly
@pytest.mark.parametrize("operator", random_glue.OPERATORS)
@pytest.mark.parametrize("first", range(BLOCK, 50 * BLOCK, BLOCK))
def test_many_random_operators(operator: str, first: int) -> None:
    seeds = range(first, first + BLOCK)
    check({seed: random_glue.single_operator(operator, seed) for seed in seeds})


def chain(values: np.ndarray[Any, Any], *casts: Any) -> oracle.Case:
    """Give a model of casts to one type after the other."""
    builder = ModelBuilder()
    tensors = [builder.tensor(values.shape, values.dtype)]
    for dtype, code in casts:
        tensors.append(builder.tensor(values.shape, dtype, type_code=code))
        builder.operator("CAST", tensors[-2:-1], tensors[-1:])
    return oracle.Case(builder.build(tensors[:1], tensors[-1:]), (values,))


def test_casts_by_way_of_uint32() -> None:
    words = np.array([0, 1, -1, 2**31 - 1, -(2**31), 77], np.int32)
    floats = np.array([-1.5, 0.9, 3e9, 4294967296.0, 1e30, 2147483648.0], np.float32)
    uint32 = (np.int32, 15)
    cases = [chain(words, uint32, (np.float32, None)), chain(floats, uint32, (np.int32, None))]
    assert "" == "".join(map(differing, cases, oracle.ask(cases)))


@pytest.mark.parametrize("dtype", [np.int32, np.int64])
@pytest.mark.parametrize("is_exclusive", [False, True])
@pytest.mark.parametrize("is_reverse", [False, True])
def test_sums_of_integers(dtype: Any, is_exclusive: bool, is_reverse: bool) -> None:
    """The interpreter's reference kernels have no CUMSUM of integers."""
    limits = np.iinfo(dtype)
    values = np.random.default_rng(1).integers(limits.min, limits.max, (3, 7, 2), dtype)
    builder = ModelBuilder()
    x, y = builder.tensor(values.shape, dtype), builder.tensor(values.shape, dtype)
    axis = builder.tensor((), np.int32, data=np.array(1, np.int32))
    builder.operator("CUMSUM", [x, axis], [y], exclusive=is_exclusive, reverse=is_reverse)
    forward = values[:, ::-1] if is_reverse else values
    sums = np.cumsum(forward, axis=1, dtype=dtype) - (forward if is_exclusive else dtype(0))
    answer = oracle.Answer((sums[:, ::-1] if is_reverse else sums,))
    assert differing(oracle.Case(builder.build([x], [y]), (values,)), answer) == ""


def gather(indices: list[int]) -> oracle.Case:
    """Give a model that reads three elements of four."""
    builder = ModelBuilder()
    x, at = builder.tensor((4,), np.int32), builder.tensor((3,), np.int32)
    y = builder.tensor((3,), np.int32)
    builder.operator("GATHER", [x, at], [y], axis=0)
    values = np.arange(4, dtype=np.int32), np.array(indices, np.int32)
    return oracle.Case(builder.build([x, at], [y]), values)


def scatter(indices: list[int]) -> oracle.Case:
    """Give a model that writes three elements of four."""
    builder = ModelBuilder()
    at, x = builder.tensor((3, 1), np.int32), builder.tensor((3,), np.int32)
    shape = builder.tensor((1,), np.int32, data=np.array([4], np.int32))
    y = builder.tensor((4,), np.int32)
    builder.operator("SCATTER_ND", [at, x, shape], [y])
    values = np.array(indices, np.int32).reshape(3, 1), np.arange(3, dtype=np.int32)
    return oracle.Case(builder.build([at, x], [y]), values)


def divide(divisors: list[int], code: str = "DIV") -> oracle.Case:
    """Give a model that divides three numbers."""
    builder = ModelBuilder()
    x, d, y = (builder.tensor((3,), np.int32) for _ in range(3))
    builder.operator(code, [x, d], [y])
    values = np.array([-(2**31), 7, -7], np.int32), np.array(divisors, np.int32)
    return oracle.Case(builder.build([x, d], [y]), values)


@pytest.mark.parametrize(
    ("case", "text"),
    [
        (gather([0, 4, 1]), r"indices must be less than \[4\]"),
        (gather([0, 3, -1]), r"indices must be less than \[4\]"),
        (scatter([2, 4, 1]), r"indices must be less than \[4\]"),
        (divide([1, 0, 2]), "a divisor must not be 0"),
    ],
)
def test_numbers_that_cannot_be_end_an_inference(case: oracle.Case, text: str) -> None:
    program = compile_model(case.model, CPU)
    with pytest.raises(ProgramError, match=text):
        reference.run(program, case.inputs)
    inputs = [values.tobytes() for values in case.inputs]
    result = run_native(build_native(CPU), program.to_bytes(), inputs, outputs=1)
    assert result.status is Status.BAD_VALUE


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        ("DIV", [-(2**31), -3, 3]),
        ("FLOOR_DIV", [-(2**31), -4, 3]),
        ("FLOOR_MOD", [0, -1, -1]),
    ],
)
def test_the_largest_quotient_wraps_around(code: str, expected: list[int]) -> None:
    """Interpreters trap."""
    answer = oracle.Answer((np.array(expected, np.int32),))
    assert differing(divide([-1, -2, -2], code), answer) == ""


def test_gather_of_many_runs_is_one_step() -> None:
    indices = np.array([0, 2, 1] * 1200, np.int32)
    builder = ModelBuilder()
    x, y = builder.tensor((2, 3), np.int32), builder.tensor((2, 3600), np.int32)
    at = builder.tensor((3600,), np.int32, data=indices)
    builder.operator("GATHER", [x, at], [y], axis=1)
    values = np.arange(6, dtype=np.int32).reshape(2, 3)
    case = oracle.Case(builder.build([x], [y]), (values,))
    assert len(compile_model(case.model, CPU).steps) == 1
    assert differing(case, oracle.Answer((values[:, indices],))) == ""
