"""ONNX models that take pixels in place of planes."""

import random
from pathlib import Path

import numpy as np
import pytest

from kiwicha.compiler import compile_model, compile_stages
from kiwicha.compiler.onnx.pixels import with_pixels
from kiwicha.errors import KiwichaError, ModelError, UsageError
from kiwicha.gallery.catalogue import find
from kiwicha.sim.reference import executor as reference
from tests.support.models.qdq_builder import OnnxCase, QdqBuilder, answers
from tests.support.models.quantized_onnx import quantized_network


def _case(seed: int) -> OnnxCase:
    model = QdqBuilder(random.Random(seed))
    picture = model.input(1, 3, 9, 8)
    features = model.node("Conv", [picture, model.weights((8, 3, 3, 3), 0)], strides=[2, 2])
    return model.case(model.requantized(features))


@pytest.mark.parametrize("seed", range(4))
def test_answers_are_those_of_planes(seed: int) -> None:
    case = _case(seed)
    content, (name,) = with_pixels(case.model)
    turned = OnnxCase(content, tuple(item.transpose(0, 2, 3, 1) for item in case.inputs))
    np.testing.assert_array_equal(answers(turned)[0], answers(case)[0])
    program = compile_model(content, "64")
    assert program.inputs[0].name == name
    assert program.inputs[0].shape == (1, 9, 8, 3)
    (planes,) = reference.run(compile_model(case.model, "64"), list(case.inputs))
    (pixels,) = reference.run(program, list(turned.inputs))
    np.testing.assert_array_equal(pixels, planes)
    # The output is still one of planes.
    names = [item.name for item in compile_stages(content, "64").file.operators]
    assert names.count("TRANSPOSE") == 1


def test_float_pixels_are_quantized_and_not_moved(tmp_path: Path) -> None:
    model, _ = quantized_network("mobilenet2@32,width=0.25", tmp_path)
    names = [
        [item.name for item in compile_stages(content, "64").file.operators]
        for content in (model, with_pixels(model)[0])
    ]
    assert [item.count("TRANSPOSE") for item in names] == [1, 0]


def _refusal(raw: bytes) -> KiwichaError:
    with pytest.raises(KiwichaError) as caught:
        with_pixels(raw)
    return caught.value


def test_what_has_no_planes_is_refused() -> None:
    model = QdqBuilder(random.Random(1))
    case = model.case(model.requantized(model.node("Relu", [model.input(1, 1, 9, 8)])))
    error = _refusal(case.model)
    assert isinstance(error, UsageError)
    assert str(error) == (
        "model must have an input of four dimensions, NCHW, with several channels"
    )
    error = _refusal(find("mlp_mixer@32,width=0.125").content())
    assert str(error) == "model must be an .onnx file: images of .tflite files are pixels"
    assert isinstance(_refusal(_case(0).model[:-40]), ModelError)
