"""Model libraries: a C project unpacks one, links it, and gets the model's bytes."""

import dataclasses
import hashlib
import io
import json
import re
import shlex
import subprocess
import sys
import tarfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from kiwicha import tools
from kiwicha.compiler import compile_stages
from kiwicha.library import library, metadata, model_files, pack
from kiwicha.program.image import Program
from kiwicha.sim.reference import executor as reference
from tests.support.models import random_networks
from tests.support.requirements import REPOSITORY

CASE = random_networks.network(5)
COMPILATION = compile_stages(CASE.model, "baseline")
PROGRAM = COMPILATION.program
NAME = "2 odd-name"
PAGE = REPOSITORY / "docs" / "c-api.md"
DEMO = REPOSITORY / "src" / "kiwicha" / "data" / "face_detect.tflite"
WARNINGS = "-Wall -Wextra -Werror"

MAIN = r"""
#include <stdio.h>
#include <string.h>
#include "model/2 odd-name.h"
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


def unpack(raw: bytes, folder: Path) -> Path:
    with tarfile.open(fileobj=io.BytesIO(raw)) as archive:
        for entry in archive:
            path = folder / entry.name
            path.parent.mkdir(parents=True, exist_ok=True)
            content = archive.extractfile(entry)
            assert content is not None
            path.write_bytes(content.read())
    return folder


def test_a_c_project_links_it(tmp_path: Path) -> None:
    root = unpack(pack(library(NAME, COMPILATION, CASE.model), "lib"), tmp_path) / "lib"
    (root / "main.c").write_text(MAIN)
    sources = [str(path.relative_to(root)) for path in sorted(root.rglob("*.c"))]
    command = [
        *(*tools.cxx().command, "-std=c11", "-Wall", "-Wextra", "-Werror", "-O1", "-I."),
        *("-o", "example", *(word for source in sources for word in ("-x", "c", source))),
    ]
    subprocess.run(command, cwd=root, check=True)
    inputs = [np.asarray(value).tobytes() for value in CASE.inputs]
    done = subprocess.run([root / "example"], input=inputs[0], capture_output=True, check=False)
    assert done.returncode == 0
    expected = reference.run(PROGRAM, inputs)[0].tobytes()
    assert done.stdout == expected
    assert any(expected)


def page_commands() -> list[str]:
    """Give the page's commands that unpack and compile: for any machine, and for RISC-V."""
    blocks = re.findall(r"^```sh\n(.*?)^```$", PAGE.read_text(), re.MULTILINE | re.DOTALL)
    assert len(blocks) == 2
    return blocks


@pytest.mark.slow
@pytest.mark.parametrize("config", ["baseline", "simd", "64", "128"])
def test_it_compiles_as_the_page_says(config: str, tmp_path: Path) -> None:
    model = DEMO.read_bytes()
    packed = pack(library("face", compile_stages(model, config), model), "face")
    (tmp_path / "face.tar.gz").write_bytes(packed)
    text = page_commands()[config != "baseline"].replace("NAME", "face")
    text = text.replace(" -std=c11 ", f" -std=c11 {WARNINGS} ")
    text = text.replace("python -m", f"{shlex.quote(sys.executable)} -m")
    assert WARNINGS in text
    done = subprocess.run(
        ["sh", "-ec", text], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    sources = {path.with_suffix("") for path in tmp_path.rglob("*.c")}
    assert sources == {path.with_suffix("") for path in tmp_path.rglob("*.o")}


@pytest.mark.parametrize("config", ["baseline", "simd", "64", "128"])
def test_it_holds_every_header_that_it_includes(config: str, tmp_path: Path) -> None:
    model = DEMO.read_bytes()
    files = library("face", compile_stages(model, config), model)
    root = unpack(pack(files, "lib"), tmp_path) / "lib"
    for path in (*root.rglob("*.c"), *root.rglob("*.h")):
        for name in re.findall(r'#include "(.*)"', path.read_text()):
            assert (path.parent / name).is_file() or (root / name).is_file(), (path, name)


def test_the_same_bytes_for_the_same_model() -> None:
    again = compile_stages(CASE.model, "baseline")
    first = pack(library("m", COMPILATION, CASE.model), "m")
    assert first == pack(library("m", again, CASE.model), "m")
    other = compile_stages(CASE.model, "simd")
    assert first != pack(library("m", other, CASE.model), "m")


def test_metadata_says_what_is_inside() -> None:
    files = library("m", COMPILATION, CASE.model)
    said = json.loads(files["metadata.json"])
    assert said.pop("files") == {
        path: hashlib.sha256(raw).hexdigest()
        for path, raw in sorted(files.items())
        if path != "metadata.json"
    }
    assert said == metadata("m", COMPILATION, CASE.model)
    assert said["source_sha256"] == hashlib.sha256(CASE.model).hexdigest()
    assert said["memory"]["program"] == len(files["m.kiwicha"])
    assert said["memory"]["arena"] == PROGRAM.arena_bytes > 0
    assert said["predicted_cycles"] is None
    assert sum(sum(places.values()) for places in said["operators"].values()) == len(PROGRAM.layers)
    assert Program.from_bytes(files["m.kiwicha"]) is not None


def test_metadata_predicts_cycles_of_the_engine(zoo_model: Callable[[str], Path]) -> None:
    model = zoo_model("person_detect").read_bytes()
    said: dict[str, Any] = metadata("m", compile_stages(model, "64"), model)
    assert said["operators"]["CONV_2D"] == {"engine": 14}
    assert 100_000 < said["predicted_cycles"] < 150_000


@pytest.mark.parametrize(
    ("text", "literal"),
    [('a"b\\', '"a\\042b\\134"'), ("é1", '"\\303\\2511"'), ("??/", '"\\077\\077/"')],
)
def test_names_of_tensors_are_c_strings(text: str, literal: str) -> None:
    renamed = dataclasses.replace(PROGRAM.inputs[0], name=text)
    program = dataclasses.replace(PROGRAM, inputs=(renamed, *PROGRAM.inputs[1:]))
    assert f"_NAME {literal}\n".encode() in model_files("m", program)["m.h"]
