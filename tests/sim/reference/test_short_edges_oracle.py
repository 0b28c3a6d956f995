"""Models of int16 with float32 at their edges, against TensorFlow Lite Micro."""

import random

import numpy as np
import pytest

from kiwicha.compiler import compile_model
from kiwicha.firmware.native_library import NATIVE_CONFIG
from kiwicha.interpreter.executors import executor_of
from kiwicha.program.image import Program
from kiwicha.sim.reference import executor as reference
from tests.support.models.tflite_builder import ModelBuilder
from tests.support.oracle import oracle

COUNT = 40


def case(rng: random.Random) -> oracle.Case:
    """Give a model as converters of 16x8 write it, and numbers near halves of its scale."""
    numbers = np.random.default_rng(rng.randrange(2**32))
    model = ModelBuilder()
    shape = rng.randint(1, 3), rng.randint(1, 40)
    scale = rng.choice([rng.uniform(1e-5, 1e-3), 10.0 ** rng.randint(-30, 3)])
    x = model.tensor(shape, np.float32)
    inner = model.tensor(shape, np.int16, scale=scale)
    model.operator("QUANTIZE", [x], [inner])
    last, y_shape = inner, shape
    if rng.random() < 0.5:
        y_shape = shape[0], rng.randint(1, 9)
        data = numbers.integers(-127, 128, (y_shape[1], shape[1])).astype(np.int8)
        weights = model.tensor(data.shape, data=data, scale=0.01)
        last = model.tensor(y_shape, np.int16, scale=scale * rng.uniform(0.5, 20))
        model.operator("FULLY_CONNECTED", [inner, weights], [last])
    y = model.tensor(y_shape, np.float32)
    model.operator("DEQUANTIZE", [last], [y])
    steps = numbers.integers(-80_000, 80_000, shape) / 2 + numbers.choice([0, 0.01], shape)
    with np.errstate(over="ignore", under="ignore"):
        values = (steps * scale).astype(np.float32)
    return oracle.Case(model.build([x], [y]), (values,))


def test_random_models() -> None:
    cases = [case(random.Random(f"edges{k}")) for k in range(COUNT)]
    for number, (one, answer) in enumerate(
        zip(cases, oracle.ask(cases, oracle.MICRO), strict=True)
    ):
        assert answer.outputs is not None, answer.error
        for config in ("simd", "64"):
            program = Program.from_bytes(compile_model(one.model, config).to_bytes())
            (found,) = reference.run(program, one.inputs)
            assert np.array_equal(found, answer.outputs[0]), (number, config)
        native = executor_of("native", compile_model(one.model, NATIVE_CONFIG), 1)
        ((found,),) = native.run([list(one.inputs)])
        assert np.array_equal(found, answer.outputs[0]), number


@pytest.mark.verilator
@pytest.mark.nightly
def test_a_simulated_model() -> None:
    run = pytest.importorskip("kiwicha.sim.verilator.program_run").run_program
    one = case(random.Random("edges1"))
    program = compile_model(one.model, "simd")
    (expected,) = reference.run(program, one.inputs)
    result = run(program, [value.tobytes() for value in one.inputs])
    assert result.outputs == (expected.tobytes(),)
