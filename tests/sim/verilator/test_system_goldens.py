"""Public models on the simulated system on chip, byte for byte what their interpreters give.

That is TensorFlow Lite Micro for int8, and LiteRT with its reference kernels for uint8.
"""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

from kiwicha.compiler.driver import compile_model, compile_stages
from kiwicha.compiler.engine.cost.cycles import predict_program
from kiwicha.contract.configs import ENGINE_CONFIGS
from kiwicha.sim.reference import executor as reference
from kiwicha.sim.verilator.program_run import run_program
from tests.support import requirements
from tests.support.choices import by_day
from tests.support.oracle import oracle

pytestmark = pytest.mark.verilator

WITH_GOLDENS = [
    "person_detect",
    "mlperf_kws_ref_model",
    "mlperf_ad01_int8",
    "mlperf_pretrainedResnet_quant",
    "mlperf_vww_96_int8",
    "cfu_mobilenetv2_160_035",
]
WITHOUT_GOLDENS = ["hello_world_int8", "micro_speech_quantized"]

UNSIGNED = ["mobilenet_v1_0.25_128_quant", "mobilenet_v2_1.0_224_quant"]
CYCLES = {UNSIGNED[0]: 360_000, UNSIGNED[1]: 6_500_000}
"""What an inference of a uint8 model may take with 64 products per cycle."""
DETECTOR = "ssd_mobilenet_v1_coco_quant"
DETECTOR_CYCLES = 14_000_000


def photograph(name: str, size: int) -> np.ndarray:
    """Give a public photograph as uint8 [1, size, size, 3]."""
    with Image.open(requirements.find_in_models(f"inputs/{name}")) as opened:
        picture = opened.convert("RGB").resize((size, size), Image.Resampling.BILINEAR)
    return np.asarray(picture, np.uint8)[None]


def given_by_litert(model: Path, image: np.ndarray) -> tuple[np.ndarray, ...]:
    (answer,) = oracle.ask([oracle.Case(model.read_bytes(), (image,))], oracle.LITERT)
    assert answer.outputs is not None, answer.error
    return answer.outputs


def check_goldens(model: Path, goldens: list[Any], config: str) -> None:
    program = compile_model(model, config)
    inferences = 2 if config in ENGINE_CONFIGS else 1
    for golden in goldens:
        result = run_program(program, [golden.input], inferences=inferences)
        assert result.outputs == (golden.output,), golden.name
        if config in ENGINE_CONFIGS:
            predicted, _ = predict_program(program)
            assert abs(predicted / result.last_cycles - 1) < 0.05, golden.name


@pytest.mark.parametrize(
    ("model", "config"),
    [
        ("mlperf_ad01_int8", "simd"),
        ("person_detect", "64"),
        ("mlperf_kws_ref_model", "64"),
    ],
)
def test_one_golden(
    zoo_model: Callable[[str], Path],
    golden_cases: Callable[[str], list[Any]],
    model: str,
    config: str,
) -> None:
    check_goldens(zoo_model(model), golden_cases(model)[:1], config)


@pytest.mark.parametrize("config", ["simd", "64"])
@pytest.mark.parametrize("model", WITHOUT_GOLDENS)
def test_models_without_goldens(zoo_model: Callable[[str], Path], model: str, config: str) -> None:
    path = zoo_model(model)
    program = compile_model(path, config)
    values = np.random.default_rng(3).integers(-128, 128, program.inputs[0].shape, np.int8)
    (answer,) = oracle.ask([oracle.Case(path.read_bytes(), (values,))])
    assert answer.outputs is not None, answer.error
    result = run_program(program, [values.tobytes()], inferences=2)
    assert result.outputs == (answer.outputs[0].tobytes(),)


@pytest.mark.nightly
@pytest.mark.timeout(7200)
@pytest.mark.parametrize("config", ["simd", "32", "64", "128"])
@pytest.mark.parametrize("model", WITH_GOLDENS)
def test_all_goldens(
    zoo_model: Callable[[str], Path],
    golden_cases: Callable[[str], list[Any]],
    model: str,
    config: str,
) -> None:
    check_goldens(zoo_model(model), golden_cases(model), config)


@pytest.mark.nightly
@pytest.mark.timeout(7200)
@pytest.mark.parametrize("model", WITH_GOLDENS)
def test_one_golden_on_the_baseline(
    zoo_model: Callable[[str], Path], golden_cases: Callable[[str], list[Any]], model: str
) -> None:
    check_goldens(zoo_model(model), golden_cases(model)[:1], "baseline")


def check_unsigned(model: Path, config: str) -> None:
    program = compile_model(model, config)
    image = photograph("grace_hopper.bmp", program.inputs[0].shape[1])
    (expected,) = given_by_litert(model, image)
    result = run_program(program, [image.tobytes()], inferences=2)
    assert result.outputs == (expected.tobytes(),)
    predicted, _ = predict_program(program)
    assert abs(predicted / result.last_cycles - 1) < 0.05
    if config == "64":
        assert result.last_cycles <= CYCLES[model.stem]


@pytest.mark.parametrize("model", by_day(*UNSIGNED))
def test_a_photograph_in_uint8(zoo_model: Callable[[str], Path], model: str) -> None:
    check_unsigned(zoo_model(model), "64")


@pytest.mark.nightly
@pytest.mark.timeout(7200)
@pytest.mark.parametrize("config", ["32", "128"])
@pytest.mark.parametrize("model", UNSIGNED)
def test_photographs_in_uint8(zoo_model: Callable[[str], Path], model: str, config: str) -> None:
    check_unsigned(zoo_model(model), config)


@pytest.mark.nightly
@pytest.mark.timeout(7200)
def test_boxes_on_a_photograph(zoo_model: Callable[[str], Path]) -> None:
    model = zoo_model(DETECTOR)
    compilation = compile_stages(model, "64")
    program = compilation.program
    image = photograph("cat.bmp", 300)
    result = run_program(program, [image.tobytes()], inferences=2)
    raw = reference.run(program, [image])
    assert result.outputs == tuple(tensor.tobytes() for tensor in raw)
    assert result.last_cycles <= DETECTOR_CYCLES
    predicted, _ = predict_program(program)
    assert abs(predicted / result.last_cycles - 1) < 0.05
    assert compilation.detection is not None
    found = compilation.detection.find(*raw).outputs
    boxes, classes, scores, count = given_by_litert(model, image)
    np.testing.assert_array_equal(found[1], classes)
    np.testing.assert_array_equal(found[3], count)
    np.testing.assert_allclose(found[0], boxes, rtol=0, atol=1e-5)
    np.testing.assert_allclose(found[2], scores, rtol=0, atol=1e-5)
