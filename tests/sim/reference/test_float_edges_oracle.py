"""Models with float32 at their edges, converted by the engine, against TensorFlow Lite Micro."""

import dataclasses
from collections.abc import Callable

import numpy as np
import pytest

from kiwicha.compiler import compile_stages
from kiwicha.contract import configs
from kiwicha.contract.engine import TransferFlag
from kiwicha.contract.program import Kernel
from kiwicha.program.engine_list import read_list
from kiwicha.program.image import Program
from kiwicha.sim.reference import executor as reference
from tests.support.models.tflite_builder import ModelBuilder
from tests.support.oracle import oracle

pytestmark = pytest.mark.slow

Shape = tuple[int, ...]
SHAPES = ((1, 1, 1, 37), (1, 5, 7, 3), (1, 16, 9, 8), (2, 24, 20, 16))
SMALL = dataclasses.replace(configs.ENGINE_CONFIGS["64"], name="64-2k", scratchpad_bytes=2048)
"""In which the larger ones of these tensors must be streamed."""
CONFIGS = (*configs.ENGINE_CONFIGS.values(), SMALL)


@pytest.fixture(autouse=True)
def small_engine(monkeypatch: pytest.MonkeyPatch) -> None:
    """Make the small engine known for the time of a test."""
    monkeypatch.setitem(configs.ALL_CONFIGS, SMALL.name, SMALL)


class _Model:
    """A model under construction, and its inputs' values."""

    def __init__(self, shape: Shape, seed: int) -> None:
        self.shape, self.rng = shape, np.random.default_rng(seed)
        self.builder = ModelBuilder()
        self.inputs: list[int] = []
        self.values: list[np.ndarray] = []

    def number(self) -> int:
        """Add an input in float32."""
        self.inputs.append(self.builder.tensor(self.shape, np.float32))
        steps = self.rng.integers(-300, 300, self.shape) / 2 + self.rng.choice([0, 0.3], self.shape)
        self.values.append((steps * 0.05).astype(np.float32))
        return self.inputs[-1]

    def byte(self) -> int:
        """Add an input in int8."""
        self.inputs.append(self.tensor())
        self.values.append(self.rng.integers(-128, 128, self.shape).astype(np.int8))
        return self.inputs[-1]

    def tensor(self) -> int:
        """Add a tensor of int8 of any scale."""
        scale, point = float(self.rng.uniform(0.02, 0.2)), int(self.rng.integers(-128, 128))
        return self.builder.tensor(self.shape, scale=scale, zero_point=point)

    def add(self, name: str, *inputs: int) -> int:
        """Add an operator."""
        is_float = name == "DEQUANTIZE"
        output = self.builder.tensor(self.shape, np.float32) if is_float else self.tensor()
        self.builder.operator(name, list(inputs), [output])
        return output

    def case(self, *outputs: int) -> oracle.Case:
        """Return the model with some values."""
        return oracle.Case(self.builder.build(self.inputs, list(outputs)), tuple(self.values))


def two_inputs(made: _Model) -> oracle.Case:
    """Give a sum, whose operands and result have tables of their own."""
    first, second = made.add("QUANTIZE", made.number()), made.add("QUANTIZE", made.number())
    return made.case(made.add("DEQUANTIZE", made.add("ADD", first, second)))


def one_input_twice(made: _Model) -> oracle.Case:
    """Give a sum of an input that is quantized to two scales."""
    x = made.number()
    return made.case(made.add("ADD", made.add("QUANTIZE", x), made.add("QUANTIZE", x)))


def bytes_as_well(made: _Model) -> oracle.Case:
    """Give the bytes on both sides of an operator, too."""
    x = made.add("QUANTIZE", made.number())
    y = made.add("HARD_SWISH", x)
    return made.case(x, made.add("DEQUANTIZE", y), y)


def several_readers(made: _Model) -> oracle.Case:
    """Give two results of one input, and both in float32."""
    x = made.add("QUANTIZE", made.number())
    first, second = made.add("RELU", x), made.add("ADD", x, made.byte())
    return made.case(made.add("DEQUANTIZE", first), made.add("DEQUANTIZE", second))


def float_within(made: _Model) -> oracle.Case:
    """Give what was in float32 on its way."""
    y = made.add("DEQUANTIZE", made.add("RELU", made.byte()))
    return made.case(made.add("RELU", made.add("QUANTIZE", y)))


def alone(made: _Model) -> oracle.Case:
    """Give conversions and nothing else."""
    return made.case(made.add("QUANTIZE", made.number()), made.add("DEQUANTIZE", made.byte()))


MAKERS = (two_inputs, one_input_twice, bytes_as_well, several_readers, float_within, alone)


def converted(program: Program) -> int:
    """Return how many transfers of a Program convert."""
    count = 0
    for step in program.steps:
        if step.kernel is Kernel.ENGINE:
            image = program.constants[step.params.image.offset :][: step.params.image.bytes]
            count += sum(
                item.flags == TransferFlag.FLOAT for item in read_list(step.params, image).transfers
            )
    return count


@pytest.mark.parametrize("make", MAKERS, ids=lambda make: make.__name__)
def test_conversions(make: Callable[[_Model], oracle.Case]) -> None:
    cases = [make(_Model(shape, seed)) for seed, shape in enumerate(SHAPES)]
    problems = []
    for case, shape, answer in zip(cases, SHAPES, oracle.ask(cases), strict=True):
        assert answer.outputs is not None, answer.error
        for config in CONFIGS:
            program = compile_stages(case.model, config).program
            found = reference.run(program, case.inputs)
            for expected, actual in zip(answer.outputs, found, strict=True):
                if actual.dtype != expected.dtype or not np.array_equal(actual, expected):
                    problems.append(f"{shape} {config.name}")
            assert converted(program), f"{shape} {config.name} converts nothing in transfers"
            # Only conversions that are alone can be left to the CPU.
            kernels = {step.kernel for step in program.steps}
            assert make is alone or Kernel.QUANTIZE not in kernels
    assert not problems


def test_what_the_converter_cannot_do_is_left_to_the_cpu() -> None:
    made = _Model((1, 20, 20, 8), 3)
    y = made.builder.tensor(made.shape, scale=2e37, zero_point=5)
    made.builder.operator("QUANTIZE", [made.number()], [y])
    made.values = [made.values[0] * np.float32(4e37)]
    case = made.case(y)
    (answer,) = oracle.ask([case])
    assert answer.outputs is not None, answer.error
    compilation = compile_stages(case.model, "64")
    assert [step.kernel for step in compilation.program.steps] == [Kernel.QUANTIZE]
    (found,) = reference.run(compilation.program, case.inputs)
    assert np.array_equal(found, answer.outputs[0])
