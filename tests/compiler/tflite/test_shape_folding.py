"""Arithmetic on shapes is done at compile time, as the interpreter would do it."""

from typing import Any

import numpy as np
import pytest

from kiwicha.compiler import compile_model, compile_stages
from kiwicha.compiler.tflite.reader import read
from kiwicha.compiler.tflite.shape_folding import fold_shapes
from kiwicha.errors import ModelError, UnsupportedModelError
from kiwicha.sim.reference import executor as reference
from tests.support.models.tflite_builder import ModelBuilder
from tests.support.oracle import oracle

SHAPE = (2, 4, 6, 3)
BATCH, ROWS, COLUMNS, CHANNELS = SHAPE


class Shapes(ModelBuilder):
    """A builder with the shape of its input, and operators on it."""

    def __init__(self, dtype: Any = np.int32) -> None:
        super().__init__()
        self._dtype = dtype
        self.x = self.tensor(SHAPE, scale=0.5)
        out_type = {np.int32: 2, np.int64: 4}[dtype]
        self.shape = self.result("SHAPE", [self.x], (4,), outType=out_type)

    def result(self, code: str, inputs: list[int], shape: tuple[int, ...], **options: Any) -> int:
        """Add an operator that gives integers."""
        output = self.tensor(shape, self._dtype)
        self.operator(code, inputs, [output], **options)
        return output

    def constant(self, *values: int, shape: tuple[int, ...] | None = None) -> int:
        """Add integers."""
        array = np.array(values, self._dtype).reshape((len(values),) if shape is None else shape)
        return self.tensor(array.shape, self._dtype, data=array)

    def dimension(self, index: int) -> int:
        """Give one dimension as a scalar."""
        bounds = [self.constant(index), self.constant(index + 1), self.constant(1)]
        return self.result("STRIDED_SLICE", [self.shape, *bounds], (), shrinkAxisMask=1)

    def packed(self, *inputs: int) -> int:
        """Join scalars."""
        return self.result("PACK", [*inputs], (len(inputs),), valuesCount=len(inputs))

    def reshaped(self, shape: int, output: tuple[int, ...]) -> bytes:
        """Give the model that reshapes its input."""
        y = self.tensor(output, scale=0.5)
        self.operator("RESHAPE", [self.x, shape], [y])
        return self.build([self.x], [y])


def flatten(dtype: Any = np.int32) -> bytes:
    """Give what Keras' Flatten becomes."""
    model = Shapes(dtype)
    size = model.packed(model.dimension(0), model.constant(-1, shape=()))
    return model.reshaped(size, (BATCH, ROWS * COLUMNS * CHANNELS))


def joined() -> bytes:
    model = Shapes()
    bounds = [model.constant(3), model.constant(0), model.constant(-2)]
    # Dimensions 3 and 1.
    ends = model.result("STRIDED_SLICE", [model.shape, *bounds], (2,))
    size = model.result("CONCATENATION", [ends, model.constant(COLUMNS, BATCH)], (4,), axis=-1)
    return model.reshaped(size, (CHANNELS, ROWS, COLUMNS, BATCH))


def computed(code: str, factor: int, value: int) -> bytes:
    """Give a reshape to ``value`` rows, which an operator makes of the number of rows."""
    model = Shapes()
    rows = model.result(code, [model.dimension(1), model.constant(factor, shape=())], ())
    size = model.packed(rows, model.constant(-1, shape=()))
    return model.reshaped(size, (value, np.prod(SHAPE) // value))


MODELS = {
    "flatten": (flatten(), [BATCH, -1]),
    "flatten of 64 bits": (flatten(np.int64), [BATCH, -1]),
    "joined": (joined(), [CHANNELS, ROWS, COLUMNS, BATCH]),
    "ADD": (computed("ADD", 5, ROWS + 5), [ROWS + 5, -1]),
    "SUB": (computed("SUB", 1, ROWS - 1), [ROWS - 1, -1]),
    "MUL": (computed("MUL", 3, ROWS * 3), [ROWS * 3, -1]),
}
"""Models, and the shape that they compute."""


@pytest.mark.parametrize("name", MODELS)
def test_gives_what_the_operators_would(name: str) -> None:
    model, shape = MODELS[name]
    graph = fold_shapes(read(model))
    assert graph.input(graph.operators[-1], 1).integers() == shape
    assert all(graph.is_done(operator) for operator in graph.operators[:-1])
    # A file may not have an operator that writes a constant; what is folded may.
    graph.verify(is_folded=True)
    with pytest.raises(ModelError, match="must be written only once"):
        graph.verify()


@pytest.mark.parametrize("config", ["simd", "64"])
# The interpreter slices and reshapes by int32 only.
@pytest.mark.parametrize("name", sorted(MODELS.keys() - {"flatten of 64 bits"}))
def test_equals_the_interpreter(name: str, config: str) -> None:
    values = np.arange(np.prod(SHAPE), dtype=np.int8).reshape(SHAPE)
    model, _ = MODELS[name]
    (answer,) = oracle.ask([oracle.Case(model, (values,))], oracle.LITERT)
    assert answer.outputs is not None, answer.error
    (got,) = reference.run(compile_model(model, config), [values])
    np.testing.assert_array_equal(got, answer.outputs[0])


def test_a_tensor_whose_shape_is_read_is_still_one_operators_own() -> None:
    builder = ModelBuilder()
    x = builder.tensor((1, 8, 8, 8), scale=0.5)
    amounts = builder.tensor(
        (4, 2), np.int32, data=np.array([[0, 0], [1, 1], [1, 1], [0, 0]], np.int32)
    )
    padded = builder.tensor((1, 10, 10, 8), scale=0.5)
    builder.operator("PAD", [x, amounts], [padded])
    size = builder.tensor((4,), np.int32)
    builder.operator("SHAPE", [padded], [size], outType=2)
    y = builder.tensor((1, 8, 8, 8), scale=0.5)
    w = builder.tensor((8, 3, 3, 8), scale=0.5, data=np.ones((8, 3, 3, 8), np.int8))
    builder.operator("CONV_2D", [padded, w], [y], padding=1, strideH=1, strideW=1)
    stages = compile_stages(builder.build([x], [y]), "64")
    # The padding became that of the convolution.
    assert not stages.network.layers[0].calls
    assert [step.kernel.name for step in stages.program.steps] == ["ENGINE"]


def refused(model: bytes, words: str) -> None:
    with pytest.raises(UnsupportedModelError, match=words):
        compile_model(model, "simd")


def test_shape_of_unknown_size_is_refused() -> None:
    builder = ModelBuilder()
    x = builder.tensor((1, 4, 4, 2), scale=0.5, shape_signature=(1, -1, 4, 2))
    size = builder.tensor((4,), np.int32)
    builder.operator("SHAPE", [x], [size])
    y = builder.tensor((1, 4, 4, 2), scale=0.5)
    builder.operator("RESHAPE", [x, size], [y])
    refused(builder.build([x], [y]), "SHAPE #0: inputs must be constants")


def test_shape_as_an_output_is_refused() -> None:
    model = Shapes()
    refused(model.build([model.x], [model.shape]), "SHAPE #0: inputs must be constants")


@pytest.mark.parametrize("position", [-1, 4])
def test_slices_beyond_a_shape_are_refused(position: int) -> None:
    model = Shapes()
    bounds = [model.constant(position), model.constant(position + 1), model.constant(1)]
    size = model.result("STRIDED_SLICE", [model.shape, *bounds], (1,))
    wrong = model.result("CONCATENATION", [size, model.constant(-1)], (2,))
    refused(model.reshaped(wrong, (3, 48)), "STRIDED_SLICE #1")


def test_sizes_that_contradict_each_other_are_refused() -> None:
    model = Shapes()
    size = model.packed(model.dimension(0), model.constant(1, 1))
    refused(model.reshaped(size, (2, 72)), "PACK #2")
