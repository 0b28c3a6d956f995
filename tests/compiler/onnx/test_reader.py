"""Reading .onnx files: their edges, what is refused, and what helps."""

import random
import re
import subprocess
import sys
from typing import Any

import numpy as np
import pytest

from kiwicha.compiler import compile_model, compile_stages, read, require_supported
from kiwicha.compiler.onnx import model as onnx_model
from kiwicha.compiler.onnx.container import is_onnx
from kiwicha.compiler.onnx.remedies import QUANTIZE
from kiwicha.errors import ModelError, ToolError, UnsupportedModelError
from kiwicha.interpreter.interpreter import Interpreter
from kiwicha.sim.reference import executor as reference
from tests.support.models import random_onnx
from tests.support.models.onnx_of_graph import float_model
from tests.support.models.qdq_builder import OnnxCase, QdqBuilder, answers
from tests.support.models.tflite_builder import ModelBuilder
from tests.support.requirements import module


def some_model(seed: int = 1) -> OnnxCase:
    return random_onnx.single_operator("Conv", seed)


def edited(case: OnnxCase) -> Any:
    """Give a model to change; ``SerializeToString`` gives its bytes."""
    return module("onnx", "onnx").load_model_from_string(case.model)


def refusal(model: bytes) -> UnsupportedModelError:
    with pytest.raises(UnsupportedModelError) as caught:
        require_supported(model)
    return caught.value


def tflite_relu() -> bytes:
    builder = ModelBuilder()
    x, y = (builder.tensor((1, 4, 4, 2), scale=0.5, zero_point=0) for _ in range(2))
    weights = builder.tensor((2, 1, 1, 2), scale=0.1, data=np.ones((2, 1, 1, 2)))
    builder.operator("CONV_2D", [x, weights], [y], strideW=1, strideH=1)
    return builder.build([x], [y])


def test_formats_are_known_by_their_content() -> None:
    assert is_onnx(some_model().model)
    for other in (
        tflite_relu(),
        b"",
        b"\x08",
        b"\x08\x09",
        b"no model",
        bytes(64),
        b"\x89PNG\r\n\x1a\n",
    ):
        assert not is_onnx(other)


def test_a_damaged_file_is_refused_as_one() -> None:
    content = some_model().model
    texts = set()
    for length in range(1, len(content)):
        try:
            read(content[:length])
        except ModelError as error:
            texts.add(re.sub(r"[:(,].*", "", str(error)))
    assert "the file must be a whole .onnx model" in texts


def test_the_package_is_named_where_it_is_missing(monkeypatch) -> None:
    def missing(name: str) -> Any:
        raise ImportError(name)

    content = some_model().model
    monkeypatch.setattr(onnx_model.importlib, "import_module", missing)
    with pytest.raises(ToolError, match=re.escape("pip install 'kiwicha[onnx]'")):
        read(content)


def test_a_float_model_is_refused_with_the_lines_that_quantize_it() -> None:
    error = refusal(float_model(tflite_relu()))
    text = error.text()
    assert "operators must work on quantized numbers, not float32" in text
    assert all(line in text for line in QUANTIZE)
    assert len(QUANTIZE) == 3


READER = """
import numpy as np
from onnxruntime.quantization import CalibrationDataReader

class Reader(CalibrationDataReader):
    values = iter([{"i0": np.ones((1, 2, 4, 4), np.float32)}])

    def get_next(self):
        return next(self.values, None)

reader = Reader()
"""


@pytest.mark.slow
def test_the_lines_that_quantize_a_model_work(tmp_path) -> None:
    module("onnxruntime", "onnxruntime")
    (tmp_path / "float.onnx").write_bytes(float_model(tflite_relu()))
    script = "\n".join([READER, *QUANTIZE])
    subprocess.run([sys.executable, "-c", script], cwd=tmp_path, check=True, timeout=120)
    require_supported((tmp_path / "int8.onnx").read_bytes())


def test_an_operator_without_quantization_is_named() -> None:
    model = QdqBuilder(random.Random(3))
    x = model.input(1, 4, 5, 5)
    y = model.node("Conv", [x, model.weights((4, 4, 1, 1), 0)])
    z = model.node("Sigmoid", [model.node("HardSwish", [y])])
    error = refusal(model.case(model.requantized(z)).model)
    (violation,) = error.violations
    assert violation.name == "HardSwish"
    assert "must be quantized" in violation.text
    assert "op_types_to_quantize" in error.text()


def test_weights_and_operators_that_are_not_supported_are_all_named() -> None:
    model = QdqBuilder(random.Random(4))
    x = model.input(1, 4, 5, 5)
    weights = model.constant(np.ones((4, 4, 1, 1), np.float32))
    first = model.requantized(model.node("Conv", [x, weights]))
    second = model.requantized(model.node("LRN", [x], size=3))
    error = refusal(model.case(first, second).model)
    found = {violation.name: violation.text for violation in error.violations}
    assert found.keys() == {"Conv", "LRN"}
    assert found["Conv"].startswith("weights must be quantized, not float32")
    assert "replace LRN by operators of docs/supported.md" in error.text()


def test_an_unknown_size_is_refused_with_the_tool_that_fixes_it() -> None:
    model = edited(some_model())
    dimensions = model.graph.input[0].type.tensor_type.shape.dim
    dimensions[2].dim_param = "height"
    error = refusal(model.SerializeToString())
    assert "model input must have a fixed shape" in error.text()
    assert "make_dynamic_shape_fixed" in error.text()


def test_an_unknown_batch_is_1() -> None:
    model = edited(some_model(2))
    dimensions = model.graph.input[0].type.tensor_type.shape.dim
    dimensions[0].dim_param = "batch"
    tensor = read(model.SerializeToString()).tensors[0]
    assert (tensor.shape[0], tensor.shape_signature[0]) == (1, -1)


def test_weights_in_another_file_are_refused() -> None:
    model = edited(some_model())
    tensor = model.graph.initializer[0]
    tensor.data_location = module("onnx", "onnx").TensorProto.EXTERNAL
    with pytest.raises(ModelError, match="weights must lie in the file, not in another one"):
        read(model.SerializeToString())


def test_a_scale_at_the_edge_that_is_none_is_refused() -> None:
    """Of bytes that are the model's input, which the DequantizeLinear behind them explains."""
    for seed in range(1, 40):
        model = edited(some_model(seed))
        names = {item.name for item in model.graph.input}
        readers = [
            node
            for node in model.graph.node
            if node.op_type == "DequantizeLinear" and node.input[0] in names
        ]
        if readers:
            break
    (scale,) = [item for item in model.graph.initializer if item.name == readers[0].input[1]]
    zero = np.zeros(list(scale.dims), np.float32)
    scale.CopyFrom(module("onnx.numpy_helper", "onnx").from_array(zero, scale.name))
    error = refusal(model.SerializeToString())
    assert "scale must be finite and more than 0" in str(error)


def test_a_stride_of_0_is_refused() -> None:
    model = edited(random_onnx.single_operator("MaxPool", 1))
    (pool,) = [node for node in model.graph.node if node.op_type == "MaxPool"]
    for attribute in pool.attribute:
        if attribute.name == "strides":
            attribute.ints[:] = [0] * len(attribute.ints)
            break
    else:
        pool.attribute.append(module("onnx.helper", "onnx").make_attribute("strides", [0, 0]))
    with pytest.raises(ModelError, match=r"MaxPool .*: attributes and operands must fit"):
        read(model.SerializeToString())


@pytest.mark.parametrize("kind", [np.int8, np.uint8])
def test_what_only_moves_bytes_keeps_them(kind) -> None:
    model = QdqBuilder(random.Random(5))
    model.kind = kind
    x = model.input(1, 2, 3, 4)
    scale = model.last_scale
    case = model.case(model.requantized(model.node("Identity", [x]), *scale))
    (output,) = reference.run(compile_model(case.model, "baseline"), list(case.inputs))
    assert output.dtype == kind
    np.testing.assert_array_equal(output, case.inputs[0])


def test_weights_with_a_zero_point_for_each_channel_are_refused() -> None:
    model = QdqBuilder(random.Random(6))
    x = model.input(1, 2, 3, 3)
    values = model.constant(np.array([0, 255] * 2, np.uint8).reshape(2, 2, 1, 1))
    scales = model.constant(np.array([0.1, 0.2], np.float32))
    zeros = model.constant(np.array([3, 250], np.uint8))
    weights = model.node("DequantizeLinear", [values, scales, zeros], axis=0)
    error = refusal(model.case(model.requantized(model.node("Conv", [x, weights]))).model)
    assert "WeightSymmetric" in error.text()


def test_the_interpreter_takes_onnx_models() -> None:
    case = some_model(2)
    interpreter = Interpreter(model_content=case.model)
    interpreter.allocate_tensors()
    interpreter.set_tensor(interpreter.get_input_details()[0]["index"], case.inputs[0])
    interpreter.invoke()
    output = interpreter.get_output_details()[0]
    expected = answers(case)[0].astype(int)
    actual = interpreter.get_tensor(output["index"]).astype(int)
    assert np.abs(actual - expected).max() <= 1
    assert interpreter.get_signature_list() == {}


def test_compiling_twice_gives_the_same_bytes() -> None:
    content = some_model().model
    first, second = (compile_stages(content, "64").program.to_bytes() for _ in range(2))
    assert first == second
