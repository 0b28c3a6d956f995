"""Native firmware on real models, and how its failures reach Python."""

import dataclasses
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from kiwicha.compiler.driver import compile_model
from kiwicha.contract.cfu import Status
from kiwicha.contract.configs import CONFIGS
from kiwicha.contract.program import Kernel
from kiwicha.errors import ToolError
from kiwicha.firmware import native
from tests.support.programs.steps import ProgramBuilder, whole_copy

MODELS = [
    "person_detect",
    "mlperf_ad01_int8",
    "mlperf_kws_ref_model",
    "mlperf_pretrainedResnet_quant",
    "mlperf_vww_96_int8",
    "cfu_mobilenetv2_160_035",
]


def copy_program() -> ProgramBuilder:
    """Build a Program that copies its input."""
    builder = ProgramBuilder("baseline")
    source = builder.input(np.arange(20, dtype=np.int8))
    builder.step(Kernel.COPY, whole_copy(source, builder.output((20,))))
    return builder


@pytest.mark.slow
@pytest.mark.parametrize("config", sorted(CONFIGS))
@pytest.mark.parametrize("model", MODELS)
def test_golden_outputs(
    zoo_model: Callable[[str], Path],
    golden_cases: Callable[[str], list[Any]],
    executables: dict[str, Path],
    model: str,
    config: str,
) -> None:
    """Byte for byte what TensorFlow Lite Micro gives: the first under sanitizers, then all."""
    raw = compile_model(zoo_model(model), config).to_bytes()
    goldens = golden_cases(model)
    fast = native.build_native(CONFIGS[config], sanitize=False)
    for executable, cases in ((executables[config], goldens[:1]), (fast, goldens)):
        for golden in cases:
            result = native.run_native(executable, raw, [golden.input])
            assert result.status is Status.OK, result.log
            assert result.outputs == (golden.output,), golden.name


def test_result(executables: dict[str, Path]) -> None:
    builder = copy_program()
    raw = builder.program().to_bytes()
    result = native.run_native(executables["baseline"], raw, builder.input_bytes)
    assert result == native.NativeResult(Status.OK, (bytes(range(20)),), "")


def test_status_is_no_error(executables: dict[str, Path]) -> None:
    builder = copy_program()
    raw = builder.program().to_bytes()
    result = native.run_native(executables["simd"], raw, builder.input_bytes)
    assert result.status is Status.BAD_CONFIG
    assert result.outputs == ()
    assert result.log == "kiwicha_native: status 3, step 0\n"


@pytest.mark.parametrize(
    ("inputs", "outputs", "text"),
    [
        ([], 1, "needs another number of inputs"),
        ([bytes(19)], 1, "has not the size of the input tensor"),
        ([bytes(20)], 2, "needs another number of outputs"),
    ],
)
def test_wrong_arguments(
    executables: dict[str, Path], inputs: list[bytes], outputs: int, text: str
) -> None:
    raw = copy_program().program().to_bytes()
    with pytest.raises(ToolError, match=f"must end with a status, not 64:(.|\n)*{text}"):
        native.run_native(executables["baseline"], raw, inputs, outputs=outputs)


def test_time_limit(executables: dict[str, Path]) -> None:
    raw = copy_program().program().to_bytes()
    with pytest.raises(ToolError, match=r"native firmware must end within 0\.0 s"):
        native.run_native(executables["baseline"], raw, [bytes(20)], timeout_seconds=0.0)


def test_sanitizer_finding_is_an_error(tmp_path: Path) -> None:
    """A stand-in for an executable in which a sanitizer stops with a number that is a status."""
    script = tmp_path / "executable"
    script.write_text("#!/bin/sh\necho 'x.c:1:1: runtime error: overflow' >&2\nexit 1\n")
    script.chmod(0o755)
    with pytest.raises(ToolError, match=r"must not trip a sanitizer:\nx\.c:1:1: runtime error"):
        native.run_native(script, b"")


def test_builds_are_kept(monkeypatch: pytest.MonkeyPatch, executables: dict[str, Path]) -> None:
    def refuse(*arguments: Any, **options: Any) -> str:
        if "--version" in arguments[0]:
            return "a compiler\n"
        raise AssertionError("must not compile")

    plain = native.build_native(CONFIGS["simd"], sanitize=False)
    assert plain not in executables.values()
    assert native.build_native(CONFIGS["simd"]) == executables["simd"]
    other = dataclasses.replace(CONFIGS["simd"], name="other")
    monkeypatch.setattr("kiwicha.tools.run", refuse)
    with pytest.raises(AssertionError, match="must not compile"):
        native.build_native(other)
