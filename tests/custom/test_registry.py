"""Custom operators from outside the package: the documentation's example, and errors."""

import dataclasses
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from kiwicha import custom, tools
from kiwicha.compiler import compile_model, compile_stages
from kiwicha.custom import CustomNode, CustomOperator
from kiwicha.errors import UnsupportedModelError, UsageError
from kiwicha.library import library
from kiwicha.sim.reference import executor as reference
from tests.support.models.custom_models import EXAMPLE, IMAGE, NEGATE, SHAPE, model
from tests.support.models.tflite_builder import ModelBuilder

SHUFFLED = IMAGE.reshape(3, 5, 4, 3).transpose(0, 1, 3, 2).reshape(SHAPE)


@pytest.fixture
def installed(tmp_path: Path) -> dict[str, str]:
    """Return an environment in which the example is installed."""
    info = tmp_path / "site" / "kiwicha_channel_shuffle-1.0.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text(
        "Metadata-Version: 2.1\nName: kiwicha-channel-shuffle\nVersion: 1.0\n"
    )
    project = (EXAMPLE / "pyproject.toml").read_text()
    section = project.partition('[project.entry-points."kiwicha.operators"]\n')[2].splitlines()[0]
    lines = ["[kiwicha.operators]", section.replace('"', "")]
    (info / "entry_points.txt").write_text("\n".join(lines))
    return {**os.environ, "PYTHONPATH": os.pathsep.join([str(EXAMPLE), str(info.parent)])}


def run(environment: dict[str, str], *arguments: str | Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "kiwicha.cli", *map(str, arguments)]
    return subprocess.run(command, env=environment, capture_output=True, text=True, check=False)


@pytest.mark.nightly
@pytest.mark.verilator
def test_the_example_runs_everywhere(installed: dict[str, str], tmp_path: Path) -> None:
    path, image, golden = (tmp_path / name for name in ("m.tflite", "image.bin", "golden.bin"))
    path.write_bytes(model(groups=4))
    image.write_bytes(IMAGE.tobytes())
    golden.write_bytes(SHUFFLED.tobytes())
    for target in ("reference", "sim"):
        report = tmp_path / f"{target}.json"
        done = run(
            *(installed, "run", path, "--input", image, "--expect", golden),
            *("--target", target, "--json", report),
        )
        assert done.returncode == 0, done.stdout + done.stderr
        assert json.loads(report.read_text())["bit_exact"] is True
    assert json.loads(report.read_text())["layers"][0]["op"] == "CUSTOM:ChannelShuffle"
    golden.write_bytes(IMAGE.tobytes())
    assert run(installed, "run", path, "--input", image, "--expect", golden).returncode == 1


@pytest.mark.nightly
def test_the_example_runs_natively(installed: dict[str, str], tmp_path: Path) -> None:
    path, image = tmp_path / "m.tflite", tmp_path / "image.bin"
    path.write_bytes(model(groups=4))
    image.write_bytes(IMAGE.tobytes())
    code = """
import sys
from pathlib import Path
from kiwicha.compiler import compile_model, compile_stages
from kiwicha.firmware.native import build_native, run_native
program = compile_model(sys.argv[1], "baseline")
image = Path(sys.argv[2]).read_bytes()
result = run_native(build_native(program.config), program.to_bytes(), [image])
sys.stdout.buffer.write(result.outputs[0])
"""
    command = [sys.executable, "-c", code, str(path), str(image)]
    done = subprocess.run(command, env=installed, capture_output=True, check=False)
    assert done.stdout == SHUFFLED.tobytes(), done.stderr.decode()


@pytest.mark.parametrize(
    ("text", "error"),
    [
        ("import nowhere", "ModuleNotFoundError: No module named 'nowhere'"),
        ("1 / 0", "ZeroDivisionError: division by zero"),
        ("", "AttributeError: module 'broken' has no attribute 'IT'"),
    ],
)
def test_a_package_that_cannot_be_imported_is_named(
    text: str, error: str, tmp_path: Path, installed: dict[str, str]
) -> None:
    (tmp_path / "site" / "broken.py").write_text(text)
    (info,) = (tmp_path / "site").glob("*.dist-info")
    (info / "entry_points.txt").write_text("[kiwicha.operators]\nx = broken:IT")
    (tmp_path / "m.tflite").write_bytes(model())
    done = run(installed, "compile", tmp_path / "m.tflite", "-o", tmp_path)
    where = f"{tmp_path}/m.tflite: entry point 'x' of group kiwicha.operators"
    wanted = f"kiwicha: {where} must be importable: {error}; mend its package\n"
    assert (done.returncode, done.stderr) == (2, wanted)


def test_the_example_refuses_in_words(installed: dict[str, str], tmp_path: Path) -> None:
    path = tmp_path / "m.tflite"
    path.write_bytes(model(groups=5))
    done = run(installed, "compile", path, "-o", tmp_path)
    assert done.returncode == 2
    assert "CUSTOM:ChannelShuffle #0: groups must divide the 12 channels" in done.stderr
    assert len(done.stderr.splitlines()) == 2


def test_a_library_holds_the_kernel(installed: dict[str, str], tmp_path: Path) -> None:
    path = tmp_path / "m.tflite"
    path.write_bytes(model(groups=4))
    assert run(installed, "compile", path, "-o", tmp_path).returncode == 0
    listed = subprocess.run(
        ["tar", "-tzf", tmp_path / "m.tar.gz"], capture_output=True, text=True, check=True
    )
    assert "m/kernels/custom_channel_shuffle.c" in listed.stdout.splitlines()


def test_an_unknown_one_is_refused_by_name() -> None:
    with pytest.raises(UnsupportedModelError, match=r"CUSTOM:Nobody #0: custom operator must be"):
        compile_model(model("CUSTOM:Nobody"), "simd")


@pytest.fixture
def negate(monkeypatch: pytest.MonkeyPatch) -> CustomOperator:
    """Register an operator for the time of a test."""
    monkeypatch.setattr(custom.registry, "_registered", {})
    custom.register(NEGATE)
    return NEGATE


def test_without_parameters(negate: CustomOperator) -> None:
    program = compile_model(model("CUSTOM:Negate"), "baseline")
    assert np.array_equal(reference.run(program, [IMAGE])[0], ~IMAGE)
    with pytest.raises(UnsupportedModelError, match="scales must be equal"):
        compile_model(model("CUSTOM:Negate", scale=0.25), "baseline")


def unsigned_model() -> bytes:
    """Give softmax(negate(negate(relu(x)), constant)), and what lies between, in uint8."""
    builder = ModelBuilder()
    quantization = {"scale": 1 / 256, "zero_point": 0}
    x, positive, middle, sum_, y = (
        builder.tensor(SHAPE, np.uint8, name=name, **quantization) for name in ("xpmsy")
    )
    table = builder.tensor((12,), np.uint8, data=np.arange(12, dtype=np.uint8), **quantization)
    builder.operator("RELU", [x], [positive])
    builder.operator("CUSTOM:Blend", [positive, table], [middle])
    builder.operator("CUSTOM:Blend", [middle, table], [sum_])
    builder.operator("SOFTMAX", [sum_], [y], beta=1.0)
    return builder.build(inputs=[x], outputs=[y, middle, sum_])


@pytest.mark.parametrize("config", ["baseline", "simd", "64"])
def test_uint8_is_as_in_the_model(config: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(custom.registry, "_registered", {})
    seen: list[CustomNode] = []

    def check(node: CustomNode) -> tuple[str, ...]:
        seen.append(node)
        return ()

    def blend(image: np.ndarray, table: np.ndarray) -> np.ndarray:
        """Halve the distance to 255, less a number of each channel: as signed bytes it differs."""
        halves = 255 - image.reshape(-1, 12).astype(int) // 2 - table
        return halves.astype(np.uint8).reshape(-1)

    custom.register(
        CustomOperator(
            name="Blend",
            check=check,
            parameters=lambda node: b"",
            reference=lambda inputs, raw: blend(*(i.view(np.uint8) for i in inputs)).view(np.int8),
            source=EXAMPLE / "kiwicha_channel_shuffle" / "channel_shuffle.c",
            function="blend",
        )
    )
    image = IMAGE.view(np.uint8)
    program = compile_model(unsigned_model(), config)
    y, middle, sum_ = reference.run(program, [image])
    table = np.arange(12)
    assert np.array_equal(middle.reshape(-1), blend(image, table))
    assert np.array_equal(sum_.reshape(-1), blend(middle, table))
    assert y.dtype == np.uint8
    assert len(np.unique(y)) > 1
    for node in seen:
        assert [t.dtype for t in (*node.inputs, node.output)] == [np.uint8] * 3
        assert [t.zero_point for t in (*node.inputs, node.output)] == [0] * 3
        assert np.array_equal(node.inputs[1].value, table)


KERNEL = """
#include "custom.h"

kiwicha_custom_function FUNCTION;

enum kiwicha_status FUNCTION(const struct kiwicha_custom_call *call)
{
    const int8_t *input = call->inputs[0];
    int8_t *output = call->output;
    for (uint32_t k = 0; k < call->output_bytes; k++) {
        output[k] = (int8_t)(EXPRESSION);
    }
    return KIWICHA_STATUS_OK;
}
"""


@pytest.fixture
def alike(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[list[CustomOperator]]:
    """Register two operators whose kernels have the same file name."""
    monkeypatch.setattr(custom.registry, "_registered", {})
    functions = {"Invert": "~input[k]", "Halve": "input[k] / 2"}
    made = []
    for name, expression in functions.items():
        source = tmp_path / name / "kernel.c"
        source.parent.mkdir()
        function = f"{name.lower()}_bytes"
        source.write_text(KERNEL.replace("FUNCTION", function).replace("EXPRESSION", expression))
        made.append(
            CustomOperator(
                name=name,
                check=lambda node: (),
                parameters=lambda node: b"",
                reference=lambda inputs, raw: inputs[0],
                source=source,
                function=function,
            )
        )
        custom.register(made[-1])
    yield made
    custom.registry._registered.clear()


LIBRARY_MAIN = """
#include <stdio.h>
#include "model/m.h"
#include "runtime/platform.h"
#include "runtime/runtime.h"

uint32_t kiwicha_platform_cycles(void) { return 0; }

static _Alignas(16) uint8_t arena[M_ARENA_BYTES];

int main(void)
{
    struct kiwicha_model model;
    if (kiwicha_open(&model, m_program, M_PROGRAM_BYTES, arena, sizeof(arena))) {
        return 1;
    }
    void *input = kiwicha_tensor_data(&model, kiwicha_find_input(&model, M_INPUT_0_NAME));
    if (fread(input, 1, M_INPUT_0_BYTES, stdin) != M_INPUT_0_BYTES ||
        kiwicha_invoke(&model, NULL, NULL, NULL)) {
        return 2;
    }
    const void *output = kiwicha_tensor_data(&model, kiwicha_find_output(&model, M_OUTPUT_0_NAME));
    return fwrite(output, 1, M_OUTPUT_0_BYTES, stdout) == M_OUTPUT_0_BYTES ? 0 : 3;
}
"""


def test_kernels_whose_files_have_one_name_both_reach_a_library(
    alike: list[CustomOperator], tmp_path: Path
) -> None:
    builder = ModelBuilder()
    x, y, z = (builder.tensor(SHAPE, scale=0.5) for _ in range(3))
    builder.operator("CUSTOM:Invert", [x], [y])
    builder.operator("CUSTOM:Halve", [y], [z])
    content = builder.build(inputs=[x], outputs=[z])
    files = library("m", compile_stages(content, "baseline"), content)
    for operator in alike:
        assert files[f"kernels/custom_{operator.function}.c"] == operator.source.read_bytes()
    root = tmp_path / "unpacked"
    for name, raw in {**files, "main.c": LIBRARY_MAIN.encode()}.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_bytes(raw)
    folders = (root, *(root / name for name in ("kernels", "model", "runtime")))
    sources = [str(path) for folder in folders for path in sorted(folder.glob("*.c"))]
    command = [
        *(*tools.cxx().command, "-std=c11", "-Wall", "-Wextra", "-Werror", f"-I{root}"),
        *("-o", str(root / "main"), *(word for path in sources for word in ("-x", "c", path))),
    ]
    subprocess.run(command, check=True)
    done = subprocess.run(root / "main", input=IMAGE.tobytes(), capture_output=True, check=True)
    halves = np.trunc(~IMAGE.astype(int) / 2).astype(np.int8)
    assert done.stdout == halves.tobytes()


def test_two_sources_with_one_function_are_refused(alike: list[CustomOperator]) -> None:
    text = r"^function of custom operator 'Third' must be its own, not 'halve_bytes', which is that"
    with pytest.raises(UsageError, match=text):
        custom.register(dataclasses.replace(alike[1], name="Third", source=alike[0].source))
    custom.register(dataclasses.replace(alike[1], name="Third"))


def test_names_and_functions_must_be_usable(negate: CustomOperator) -> None:
    with pytest.raises(UsageError, match=r"^name of a custom operator must be its own, not 'Neg"):
        custom.register(dataclasses.replace(negate))
    with pytest.raises(UsageError, match=r"must be a C identifier, not 'a b'"):
        dataclasses.replace(negate, function="a b")
    with pytest.raises(UsageError, match=r"must be a file, not .*nowhere"):
        dataclasses.replace(negate, source=Path("nowhere.c"))
    with pytest.raises(UsageError, match=r"must not be empty"):
        dataclasses.replace(negate, name="")
