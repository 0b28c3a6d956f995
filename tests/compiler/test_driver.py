"""The passes together: reproducible, quick, printable, and free of hardware libraries."""

import re
import subprocess
import sys
import time
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

import numpy as np
import pytest

from kiwicha.compiler import (
    STAGES,
    Compilation,
    compile_model,
    compile_stages,
    dump,
    listing,
    require_supported,
)
from kiwicha.compiler.driver import EnginePlan
from kiwicha.compiler.engine.ir.engine_list import EngineList
from kiwicha.compiler.lower.network import Network
from kiwicha.compiler.tflite.graph import Graph
from kiwicha.contract import configs
from kiwicha.errors import KiwichaError, ModelError, UnsupportedModelError, UsageError
from kiwicha.program.image import Program
from tests.support.models import random_networks
from tests.support.models.detectors import detector
from tests.support.models.tflite_builder import ModelBuilder
from tests.support.requirements import REPOSITORY

MODEL = random_networks.network(5).model
SECONDS = 3.0
"""In which the largest public int8 model is compiled."""


def run_python(code: str, *arguments: str, hash_seed: str = "0") -> str:
    done = subprocess.run(
        [sys.executable, "-c", code, *arguments],
        check=True,
        capture_output=True,
        text=True,
        env={"PYTHONHASHSEED": hash_seed, "PATH": ""},
    )
    return done.stdout


@pytest.mark.parametrize("config", configs.CONFIGS)
def test_same_bytes_in_every_process(config: str, tmp_path: Path) -> None:
    path = tmp_path / "m.tflite"
    path.write_bytes(MODEL)
    code = (
        "import hashlib, sys; from kiwicha.compiler import compile_model; "
        "raw = compile_model(sys.argv[1], sys.argv[2]).to_bytes(); "
        "print(hashlib.sha256(raw).hexdigest())"
    )
    digests = {run_python(code, str(path), config, hash_seed=seed) for seed in ("1", "2", "3")}
    assert len(digests) == 1


def test_takes_path_bytes_and_names(tmp_path: Path) -> None:
    path = tmp_path / "m.tflite"
    path.write_bytes(MODEL)
    raw = compile_model(MODEL, "simd").to_bytes()
    assert compile_model(path, configs.CONFIGS["simd"]).to_bytes() == raw
    assert compile_model(str(path), "simd").to_bytes() == raw
    assert Program.from_bytes(raw).to_bytes() == raw


def test_refuses_unknown_configurations() -> None:
    with pytest.raises(
        UsageError, match=r"^config must be one of .* 32, 64, 128 or 256; .* 'turbo'"
    ):
        compile_model(MODEL, "turbo")


def test_refuses_missing_files(tmp_path: Path) -> None:
    path = tmp_path / "missing.tflite"
    with pytest.raises(
        UsageError, match=rf"^model file {path} cannot be read: No such file or directory$"
    ):
        compile_model(path, "simd")


def test_refuses_folders_and_impossible_names(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=rf"^model file {tmp_path} must be a file$"):
        compile_model(tmp_path, "simd")
    with pytest.raises(UsageError, match=r"^model file a\0b cannot be read: embedded null byte$"):
        compile_model("a\0b", "simd")


def unsupported() -> bytes:
    builder = ModelBuilder()
    x, y = (builder.tensor((1, 4), name=name, dtype=np.float32) for name in "xy")
    builder.operator("RELU", [x], [y])
    return builder.build([x], [y])


@pytest.mark.parametrize(
    ("raw", "kind"),
    [
        (b"<html>", ModelError),
        (MODEL[: len(MODEL) // 2], ModelError),
        (unsupported(), UnsupportedModelError),
    ],
)
def test_errors_name_the_file_once(raw: bytes, kind: type[KiwichaError], tmp_path: Path) -> None:
    path = tmp_path / "m.tflite"
    path.write_bytes(raw)
    with pytest.raises(kind) as bare:
        compile_model(raw, "simd")
    for refuse in (lambda: compile_model(path, "64"), lambda: require_supported(str(path))):
        with pytest.raises(kind) as named:
            refuse()
        assert str(named.value) == f"{path}: {bare.value}"
        assert vars(named.value) | {"place": ""} == vars(bare.value) | {"place": ""}


def test_largest_public_model_is_quick(zoo_model) -> None:
    path = zoo_model("cfu_mobilenetv2_160_035")
    started = time.process_time()
    compile_model(path, "simd")
    assert time.process_time() - started < SECONDS


def test_constants_are_stored_once() -> None:
    builder = ModelBuilder()
    x, y, z = (builder.tensor((1, 64), name=name, scale=0.5) for name in "xyz")
    first, second = (builder.tensor((1, 64), scale=0.5, data=np.arange(64)) for _ in range(2))
    builder.operator("ADD", [x, first], [y])
    builder.operator("SUB", [y, second], [z])
    program = compile_model(builder.build([x], [z]), "baseline")
    assert program.constants == bytes(range(64))


STAGE_MODEL = random_networks.network(2).model
"""With operations of the engine and kernels of the CPU."""


@pytest.fixture(scope="module")
def compilation() -> Compilation:
    return compile_stages(STAGE_MODEL, "64")


def operators(graph: Graph) -> list[str]:
    return [f"operator {o.index:3} {o.name} " for o in graph.operators]


def layers(network: Network) -> list[str]:
    return [f"operator {layer.operator:3} {layer.name} " for layer in network.layers]


def lists(found: Sequence[EngineList]) -> list[str]:
    return [f"list {n:3} {len(item.jobs)} jobs, " for n, item in enumerate(found)]


EXPECTED: dict[str, Callable[[Compilation], Iterable[str]]] = {
    "read": lambda c: operators(c.file),
    "fold": lambda c: operators(c.folded),
    "check": lambda c: operators(c.graph),
    "lower": lambda c: layers(c.lowered),
    "eliminate": lambda c: layers(c.network),
    "select": lambda c: [r.text for d in c.engine.selection.decisions for r in d.refusals],
    "operations": lambda c: [f"layer {o.position:3} " for o in c.engine.operations],
    "regions": lambda c: [f"stores tensors {sorted(r.stores)}" for r in c.engine.regions],
    "schedule": lambda c: [f" {item.scratchpad_bytes} bytes" for item in c.engine.plans],
    "generate": lambda c: lists(c.engine.lists),
    "code": lambda c: lists(c.lists),
    "kernels": lambda c: [f"layer {call.layer:3} {call.kernel.name}" for call in c.kernel_calls],
    "overlap": lambda c: [f"step {n:3} {call.kernel.name} " for n, call in enumerate(c.calls)],
    "allocate": lambda c: [str(item.buffer.bytes) for item in c.memory.placements],
    "emit": lambda c: [f": {step.kernel.name} for layer" for step in c.program.steps],
}


def test_the_model_has_all_that_stages_show(compilation: Compilation) -> None:
    assert list(EXPECTED) == list(STAGES)
    assert all(list(expected(compilation)) for expected in EXPECTED.values())


@pytest.mark.parametrize("stage", STAGES)
def test_every_stage_is_printed(stage: str, compilation: Compilation) -> None:
    text = dump(compilation, stage)
    assert text == dump(compile_stages(STAGE_MODEL, "64"), stage)
    assert text.endswith("\n")
    for part in EXPECTED[stage](compilation):
        assert part in text


@pytest.mark.parametrize("stage", STAGES)
def test_every_stage_is_printed_without_an_engine(stage: str) -> None:
    assert dump(compile_stages(MODEL, "simd"), stage).strip()


def test_stages_of_the_engine_are_empty_without_one() -> None:
    found = compile_stages(MODEL, "simd")
    assert vars(found.engine) == vars(EnginePlan())
    assert found.lowered is found.network
    assert len(found.kernel_calls) == len(found.calls)


def test_what_the_host_does_is_printed() -> None:
    found = compile_stages(detector(0).model, "baseline")
    assert "the host finds boxes in the outputs" in dump(found, "check")
    assert "CUSTOM:" in dump(found, "fold")
    assert "CUSTOM:" not in dump(found, "check")


def test_the_page_on_commands_lists_the_stages() -> None:
    page = (REPOSITORY / "docs" / "command-line.md").read_text(encoding="utf-8")
    _, _, table = page.partition("| stage |")
    assert re.findall(r"^\| `(\w+)` \|", table.partition("\n\n")[0], re.MULTILINE) == list(STAGES)


def test_listing_shows_every_reference() -> None:
    program = compile_model(MODEL, "simd")
    text = listing(program)
    assert f"configuration simd ({program.config_hash:08x})" in text
    assert f"arena of {program.arena_bytes} bytes" in text
    for step in program.steps:
        for name, kind, _ in step.params.layout():
            ref = getattr(step.params, name)
            if kind.base == "ref" and ref.bytes:
                where = "constants" if ref.is_constant else "arena"
                assert f"{where}[{ref.offset:#x}..{ref.offset + ref.bytes:#x}]" in text


def test_listing_names_unknown_configurations() -> None:
    program = compile_model(MODEL, "simd")
    other = Program(0x1234, *(getattr(program, f) for f in list(vars(program))[1:]))
    assert "configuration 00001234, unknown to this version" in listing(other)


def test_refuses_unknown_stages() -> None:
    with pytest.raises(
        UsageError,
        match=rf"^stage must be one of {', '.join(STAGES)}, not asm$",
    ):
        dump(compile_stages(MODEL, "simd"), "asm")


def test_needs_no_hardware_library() -> None:
    code = "import sys, kiwicha.compiler; print(*sys.modules)"
    modules = run_python(code).split()
    roots = {".".join(name.split(".")[:2]) for name in modules if name.startswith("kiwicha")}
    assert not {"amaranth", "migen", "litex"} & set(modules)
    assert not {f"kiwicha.{x}" for x in ("gateware", "sim", "firmware", "boards")} & roots
    assert "kiwicha.compiler" in roots


@pytest.mark.nightly
def test_a_large_model_takes_moderate_time_and_memory(zoo_model) -> None:
    code = """
import resource, sys
from kiwicha.compiler import compile_model
compile_model(sys.argv[1], "64")
used = resource.getrusage(resource.RUSAGE_SELF)
print(used.ru_utime + used.ru_stime, used.ru_maxrss)
"""
    command = [sys.executable, "-c", code, str(zoo_model("mobilenet_v2_1.0_224_quant"))]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    seconds, kilobytes = map(float, done.stdout.split())
    assert seconds <= 20
    assert kilobytes <= 2_000_000
