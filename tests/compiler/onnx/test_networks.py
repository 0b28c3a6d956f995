"""Whole networks: as onnxruntime quantizes them, and beside the same as .tflite."""

import random

import numpy as np
import pytest

from kiwicha.compiler import compile_model, compile_stages
from kiwicha.compiler.engine.cost.cycles import predict_program
from kiwicha.compiler.onnx.pixels import with_pixels
from kiwicha.gallery.catalogue import find
from kiwicha.sim.reference import executor as reference
from tests.support.models.onnx_of_graph import qdq_model
from tests.support.models.qdq_builder import OnnxCase, QdqBuilder, answers
from tests.support.models.quantized_onnx import quantized_network
from tests.support.requirements import module

NETWORKS = ["resnet18", "mobilenet2", "efficientnet_lite0", "yolov8n"]
MORE_CYCLES = 1.005
"""Of an ONNX model that takes pixels, as the .tflite model does."""
PLANE_BYTES = 2.2
"""Of an image in planes that a cycle brings to pixels, at least."""


def by_day(*names: str) -> list[object]:
    """Give all networks; those not named are for the night."""
    return [
        name if name in names else pytest.param(name, marks=pytest.mark.nightly)
        for name in NETWORKS
    ]


@pytest.mark.parametrize("name", by_day("resnet18", "mobilenet2"))
@pytest.mark.parametrize("kind", ["QInt8", "QUInt8"])
def test_top_1_is_that_of_onnxruntime(name: str, kind: str, tmp_path) -> None:
    types = module("onnxruntime.quantization", "onnxruntime").QuantType
    how = {"activation_type": types[kind], "weight_type": types[kind]}
    how["per_channel"] = kind == "QInt8"
    model, inputs = quantized_network(f"{name}@32,width=0.25", tmp_path, **how)
    program = compile_model(model, "baseline")
    seen = set()
    for values in inputs:
        case = OnnxCase(model, tuple(values.values()))
        results = reference.run(program, list(case.inputs))
        for is_optimized in (False, True):
            for expected, actual in zip(
                answers(case, is_optimized=is_optimized), results, strict=True
            ):
                assert actual.argmax() == expected.argmax()
                assert actual.dtype == np.float32
                seen.add(int(actual.argmax()))
    assert len(seen) > 2


@pytest.mark.slow
@pytest.mark.parametrize("name", by_day("resnet18"))
def test_cycles_are_those_of_the_same_tflite_model(name: str) -> None:
    model = find(f"{name}@64,width=0.5")
    content = model.content()
    planes = qdq_model(content)
    pixels, _ = with_pixels(planes)
    plain, turned, same = (
        predict_program(compile_model(item, "64"))[0] for item in (content, planes, pixels)
    )
    assert same <= MORE_CYCLES * plain
    assert same < turned <= same + 3 * 64 * 64 / PLANE_BYTES


def test_transpositions_between_layers_cancel() -> None:
    model = qdq_model(find("yolov8n@32,width=0.125").content())
    compilation = compile_stages(model, "64")
    names = [operator.name for operator in compilation.file.operators]
    # Of the input, and two of the head that the .tflite model has, too.
    assert names.count("TRANSPOSE") == 3


def test_an_input_that_is_turned_at_once_is_taken_as_it_is() -> None:
    model = QdqBuilder(random.Random(7))
    picture = model.node("Transpose", [model.input(1, 8, 9, 3)], perm=[0, 3, 1, 2])
    weights = model.weights((4, 3, 3, 3), 0)
    features = model.node("Conv", [picture, weights])
    rows = model.node("Transpose", [features], perm=[0, 2, 3, 1])
    case = model.case(model.requantized(rows))
    compilation = compile_stages(case.model, "baseline")
    assert "TRANSPOSE" not in {operator.name for operator in compilation.file.operators}
    (output,) = reference.run(compilation.program, list(case.inputs))
    np.testing.assert_allclose(output.astype(int), answers(case)[0].astype(int), atol=1)
