"""Arithmetic on shapes is done at compile time, as the interpreter would do it."""

from typing import Any

import numpy as np
import pytest

from kiwicha.compiler import compile_model, compile_stages
from kiwicha.compiler.tflite.folded_operations import FOLDED
from kiwicha.compiler.tflite.graph import Graph
from kiwicha.compiler.tflite.reader import read
from kiwicha.compiler.tflite.shape_folding import fold_shapes
from kiwicha.compiler.tflite.tensor import TensorType
from kiwicha.errors import ModelError, UnsupportedModelError
from kiwicha.sim.reference import executor as reference
from tests.support.models import random_glue
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


FOLDED_TYPES = {TensorType.INT32, TensorType.INT64, TensorType.BOOL}


def is_folded(graph: Graph) -> bool:
    """Whether all operands of the first operator have types that are folded."""
    operator = graph.operators[0]
    return {graph.tensors[i].type for i in (*operator.inputs, *operator.outputs)} <= FOLDED_TYPES


@pytest.mark.parametrize("operator", sorted({*random_glue.OPERATORS} & {*FOLDED}))
def test_constants_become_what_the_interpreters_make_of_them(operator: str) -> None:
    graphs = {seed: read(random_glue.on_constants(operator, seed)) for seed in range(25)}
    graphs = {seed: graph for seed, graph in graphs.items() if is_folded(graph)}
    assert len(graphs) >= 3
    cases = [random_glue.single_operator(operator, seed) for seed in graphs]
    for (seed, graph), answer in zip(graphs.items(), oracle.ask(cases), strict=True):
        assert answer.outputs is not None, answer.error
        found = graph.output(graph.operators[0]).index
        data = fold_shapes(graph).tensors[found].data
        has_batches = operator == "GATHER" and graph.operators[0].options.batch_dims
        assert (data is None) == bool(has_batches), seed
        assert data is None or data.tobytes() == answer.outputs[0].tobytes(), seed


def of_constants(code: str, output: np.ndarray[Any, Any], *inputs: Any, **options: Any) -> bytes:
    """Give a model of one operator on constants, whose result is added to an input."""
    builder = ModelBuilder()
    operands = [builder.tensor(np.shape(x), x.dtype, data=x) for x in inputs]
    made = builder.tensor(output.shape, output.dtype)
    builder.operator(code, operands, [made], **options)
    x, y = builder.tensor(output.shape, output.dtype), builder.tensor(output.shape, output.dtype)
    builder.operator("SUB", [x, made], [y])
    return builder.build([x], [y])


def words(*values: int) -> np.ndarray[Any, Any]:
    return np.array(values, np.int32)


ROWS = np.arange(6, dtype=np.int32).reshape(2, 3)


@pytest.mark.parametrize(
    ("code", "output", "inputs"),
    [
        ("RANGE", words(2, 5, 8), (np.int32(2), np.int32(9), np.int32(3))),
        ("BROADCAST_ARGS", words(4, 2, 3), (words(4, 1, 3), words(2, 1))),
        ("BROADCAST_TO", np.full((2, 3), 7, np.int32), (words(7), words(2, 3))),
        ("RANK", np.array(2, np.int32), (ROWS,)),
        ("ZEROS_LIKE", np.zeros((2, 3), np.int32), (ROWS,)),
        ("REDUCE_PROD", np.array(6, np.int32), (words(1, 2, 3), words(0))),
        ("SUM", words(3, 12), (ROWS, words(1))),
        ("REDUCE_MAX", words(3, 4, 5), (ROWS, words(0))),
        ("SLICE", words(4, 5).reshape(1, 2), (ROWS, words(1, 1), words(1, -1))),
        ("SQUEEZE", words(5), (words(5).reshape(1, 1),)),
        ("EXPAND_DIMS", words(5).reshape(1, 1), (words(5), np.int32(0))),
    ],
)
def test_other_operators_on_constants(
    code: str, output: np.ndarray[Any, Any], inputs: tuple[Any, ...]
) -> None:
    program = compile_model(of_constants(code, output, *inputs), "simd")
    x = np.asarray(np.arange(output.size, dtype=np.int32).reshape(output.shape) * 100)
    (difference,) = reference.run(program, [x])
    np.testing.assert_array_equal(difference, x - output)
    assert len(program.steps) == 1


def test_a_division_by_0_is_left_to_the_device() -> None:
    program = compile_model(of_constants("DIV", words(0), words(1), words(0)), "simd")
    assert len(program.steps) == 2
