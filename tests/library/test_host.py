"""Libraries on this machine: what their Makefile, CMake and C++ compilers make of them."""

import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from kiwicha import tools
from kiwicha.compiler import compile_stages
from kiwicha.contract.cfu import STATUS_TEXT, Status
from kiwicha.contract.engine import ENGINE_ERROR_TEXT, EngineError
from kiwicha.library import library, pack
from kiwicha.sim.reference import executor as reference
from tests.library.conftest import APPLICATION
from tests.support import library_builds, requirements
from tests.support.choices import by_day
from tests.support.library_builds import WARNINGS
from tests.support.models import random_networks

STRICT = " ".join(("-O1", *WARNINGS))
PAGE = requirements.REPOSITORY / "docs" / "c-api.md"
CASE = random_networks.network(5)
NAME = "2 odd-name"

MAIN = r"""
#include <stdio.h>
#include <string.h>
#include "model/2_odd-name.h"
#include "runtime/platform.h"
#include "runtime/runtime.h"

static uint32_t readings;

/* Each reading is later than the one before it by another time. */
uint32_t kiwicha_platform_cycles(void)
{
    ++readings;
    return readings * readings;
}

static _Alignas(16) uint8_t arena[_2_ODD_NAME_ARENA_BYTES];

int main(void)
{
    struct kiwicha_model model;
    if (kiwicha_open(&model, _2_odd_name_program, _2_ODD_NAME_PROGRAM_BYTES, arena,
                     sizeof(arena)) != KIWICHA_STATUS_OK) {
        return 1;
    }
    const struct kiwicha_io_record *input = kiwicha_find_input(&model, _2_ODD_NAME_INPUT_0_NAME);
    const struct kiwicha_io_record *output = kiwicha_find_output(&model, _2_ODD_NAME_OUTPUT_0_NAME);
    if (input == NULL || output == NULL || kiwicha_find_input(&model, "nobody") != NULL ||
        kiwicha_find_output(&model, _2_ODD_NAME_INPUT_0_NAME) != NULL ||
        strcmp(kiwicha_tensor_name(&model, input), _2_ODD_NAME_INPUT_0_NAME) != 0 ||
        input->tensor.bytes != _2_ODD_NAME_INPUT_0_BYTES ||
        output->scale != _2_ODD_NAME_OUTPUT_0_SCALE ||
        output->zero_point != _2_ODD_NAME_OUTPUT_0_ZERO_POINT) {
        return 2;
    }
    if (fread(kiwicha_tensor_data(&model, input), 1, input->tensor.bytes, stdin) !=
        input->tensor.bytes) {
        return 3;
    }
    if (kiwicha_invoke(&model, NULL, NULL, NULL) != KIWICHA_STATUS_OK) {
        return 4;
    }
    if (readings < 3 || model.cycles != readings * readings - 1) {
        return 5; /* cycles between steps were not counted */
    }
    fwrite(kiwicha_tensor_data(&model, output), 1, output->tensor.bytes, stdout);
    kiwicha_close(&model);
    return kiwicha_tensor_data(&model, output) == NULL && kiwicha_find_input(&model, "x") == NULL &&
                   kiwicha_invoke(&model, NULL, NULL, NULL) == KIWICHA_STATUS_BAD_ARGUMENT
               ? 0
               : 6;
}
"""


TEXTS = rf"""
#include "runtime/platform.h"
#include "runtime/runtime.h"

int main()
{{
    for (int k = 0; k <= {len(Status)}; ++k) {{
        kiwicha_platform_print(kiwicha_status_text(static_cast<kiwicha_status>(k)));
        kiwicha_platform_print("\n");
    }}
    for (uint32_t k = 0; k <= {len(EngineError)}; ++k) {{
        /* It still runs; a transfer of this number. */
        kiwicha_platform_print(kiwicha_engine_text(0x80000000u | k << 16 | 0x8005u));
        kiwicha_platform_print("\n");
    }}
    return 0;
}}
"""


def build(root: Path, *words: str) -> None:
    """Compile a library and its example, without a warning."""
    # That of other sources would be as new.
    (root / "build" / "example" / "main").unlink(missing_ok=True)
    done = library_builds.run_make(root, f"CFLAGS={STRICT}", "example", *words)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def run(program: Path) -> str:
    return subprocess.run([program], capture_output=True, text=True, check=True).stdout


@pytest.fixture(scope="module")
def baseline(models: dict[str, bytes], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Give the folder of a compiled library of three models."""
    root = tmp_path_factory.mktemp("baseline")
    # The example is that of the last one.
    library_builds.write_library(
        root, "baseline", **{NAME: CASE.model}, second=models["second"], first=models["first"]
    )
    build(root)
    return root


def test_a_c_project_links_it(baseline: Path) -> None:
    (baseline / "main.c").write_text(MAIN)
    build(baseline, "EXAMPLE=main.c", "PLATFORM=")
    program = compile_stages(CASE.model, "baseline").program
    inputs = [np.asarray(value).tobytes() for value in CASE.inputs]
    command = [baseline / "build" / "example" / "main"]
    done = subprocess.run(command, input=inputs[0], capture_output=True, check=False)
    assert done.returncode == 0
    expected = reference.run(program, inputs)[0].tobytes()
    assert done.stdout == expected
    assert any(expected)


def check_example(root: Path, expected: str) -> None:
    """Run the example as it was built, in C, and as C++."""
    assert run(root / "build" / "example" / "main") == expected
    assert run(build_cpp(root, "example/main.c")) == expected


def build_cpp(root: Path, source: str) -> Path:
    """Compile an application as C++17, and link it with the library."""
    sources = ["-x", "c++", source, "platform/platform.c"]
    command = [*tools.cxx().command, "-std=c++17", *WARNINGS, "-I.", *sources]
    tools.run(
        [*command, "-x", "none", "build/libkiwicha.a", "-o", "application"], name="C++", folder=root
    )
    return root / "application"


def test_the_example_runs_in_c_and_cpp(baseline: Path, example_output: str) -> None:
    build(baseline)
    check_example(baseline, f"{example_output}cycles: 0\n")


def test_several_models_in_one_arena_and_in_two(baseline: Path, application_output: str) -> None:
    assert run(build_cpp(baseline, str(APPLICATION))) == application_output


@pytest.mark.slow
def test_the_cfu_can_be_imitated(
    models: dict[str, bytes], example_output: str, tmp_path: Path
) -> None:
    root = library_builds.write_library(tmp_path, "simd", first=models["first"])
    build(root, "CFU_MODEL=1")
    check_example(root, f"{example_output}cycles: 0\n")


@pytest.mark.slow
def test_a_library_of_an_engine_compiles_here_and_refuses_to_run(
    models: dict[str, bytes], tmp_path: Path
) -> None:
    root = library_builds.write_library(tmp_path, "64", first=models["first"])
    build(root, "CFU_MODEL=1")
    for program in (root / "build" / "example" / "main", build_cpp(root, "example/main.c")):
        done = subprocess.run([program], capture_output=True, text=True, check=False)
        assert done.returncode == 1
        assert done.stdout == f"{STATUS_TEXT[Status.ENGINE]}\n"
    (root / "texts.cpp").write_text(TEXTS)
    texts = [STATUS_TEXT[status] for status in sorted(Status)] + ["unknown"]
    texts += [ENGINE_ERROR_TEXT[error] for error in sorted(EngineError)] + ["unknown"]
    assert run(build_cpp(root, "texts.cpp")).splitlines() == texts


@pytest.mark.parametrize(
    ("config", "source"),
    [("simd", "runtime/open"), ("simd", "kernels/simd_add"), ("64", "kernels/engine")],
)
def test_a_machine_without_the_cfu_is_told_so(
    config: str, source: str, models: dict[str, bytes], tmp_path: Path
) -> None:
    root = library_builds.write_library(tmp_path, config, first=models["first"])
    done = library_builds.run_make(root, f"CFLAGS={STRICT}", f"build/{source}.o")
    assert done.returncode != 0
    (error,) = re.findall(r"error: (.*)", done.stderr)
    assert "This machine has no CFU: compile the model for baseline" in error


@pytest.mark.slow
@pytest.mark.parametrize("number", by_day(1, 0), ids=["riscv", "host"])
def test_the_page_says_how_to_build_it(
    number: int, models: dict[str, bytes], example_output: str, tmp_path: Path
) -> None:
    """Docs and README have the same commands."""
    blocks = re.findall(r"^```sh\n(.*?)^```$", PAGE.read_text(), re.MULTILINE | re.DOTALL)
    config = ["baseline", "simd"][number]
    files = library("face", compile_stages(models["first"], config), models["first"])
    (tmp_path / "face.tar.gz").write_bytes(pack(files, "face"))
    text = blocks[number].replace("NAME", "face").replace("make ", "make -s ")
    assert len(blocks) == 2
    if number:
        (*_, command), readme = text.split("\n", 1), files["README.md"].decode()
        assert command.replace("make -s ", "make ") in readme
    done = subprocess.run(
        ["sh", "-ec", text.replace("python -m", f"{shlex.quote(sys.executable)} -m")],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    expected = "" if number else f"{example_output}cycles: 0\n"
    assert (done.returncode, done.stdout, done.stderr) == (0, expected, "")
    assert (tmp_path / "face" / "build" / "libkiwicha.a").is_file()


@pytest.mark.nightly
def test_cmake_builds_it(models: dict[str, bytes], example_output: str, tmp_path: Path) -> None:
    cmake = shutil.which("cmake")
    if cmake is None:
        requirements.unavailable("needs cmake: apt-get install cmake", is_failure_in_ci=False)
    root = library_builds.write_library(tmp_path, "simd", first=models["first"])
    options = [f"-DCMAKE_C_FLAGS={' '.join(WARNINGS)}", "-DKIWICHA_CFU_MODEL=ON"]
    tools.run([cmake, "-B", "out", "-S", ".", *options], name="cmake", folder=root)
    tools.run([cmake, "--build", "out"], name="cmake", folder=root)
    assert run(root / "out" / "kiwicha_example") == f"{example_output}cycles: 0\n"
