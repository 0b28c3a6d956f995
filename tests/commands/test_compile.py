"""``kiwicha compile``."""

import json
import re
import tarfile
from pathlib import Path

import pytest

from kiwicha.compiler import STAGES
from kiwicha.compiler.cpu.costs import cpu_cycles
from kiwicha.contract.program import Kernel
from kiwicha.program.image import Program
from tests.support.commands.command_line import Command
from tests.support.models import random_models, random_networks
from tests.support.models.tflite_builder import ModelBuilder


def test_compile_writes_program_and_listing(kiwicha: Command, tiny: Path, tmp_path: Path) -> None:
    code, out, _ = kiwicha("compile", tiny, "-o", tmp_path / "a" / "b", "--config", "baseline")
    assert code == 0
    raw = (tmp_path / "a" / "b" / "tiny.kiwicha").read_bytes()
    program = Program.from_bytes(raw)
    assert program.config.name == "baseline"
    assert f"{len(raw):,} bytes, 1 steps" in out
    assert "AVERAGE_POOL" in (tmp_path / "a" / "b" / "tiny.txt").read_text()


def test_compile_writes_what_c_projects_link(kiwicha: Command, tiny: Path, tmp_path: Path) -> None:
    assert kiwicha("compile", tiny, "-o", tmp_path)[0] == 0
    found = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    assert set(found) == {"tiny.kiwicha", "tiny.txt", "tiny.tar.gz"}
    with tarfile.open(tmp_path / "tiny.tar.gz") as archive:
        assert {"tiny/model/tiny.c", "tiny/model/tiny.h"} <= set(archive.getnames())
        for name in ("tiny.kiwicha", "tiny.txt"):
            content = archive.extractfile(f"tiny/{name}")
            assert content is not None
            assert content.read() == found[name]


def test_compile_goes_to_the_build_folder(
    kiwicha: Command, tiny: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert kiwicha("compile", tiny)[0] == 0
    assert (tmp_path / "build" / "tiny-simd" / "tiny.kiwicha").is_file()


@pytest.mark.parametrize("stage", STAGES)
def test_dump_prints_a_stage_and_writes_nothing(
    kiwicha: Command, tiny: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, stage: str
) -> None:
    monkeypatch.chdir(tmp_path)
    code, out, err = kiwicha("compile", tiny, "--dump", stage)
    assert (code, err) == (0, "")
    assert out.splitlines()
    assert not list(tmp_path.iterdir())
    assert stage in kiwicha("compile", "--help")[1]


def test_an_unknown_stage_is_refused(kiwicha: Command, tiny: Path) -> None:
    assert kiwicha.error("compile", tiny, "--dump", "ast").startswith("stage must be one of read,")


def test_compile_into_a_file_is_refused(kiwicha: Command, tiny: Path, pixels: Path) -> None:
    assert kiwicha.error("compile", tiny, "-o", pixels) == (
        f"-o must be a folder: File exists ({pixels})"
    )


def test_compile_for_an_engine_prints_what_it_expects(
    kiwicha: Command, tmp_path: Path, zoo_model
) -> None:
    sizes = {}
    for options in ((), ("--optimize", "size"), ("--no-eliminate",)):
        words = ["compile", zoo_model("mlperf_vww_96_int8"), "--config", "64", "-o", tmp_path]
        code, out, _ = kiwicha(*words, *options)
        assert code == 0
        lines = out.splitlines()
        assert lines[0].split() == [
            "layer",
            "operator",
            "cycles",
            "busy",
            "bound",
            "where",
            "weights",
            "bits",
            "each",
        ]
        assert lines[1].split()[:2] == ["0", "CONV_2D"]
        (found,) = filter(
            None, (re.fullmatch(r"208112 weights, (\S+) bits each; .*coded, .*", k) for k in lines)
        )
        assert " cycles, " in lines[lines.index(found[0]) - 1]
        sizes[options] = float(found[1])
    assert sizes["--optimize", "size"] < sizes[()] < 2 < sizes[("--no-eliminate",)]


def test_steps_of_the_cpu_have_their_lines(kiwicha: Command, tmp_path: Path) -> None:
    model = tmp_path / "model.tflite"
    model.write_bytes(random_models.single_operator("SOFTMAX", 1).model)
    code, out, _ = kiwicha("compile", model, "--config", "64", "-o", tmp_path / "out")
    assert code == 0
    steps = Program.from_bytes((tmp_path / "out" / "model.kiwicha").read_bytes()).steps
    assert {step.kernel for step in steps} >= {Kernel.SOFTMAX}
    cycles = sum(cpu_cycles(step) for step in steps)
    lines = out.splitlines()
    assert lines[1].split() == ["0", "SOFTMAX", str(cycles), "0", "cpu", "cpu"]
    assert lines[2] == f"total {cycles} cycles, {cycles} of them on the CPU"


def test_compile_says_why_a_layer_is_on_the_cpu(kiwicha: Command, tmp_path: Path) -> None:
    model = tmp_path / "model.tflite"
    builder = ModelBuilder()
    x, y = (builder.tensor((1, 1, columns, 8), scale=0.5) for columns in (301, 2))
    window = {"filterWidth": 300, "filterHeight": 1, "strideW": 1, "strideH": 1, "padding": 1}
    builder.operator("MAX_POOL_2D", [x], [y], **window)
    model.write_bytes(builder.build([x], [y]))
    facts = tmp_path / "facts.json"
    words = ["compile", model, "--config", "64", "-o", tmp_path / "out", "--json", facts]
    code, out, _ = kiwicha(*words)
    assert code == 0
    why = "it has 300 window columns; the engine takes up to 255"
    line = f"layer 0 MAX_POOL_2D is on the CPU: {why}"
    assert line in out.splitlines()
    assert line in (tmp_path / "out" / "model.txt").read_text().splitlines()
    with tarfile.open(tmp_path / "out" / "model.tar.gz") as archive:
        content = archive.extractfile("model/metadata.json")
        assert content is not None
        said = json.loads(content.read())
    assert said["on_cpu"] == [{"layer": 0, "operator": "MAX_POOL_2D", "why": why}]
    assert json.loads(facts.read_text())["on_cpu"] == said["on_cpu"]
    # The table's total, though no step is the engine's.
    assert f"total {said['predicted_cycles']} cycles, " in out
    assert kiwicha("compile", model, "--config", "simd", "-o", tmp_path / "simd")[0] == 0
    assert "on the CPU" not in (tmp_path / "simd" / "model.txt").read_text()


def test_a_double_buffer_is_an_option(kiwicha: Command, tiny: Path, tmp_path: Path) -> None:
    programs = []
    for options in ((), ("--single-buffer",), ("--double-buffer",)):
        folder = tmp_path / "".join(("to", *options))
        assert kiwicha("compile", tiny, "-o", folder, *options)[0] == 0
        programs.append((folder / "tiny.kiwicha").read_bytes())
    assert programs[0] == programs[1]
    assert [Program.from_bytes(raw).shift_bytes > 0 for raw in programs] == [False, False, True]


def test_an_unknown_goal_is_refused(kiwicha: Command, tiny: Path) -> None:
    error = kiwicha.error("compile", tiny, "--optimize", "speed")
    assert "'speed' is not one of 'cycles', 'size'" in error


def test_sizes_and_predictions_go_to_json(kiwicha: Command, tiny: Path, tmp_path: Path) -> None:
    seed = 0
    model, output = tmp_path / "net.tflite", tmp_path / "out"
    model.write_bytes(random_networks.engine_network(seed).model)
    words = ["compile", model, "--config", "64", "--optimize", "size", "-o", output]
    code, out, err = kiwicha(*words, "--json", "-")
    assert code == 0, err
    found = json.loads(out)
    assert (found["model"], found["config"], found["optimize"]) == ("net", "64", "size")
    assert found["program_bytes"] == (output / "net.kiwicha").stat().st_size
    predicted = found["predicted"]
    for name in ("weights", "weight_bytes", "raw_weight_bytes"):
        layers = [layer[name] for layer in predicted["layers"] if layer["weights"]]
        assert predicted[name] == sum(layers) > 0
    total, coded = predicted["streams"], predicted["coded_streams"]
    assert f"{coded} of {total} weight streams coded" in kiwicha(*words)[1]
    file = tmp_path / "simd.json"
    assert kiwicha("compile", tiny, "-o", output, "--json", file, "--dump", "check")[0] == 0
    assert json.loads(file.read_text())["predicted"] is None


def test_only_one_thing_is_printed(kiwicha: Command, tiny: Path) -> None:
    assert kiwicha.error("compile", tiny, "--dump", "check", "--json", "-") == (
        "--dump must be given without --json -: both print to standard output"
    )
