"""The bundled demo model: its layers, its answers and what is said about it."""

import hashlib
import json
from collections.abc import Callable
from importlib import resources
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tflite
from PIL import Image
from tflite_micro import runtime

from tests.support.requirements import REPOSITORY

DATA = resources.files("kiwicha.data")
OPTIONS: dict[int, tuple[Any, tuple[str, ...]]] = {
    tflite.BuiltinOptions.Conv2DOptions: (
        tflite.Conv2DOptions,
        ("Padding", "StrideH", "StrideW", "DilationHFactor", "DilationWFactor",
         "FusedActivationFunction"),
    ),
    tflite.BuiltinOptions.DepthwiseConv2DOptions: (
        tflite.DepthwiseConv2DOptions,
        ("Padding", "StrideH", "StrideW", "DilationHFactor", "DilationWFactor",
         "FusedActivationFunction", "DepthMultiplier"),
    ),
    tflite.BuiltinOptions.Pool2DOptions: (
        tflite.Pool2DOptions,
        ("Padding", "StrideH", "StrideW", "FilterHeight", "FilterWidth",
         "FusedActivationFunction"),
    ),
    tflite.BuiltinOptions.SoftmaxOptions: (tflite.SoftmaxOptions, ("Beta",)),
}  # fmt: skip


def read_bundled(name: str) -> bytes:
    return DATA.joinpath(name).read_bytes()


def read_labels() -> dict[str, Any]:
    labels: dict[str, Any] = json.loads(read_bundled("face_detect.json"))
    return labels


def describe_options(operator: Any) -> dict[str, Any]:
    kind = operator.BuiltinOptionsType()
    if kind not in OPTIONS:
        return {}
    reader, fields = OPTIONS[kind]
    options, table = reader(), operator.BuiltinOptions()
    options.Init(table.Bytes, table.Pos)
    return {field: getattr(options, field)() for field in fields}


def describe_tensor(graph: Any, index: int, *, with_axis: bool) -> tuple[Any, ...]:
    tensor = graph.Tensors(index)
    quantization = tensor.Quantization()
    scales = quantization.ScaleLength() if quantization else 0
    axis = quantization.QuantizedDimension() if with_axis and scales > 1 else None
    return tuple(tensor.ShapeAsNumpy().tolist()), tensor.Type(), scales, axis


def describe_model(content: bytes) -> list[tuple[Any, ...]]:
    """List operators with options, shapes, types, number of scales and the weights' axis."""
    model = tflite.Model.GetRootAsModel(content, 0)
    graph = model.Subgraphs(0)
    described = []
    for number in range(graph.OperatorsLength()):
        operator = graph.Operators(number)
        code = model.OperatorCodes(operator.OpcodeIndex())
        inputs = operator.InputsAsNumpy().tolist()
        described.append((
            max(code.BuiltinCode(), code.DeprecatedBuiltinCode()),
            describe_options(operator),
            [describe_tensor(graph, i, with_axis=at == 1) for at, i in enumerate(inputs)],
            [describe_tensor(graph, i, with_axis=False) for i in operator.OutputsAsNumpy()],
        ))
    return described


def to_tensor(picture: str) -> np.ndarray[Any, np.dtype[np.int8]]:
    """Grey, 96 x 96, minus 128."""
    with DATA.joinpath(picture).open("rb") as file, Image.open(file) as image:
        grey = image.convert("L").resize((96, 96), Image.Resampling.BILINEAR)
    return (np.asarray(grey, np.int16) - 128).astype(np.int8)[None, :, :, None]


def test_topology_is_that_of_person_detect(zoo_model: Callable[[str], Path]) -> None:
    ours = describe_model(read_bundled("face_detect.tflite"))
    theirs = describe_model(zoo_model("person_detect").read_bytes())
    assert len(ours) == 31
    for number, (one, other) in enumerate(zip(ours, theirs, strict=True)):
        assert one == other, f"operator {number}"


@pytest.mark.parametrize(
    ("picture", "answer"), [("astronaut.png", "face"), ("shuttle.png", "no face")]
)
def test_answers_on_the_bundled_pictures(picture: str, answer: str) -> None:
    interpreter = runtime.Interpreter.from_bytes(read_bundled("face_detect.tflite"))
    interpreter.set_input(to_tensor(picture), 0)
    interpreter.invoke()
    scores = interpreter.get_output(0)[0]
    assert read_labels()["labels"][int(np.argmax(scores))] == answer


def test_labels_describe_the_model() -> None:
    labels = read_labels()
    interpreter = runtime.Interpreter.from_bytes(read_bundled(labels["model"]))
    source, answer = interpreter.get_input_details(0), interpreter.get_output_details(0)
    assert labels["input"]["shape"] == source["shape"].tolist()
    assert labels["input"]["dtype"] == np.dtype(source["dtype"]).name
    (scale,) = source["quantization_parameters"]["scales"]
    (zero_point,) = source["quantization_parameters"]["zero_points"]
    assert np.float32(labels["input"]["scale"]) == np.float32(scale)
    assert labels["input"]["zero_point"] == zero_point
    assert answer["shape"].tolist() == [1, len(labels["labels"])]


def test_documentation_names_the_bundled_files() -> None:
    text = (REPOSITORY / "docs" / "demo-model.md").read_text(encoding="utf-8")
    for name in ("face_detect.tflite", "astronaut.png", "shuttle.png"):
        digest = hashlib.sha256(read_bundled(name)).hexdigest()
        assert f"| `{name}` | `{digest}` |" in text
