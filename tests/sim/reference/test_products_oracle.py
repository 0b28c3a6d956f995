"""Products of computed matrices, and attention, against TensorFlow Lite Micro."""

import dataclasses
import random
from collections.abc import Callable

import numpy as np
import pytest

from kiwicha.compiler import compile_model
from kiwicha.compiler.driver import compile_stages
from kiwicha.contract.engine import ComputedListCall, EngineJob
from kiwicha.contract.program import Kernel
from kiwicha.errors import ProgramError
from kiwicha.program.image import Program
from kiwicha.sim.reference import executor as reference
from tests.support.choices import by_day
from tests.support.models import random_models
from tests.support.models.random_layers import RandomModel
from tests.support.oracle import oracle
from tests.support.oracle.oracle import Case

CONFIGS = ("64", "baseline", "simd", "256")
BLOCK = 15


def computed_weights(seed: int) -> Case:
    """Give a FULLY_CONNECTED whose weights are an input of the model, or a function of one."""
    rng = random.Random(f"computed weights{seed}")
    model = RandomModel(rng)
    rows, outputs = (rng.choice([1, 4, 7, rng.randint(1, 30)]) for _ in range(2))
    depth = rng.choice([4, 16, 7, rng.randint(1, 50)])
    x, weights = model.input((rows, depth)), model.input((outputs, depth))
    if rng.random() < 0.5:
        weights = model.unary("RELU", weights)
    model.connected(x, weights, has_bias=rng.random() < 0.7)
    return model.case()


def attention(seed: int) -> Case:
    """Give products of two computed matrices on both sides of a SOFTMAX, with heads."""
    rng = random.Random(f"attention{seed}")
    model = RandomModel(rng)
    batches, tokens = rng.randint(1, 3), rng.randint(2, 12)
    shape = (batches, tokens, rng.choice([4, 8, 5]))
    query, key, value = (model.input(shape) for _ in range(3))
    scores = model.product(query, key, is_first_adjoint=False, is_second_adjoint=True)
    weights = model.softmax(scores)
    mixed = model.product(weights, value, is_first_adjoint=False, is_second_adjoint=False)
    model.elementwise("ADD", mixed, query)
    return model.case()


def larger_product(seed: int) -> Case:
    """Give a product for the engine: of matrices of any size, in batches that may share them."""
    rng = random.Random(f"larger product{seed}")
    model = RandomModel(rng)
    rows, columns = (rng.choice([1, 8, 16, rng.randint(1, 60)]) for _ in range(2))
    depth = rng.choice([8, 32, 150, rng.randint(1, 200), rng.randint(1, 600)])
    batches = rng.choice([(), (3,), (2, 3)])
    shared = rng.choice([batches, batches, tuple(1 for _ in batches)])
    ways = {name: rng.random() < 0.5 for name in ("is_first_adjoint", "is_second_adjoint")}
    first = (depth, rows) if ways["is_first_adjoint"] else (rows, depth)
    second = (columns, depth) if ways["is_second_adjoint"] else (depth, columns)
    x = model.input((*batches, *first))
    other = rng.choice([model.input, model.input, model.constant])((*shared, *second))
    if rng.random() < 0.3:
        other = model.unary("RELU", other)
    z = model.product(x, other, **ways)
    if rng.random() < 0.5:
        z = model.unary("LOGISTIC", z)
    if rng.random() < 0.3:
        model.softmax(z)
    return model.case()


def check(cases: list[Case], config: str, least: int = 200) -> list[Program]:
    """Compare what they give with the interpreter's answers, which are not extremes alone."""
    values: set[int] = set()
    programs = []
    for number, (case, answer) in enumerate(
        zip(cases, oracle.ask(cases, oracle.MICRO), strict=True)
    ):
        assert answer.outputs is not None, answer.error
        program = Program.from_bytes(compile_model(case.model, config).to_bytes())
        programs.append(program)
        for got, wanted in zip(reference.run(program, case.inputs), answer.outputs, strict=True):
            np.testing.assert_array_equal(got, wanted, err_msg=str(number))
            values |= {int(value) for value in wanted.flat}
    assert len(values) > least
    return programs


@pytest.mark.parametrize("config", by_day(*CONFIGS))
@pytest.mark.parametrize("make", [computed_weights, attention])
def test_products(make: Callable[[int], Case], config: str) -> None:
    check([make(seed) for seed in range(BLOCK)], config, least=100)


@pytest.mark.parametrize("config", by_day("64", "32", "128", "256", "64-8k-r4", "64-depthwise"))
def test_larger_products(config: str) -> None:
    cases = [larger_product(seed) for seed in range(BLOCK)]
    programs = check(cases, config)
    lists = [any(step.kernel is Kernel.COMPUTED_LIST for step in p.steps) for p in programs]
    assert BLOCK / 3 < sum(lists)
    on_cpu = sum(
        any(step.kernel is Kernel.SIMD_MATRIX_PRODUCT for step in p.steps) for p in programs
    )
    # The smallest scratchpad does not hold every group of weights.
    assert on_cpu <= 2 * ("8k" in config)


@pytest.mark.nightly
@pytest.mark.parametrize("config", by_day(*CONFIGS))
def test_batches(config: str) -> None:
    check([random_models.single_operator("BATCH_MATMUL", seed) for seed in range(BLOCK)], config)


def test_a_constant_matrix_is_for_the_engine() -> None:
    model = RandomModel(random.Random(0))
    second = model.constant((1, 32, 16))
    x = model.input((2, 24, 32))
    model.product(x, second, is_first_adjoint=False, is_second_adjoint=False)
    case = model.case()
    check([case], "64", least=50)
    stages = compile_stages(case.model, "64")
    assert [step.kernel for step in stages.program.steps] == [Kernel.ENGINE]


def test_a_list_in_the_arena_is_that_of_the_program() -> None:
    case = larger_product(1)
    program = compile_model(case.model, "64")
    (call,) = (s.params for s in program.steps if isinstance(s.params, ComputedListCall))
    constants = bytearray(program.constants)
    # A job's layer has no effect; here it differs from what is brought to the arena.
    place = len(constants)
    image = bytearray(constants[call.image.offset :][: call.image.bytes])
    image[EngineJob.size_bytes() - 4] ^= 1
    other = dataclasses.replace(call, image=dataclasses.replace(call.image, offset=place))
    steps = tuple(
        dataclasses.replace(s, params=other) if s.params is call else s for s in program.steps
    )
    changed = dataclasses.replace(program, constants=bytes(constants + image), steps=steps)
    with pytest.raises(ProgramError, match="a list in the arena must begin as in the Program"):
        reference.run(changed, case.inputs)
