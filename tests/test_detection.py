"""Boxes of detectors against LiteRT, of random models and of a photograph."""

from typing import Any

import numpy as np
import pytest
from flatbuffers import flexbuffers
from PIL import Image
from support import oracle, requirements
from support.tflite_builder import ModelBuilder

from kiwicha import Interpreter
from kiwicha.compiler import compile_stages
from kiwicha.errors import ModelError, UnsupportedModelError
from kiwicha.isa_program import DType

OPTIONS: dict[str, Any] = {
    "max_detections": 8,
    "max_classes_per_detection": 1,
    "num_classes": 5,
    "nms_score_threshold": 0.2,
    "nms_iou_threshold": 0.4,
    "y_scale": 10.0,
    "x_scale": 10.0,
    "h_scale": 5.0,
    "w_scale": 5.0,
}
BOXES = 40


def detector(seed: int, options: bytes | None = None, **changes: Any) -> oracle.Case:
    """Give a model that makes boxes from its two inputs."""
    rng = np.random.default_rng(seed)
    settings = OPTIONS | changes
    builder = ModelBuilder()
    scores = settings["num_classes"] + int(rng.integers(0, 2))
    shapes = (1, BOXES, 4), (1, BOXES, scores)
    parameters = {"scale": 0.08, "zero_point": 120}, {"scale": 1 / 256, "zero_point": 0}
    pairs = [
        (
            builder.tensor((1, shape[1] * shape[2]), np.uint8, **quantization),
            builder.tensor(shape, np.uint8, **quantization),
        )
        for shape, quantization in zip(shapes, parameters, strict=True)
    ]
    for (source, target), shape in zip(pairs, shapes, strict=True):
        builder.operator("RESHAPE", [source], [target], newShape=np.array(shape, np.int32))
    anchors = rng.integers(20, 250, (BOXES, 4)).astype(np.uint8)
    constant = builder.tensor((BOXES, 4), np.uint8, scale=0.006, zero_point=3, data=anchors)
    outputs = [builder.tensor((), np.float32) for _ in range(4)]
    operands = [*(target for _, target in pairs), constant]
    builder.operator("CUSTOM:TFLite_Detection_PostProcess", operands, outputs, **settings)
    if options is not None:
        builder._operators[-1].customOptions = np.frombuffer(options, np.uint8)
    # Few different scores: the order of equal ones counts, too.
    values = rng.integers(0, 256, shapes[0]), rng.integers(0, 12, shapes[1]) * 23
    model = builder.build([source for source, _ in pairs], outputs)
    return oracle.Case(model, tuple(v.astype(np.uint8).reshape(1, -1) for v in values))


def interpreted(model: bytes, inputs: tuple[Any, ...], **options: Any) -> list[Any]:
    interpreter = Interpreter(model_content=model, **options)
    interpreter.allocate_tensors()
    for details, value in zip(interpreter.get_input_details(), inputs, strict=True):
        interpreter.set_tensor(details["index"], value)
    interpreter.invoke()
    details = interpreter.get_output_details()
    assert [d["dtype"] for d in details] == [np.float32] * 4
    return [interpreter.get_tensor(d["index"]) for d in details]


@pytest.mark.parametrize("threshold", [1e-8, 0.2, 0.99])
def test_random_detectors(threshold: float) -> None:
    cases = [detector(seed, nms_score_threshold=threshold) for seed in range(12)]
    for case, answer in zip(cases, oracle.ask(cases, oracle.LITERT), strict=True):
        assert answer.outputs is not None, answer.error
        found = interpreted(case.model, case.inputs)
        assert [a.shape for a in found] == [a.shape for a in answer.outputs]
        assert found[3] == answer.outputs[3]
        # The interpreter leaves what is behind the last box as it was.
        count = int(found[3][0])
        for expected, actual in zip(answer.outputs[:3], found[:3], strict=True):
            np.testing.assert_allclose(actual[0, :count], expected[0, :count], rtol=0, atol=1e-6)
            assert not actual[0, count:].any()


def test_outputs_are_the_models_tensors() -> None:
    interpreter = Interpreter(model_content=detector(0).model)
    found = interpreter.get_output_details()
    every = {details["index"]: details["name"] for details in interpreter.get_tensor_details()}
    assert [details["name"] for details in found] == [every[details["index"]] for details in found]
    assert len({details["index"] for details in found}) == 4


def test_a_program_gives_what_the_step_reads() -> None:
    compilation = compile_stages(detector(0).model, "baseline")
    assert compilation.detection is not None
    assert [t.dtype for t in compilation.program.outputs] == [DType.UINT8] * 2
    assert [t.shape[1] for t in compilation.program.outputs] == [BOXES] * 2


def test_other_detectors_are_refused() -> None:
    for changes in (
        {"use_regular_nms": True},
        {"num_classes": 9},
        {"nms_iou_threshold": 0.0},
        {"max_classes_per_detection": 2},
    ):
        options = bytes(flexbuffers.Dumps(OPTIONS | changes))
        with pytest.raises(UnsupportedModelError, match="TFLite_Detection_PostProcess"):
            compile_stages(detector(0, options).model, "baseline")


@pytest.mark.parametrize("options", [b"", b"\x00", b"not a flexbuffer", flexbuffers.Dumps({})])
def test_damaged_options(options: bytes) -> None:
    with pytest.raises(ModelError, match="options are damaged"):
        compile_stages(detector(0, bytes(options)).model, "baseline")


@pytest.mark.parametrize("config", ["baseline", pytest.param("64", marks=pytest.mark.nightly)])
def test_a_photograph(config: str, zoo_model) -> None:
    path = zoo_model("ssd_mobilenet_v1_coco_quant")
    with Image.open(requirements.find_in_models("inputs/cat.bmp")) as opened:
        resized = opened.convert("RGB").resize((300, 300), Image.Resampling.BILINEAR)
    image = np.asarray(resized, np.uint8)[None]
    (answer,) = oracle.ask([oracle.Case(path.read_bytes(), (image,))], oracle.LITERT)
    assert answer.outputs is not None
    found = interpreted(path.read_bytes(), (image,), config=config)
    np.testing.assert_array_equal(found[1], answer.outputs[1])
    for expected, actual in zip(answer.outputs, found, strict=True):
        np.testing.assert_allclose(actual, expected, rtol=0, atol=1e-5)
