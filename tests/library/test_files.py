"""Model libraries: what is in them."""

import dataclasses
import hashlib
import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from kiwicha.compiler import compile_stages
from kiwicha.library import library, metadata, model_files, pack
from kiwicha.program.image import Program
from tests.support.library_builds import unpack
from tests.support.models import random_networks
from tests.support.requirements import REPOSITORY

CASE = random_networks.network(5)
COMPILATION = compile_stages(CASE.model, "baseline")
PROGRAM = COMPILATION.program
DEMO = REPOSITORY / "src" / "kiwicha" / "data" / "face_detect.tflite"


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


@pytest.mark.parametrize("double_buffer", [False, True])
def test_what_is_known_is_known_at_compile_time(double_buffer: bool) -> None:
    compilation = compile_stages(CASE.model, "64", double_buffer=double_buffer)
    said = metadata("m", compilation, CASE.model)
    text = model_files("m", compilation.program)["m.h"].decode()
    numbers = {
        name: int(value)
        for name, value in re.findall(r"#define M_(\w+) (?:UINT64_C\()?(\d+)u?\)?\n", text)
    }
    memory, (tensor,) = said["memory"], said["inputs"]
    assert numbers["PROGRAM_BYTES"] == memory["program"]
    assert numbers["ARENA_BYTES"] == memory["arena"]
    assert numbers["STACK_BYTES"] == memory["stack"] > 0
    assert numbers["SHIFT_BYTES"] == memory.get("shift", 0)
    assert (numbers["SHIFT_BYTES"] > 0) == double_buffer
    assert numbers["WORST_CYCLES"] == said["worst_cycles"] > said["predicted_cycles"]
    assert numbers["INPUT_0_OFFSET"] == tensor["offset"]
    assert numbers["INPUT_0_BYTES"] == tensor["bytes"]
    assert numbers["OUTPUT_0_OFFSET"] == said["outputs"][0]["offset"]


def test_the_readme_is_of_the_model() -> None:
    said = metadata("m", COMPILATION, CASE.model)
    text = library("m", COMPILATION, CASE.model)["README.md"].decode()
    assert f"Model m, compiled by Kiwicha {said['kiwicha']} for configuration baseline." in text
    assert f"| its cycles, at most | {said['worst_cycles']:,} |" in text
    assert '#include "model/m.h"' in text
    assert "uint8_t arena[M_ARENA_BYTES]" in text
    assert "sample" not in text.lower()
    assert "KIWICHA_FACTS" not in text


def test_the_licence_is_the_repositorys() -> None:
    wanted = (REPOSITORY / "LICENSE").read_bytes()
    assert library("m", COMPILATION, CASE.model)["LICENSE"] == wanted
