"""Boxes of detectors against the interpreters, of random models and of a photograph."""

import json
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from flatbuffers import flexbuffers
from PIL import Image

from kiwicha import Interpreter, tools
from kiwicha.compiler import compile_model, compile_stages
from kiwicha.contract.configs import CONFIGS
from kiwicha.contract.program import DType
from kiwicha.errors import ModelError, UnsupportedModelError, UsageError
from kiwicha.firmware.native import build_native, run_native
from kiwicha.library import library, metadata
from kiwicha.sim.reference import executor as reference
from tests.support import requirements
from tests.support.choices import by_day
from tests.support.models import random_networks
from tests.support.models.detectors import BOXES, OPTIONS, detector
from tests.support.oracle import oracle


def interpreted(model: bytes, inputs: tuple[Any, ...], **options: Any) -> list[Any]:
    interpreter = Interpreter(model_content=model, **options)
    interpreter.allocate_tensors()
    for details, value in zip(interpreter.get_input_details(), inputs, strict=True):
        interpreter.set_tensor(details["index"], value)
    interpreter.invoke()
    details = interpreter.get_output_details()
    assert [d["dtype"] for d in details] == [np.float32] * 4
    return [interpreter.get_tensor(d["index"]) for d in details]


KINDS = pytest.mark.parametrize(
    ("dtype", "is_float"), [(np.uint8, False), (np.uint8, True), (np.int8, True)]
)


VARIANTS = pytest.mark.parametrize("is_regular", [False, True], ids=["fast", "regular"])


def random_detectors(
    threshold: float, dtype: type[np.generic], *, is_float: bool, is_regular: bool
) -> list[tuple[oracle.Case, oracle.Answer]]:
    """Give models with what the interpreters say of them: both know float32, one uint8."""
    asked = []
    for interpreter in (oracle.LITERT, *((oracle.MICRO,) if is_float else ())):
        cases = [
            detector(
                seed,
                None,
                dtype,
                is_float=is_float,
                has_shapes=interpreter is oracle.MICRO,
                nms_score_threshold=threshold,
                use_regular_nms=is_regular,
                detections_per_class=3,
            )
            for seed in range(12)
        ]
        asked += list(zip(cases, oracle.ask(cases, interpreter), strict=True))
    return asked


def check(answer: oracle.Answer, found: Sequence[Any]) -> None:
    """Compare bit for bit; what is behind the last box, interpreters may leave as it was."""
    assert answer.outputs is not None, answer.error
    assert [a.shape for a in found] == [a.shape for a in answer.outputs]
    assert found[3] == answer.outputs[3]
    count = int(found[3][0])
    for expected, actual in zip(answer.outputs[:3], found[:3], strict=True):
        assert actual[0, :count].tobytes() == expected[0, :count].tobytes()
        assert not actual[0, count:].any()


@KINDS
@VARIANTS
@pytest.mark.parametrize("threshold", [1e-8, 0.2, 0.99])
def test_random_detectors(
    threshold: float, is_regular: bool, dtype: type[np.generic], is_float: bool
) -> None:
    asked = random_detectors(threshold, dtype, is_float=is_float, is_regular=is_regular)
    for case, answer in asked:
        check(answer, interpreted(case.model, case.inputs))
    counts = {int(answer.outputs[3].reshape(-1)[0]) for _, answer in asked if answer.outputs}
    assert (counts == {0}) == (threshold > 0.9)


@KINDS
@VARIANTS
@pytest.mark.parametrize("threshold", by_day(0.2, 1e-8, 0.99))
def test_the_device_makes_the_same_boxes(
    threshold: float, is_regular: bool, dtype: type[np.generic], is_float: bool
) -> None:
    executable = build_native(CONFIGS["baseline"])
    asked = random_detectors(threshold, dtype, is_float=is_float, is_regular=is_regular)
    for case, answer in asked:
        program = compile_model(case.model, "baseline", detect="device")
        found = reference.run(program, case.inputs)
        check(answer, found)
        inputs = [values.tobytes() for values in case.inputs]
        native = run_native(executable, program.to_bytes(), inputs, outputs=4)
        assert native.outputs == tuple(part.tobytes() for part in found), native.log


def test_nobody_else_makes_boxes() -> None:
    with pytest.raises(UsageError, match="boxes must be made by host or device, not me"):
        compile_model(detector(0).model, "baseline", detect="me")


def test_a_detector_that_is_refused_is_refused_on_the_device() -> None:
    options = bytes(flexbuffers.Dumps(OPTIONS | {"x_scale": 0.0}))
    with pytest.raises(UnsupportedModelError, match="x_scale must not be 0"):
        compile_model(detector(0, options).model, "baseline", detect="device")


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


@KINDS
def test_a_library_holds_what_the_step_needs(
    dtype: type[np.generic], is_float: bool, tmp_path: Path
) -> None:
    model = detector(0, None, dtype, is_float=is_float).model
    compilation = compile_stages(model, "baseline")
    detection = compilation.detection
    assert detection is not None
    files = library("a b", compilation, model)
    said = json.loads(files["metadata.json"])["last_step"]
    assert said["operator"] == "TFLite_Detection_PostProcess"
    assert said["settings"] == OPTIONS
    zero_point = 120 if dtype is np.uint8 else -8
    box = {"output": 0, "scale": float(np.float32(0.08)), "zero_point": zero_point}
    assert said["box_encodings"] == box
    assert said["anchors"] == {"file": "model/a_b_detection.c", "shape": [BOXES, 4]}
    assert "last step, on the host: TFLite_Detection_PostProcess of output 0" in (
        files["a b.txt"].decode()
    )
    for name in ("a_b_detection.h", "a_b_detection.c"):
        (tmp_path / name).write_bytes(files[f"model/{name}"])
    (tmp_path / "main.c").write_text(
        '#include <stdio.h>\n#include "a_b_detection.h"\n'
        "int main(void) { return fwrite(a_b_anchors, 16, A_B_ANCHORS, stdout) != A_B_ANCHORS || "
        "A_B_MAX_DETECTIONS != 8u || A_B_H_SCALE != 5.0f; }"
    )
    sources = [word for path in sorted(tmp_path.glob("*.c")) for word in ("-x", "c", path)]
    flags = ["-std=c11", "-Wall", "-Wextra", "-Werror"]
    command = [*tools.cxx().command, *flags, "-o", tmp_path / "main", *sources]
    subprocess.run(list(map(str, command)), check=True)
    done = subprocess.run(tmp_path / "main", capture_output=True, check=True)
    read = np.frombuffer(done.stdout, np.float32).reshape(BOXES, 4)
    np.testing.assert_array_equal(read, detection.anchors)


def test_other_models_have_no_last_step() -> None:
    model = random_networks.network(5).model
    compilation = compile_stages(model, "baseline")
    assert metadata("m", compilation, model)["last_step"] is None


@pytest.mark.parametrize(
    ("changes", "text"),
    [
        (
            {"use_regular_nms": True, "detections_per_class": 0},
            "detections_per_class must be at least 1, not 0",
        ),
        ({"num_classes": 9}, r"scores must have shape \[1, 40, 9 or 10\] for num_classes 9, not "),
        ({"num_classes": 0}, "num_classes must be at least 1, not 0"),
        ({"max_detections": 0}, "max_detections must be at least 1, not 0"),
        ({"nms_iou_threshold": 0.0}, "nms_iou_threshold must be more than 0, at most 1, not 0.0"),
        ({"max_classes_per_detection": 2}, "max_classes_per_detection must be 1, not 2"),
        ({"x_scale": 0.0}, "x_scale must not be 0"),
    ],
)
def test_other_settings_are_refused_by_name(changes: dict[str, Any], text: str) -> None:
    options = bytes(flexbuffers.Dumps(OPTIONS | changes))
    with pytest.raises(UnsupportedModelError, match=f"Detection_PostProcess #[0-9].*: .*{text}"):
        compile_stages(detector(0, options).model, "baseline")


def test_an_int8_detector_needs_dequantize() -> None:
    with pytest.raises(UnsupportedModelError) as caught:
        compile_stages(detector(0, None, np.int8).model, "baseline")
    text = (
        "box encodings must be quantized uint8, or float32 from a DEQUANTIZE right before it, "
        "not int8; quantize the network up to here"
    )
    assert text in str(caught.value)
    assert "installed package" not in str(caught.value)


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
    check(answer, found)
