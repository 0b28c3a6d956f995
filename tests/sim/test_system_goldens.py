"""Public models on the simulated system on chip, byte for byte what TensorFlow Lite Micro gives."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from kiwicha.compiler.cycles import predict_program
from kiwicha.compiler.driver import compile_model
from kiwicha.isa import ENGINE_CONFIGS
from kiwicha.sim.system import run_program

pytestmark = pytest.mark.verilator

IN_EVERY_RUN = ["person_detect", "mlperf_kws_ref_model", "mlperf_ad01_int8"]
NIGHTLY = [
    *IN_EVERY_RUN,
    "mlperf_pretrainedResnet_quant",
    "mlperf_vww_96_int8",
    "cfu_mobilenetv2_160_035",
]


def check_goldens(model: Path, goldens: list[Any], config: str) -> None:
    program = compile_model(model, config)
    inferences = 2 if config in ENGINE_CONFIGS else 1
    for golden in goldens:
        result = run_program(program, [golden.input], inferences=inferences)
        assert result.outputs == (golden.output,), golden.name
        if config in ENGINE_CONFIGS:
            predicted, _ = predict_program(program)
            assert abs(predicted / result.last_cycles - 1) < 0.05, golden.name


@pytest.mark.parametrize("config", ["simd", "64"])
@pytest.mark.parametrize("model", IN_EVERY_RUN)
def test_one_golden(
    zoo_model: Callable[[str], Path],
    golden_cases: Callable[[str], list[Any]],
    model: str,
    config: str,
) -> None:
    check_goldens(zoo_model(model), golden_cases(model)[:1], config)


@pytest.mark.nightly
@pytest.mark.timeout(7200)
@pytest.mark.parametrize("config", ["simd", "32", "64", "128"])
@pytest.mark.parametrize("model", NIGHTLY)
def test_all_goldens(
    zoo_model: Callable[[str], Path],
    golden_cases: Callable[[str], list[Any]],
    model: str,
    config: str,
) -> None:
    check_goldens(zoo_model(model), golden_cases(model), config)


@pytest.mark.nightly
@pytest.mark.timeout(7200)
@pytest.mark.parametrize("model", NIGHTLY)
def test_one_golden_on_the_baseline(
    zoo_model: Callable[[str], Path], golden_cases: Callable[[str], list[Any]], model: str
) -> None:
    check_goldens(zoo_model(model), golden_cases(model)[:1], "baseline")
