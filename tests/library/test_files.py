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
