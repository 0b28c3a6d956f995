"""``kiwicha run``."""

import json
import os
import random
import re
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from PIL import Image

from kiwicha.commands import execution
from kiwicha.errors import SimulationError
from kiwicha.sim.profile.written_parts import Compared, Difference
from tests.support.commands.command_line import Command
from tests.support.models.tflite_builder import ModelBuilder

# Of the fixture `pixels`, in windows of 2 x 2: the last is 61.5.
MEANS = bytes([35, 55, 50, 62])


def test_run_writes_output_and_report(
    kiwicha: Command, tiny: Path, pixels: Path, tmp_path: Path
) -> None:
    output, report = tmp_path / "out.bin", tmp_path / "report.json"
    words = ["--input", pixels, "--output", output, "--json", report, "--config", "baseline"]
    code, out, _ = kiwicha.reference(tiny, *words)
    assert code == 0
    assert output.read_bytes() == MEANS
    assert "AVERAGE_POOL_2D" in out
    found = json.loads(report.read_text())
    made = found.pop("made")
    assert made.keys() == {"date", "version", "command"}
    assert re.fullmatch(r"\d{4}-\d\d-\d\d \d\d:\d\d UTC", made["date"])
    assert found == {
        "model": "tiny",
        "config": "baseline",
        "target": "reference",
        "memory": "ddr3-quarter-rate",
        "cycles": None,
        "cycles_first": None,
        "macs": 0,
        "utilization": None,
        "bit_exact": None,
        "clock_hz": 100_000_000,
        "layers": [
            {"index": 0, "op": "AVERAGE_POOL_2D", "where": "cpu", "cycles": None, "macs": 0}
        ],
    }


def test_json_on_standard_output_is_alone_there(kiwicha: Command, tiny: Path, pixels: Path) -> None:
    code, out, _ = kiwicha.reference(tiny, "--input", pixels, "--json", "-")
    assert (code, json.loads(out)["model"]) == (0, "tiny")


def test_run_takes_a_picture(kiwicha: Command, tiny: Path, tmp_path: Path) -> None:
    picture, output = tmp_path / "grey.png", tmp_path / "out.bin"
    Image.fromarray(np.full((8, 8), 200, np.uint8)).save(picture)
    assert kiwicha.reference(tiny, "--input", picture, "--output", output)[0] == 0
    assert output.read_bytes() == bytes([72] * 4)


def test_labels_name_the_largest_output(
    kiwicha: Command, tiny: Path, pixels: Path, tmp_path: Path
) -> None:
    labels = tmp_path / "labels.txt"
    labels.write_text("ant\nbee\ncat\ndog\n")
    code, out, _ = kiwicha.reference(tiny, "--input", pixels, "--labels", labels)
    assert code == 0
    assert "answer: dog (2950.0 %)" in out  # 0.5 * (62 - 3)


def test_labels_must_be_text_and_one_for_each_element(
    kiwicha: Command, tiny: Path, pixels: Path, tmp_path: Path
) -> None:
    labels = tmp_path / "labels.txt"

    def error() -> str:
        return kiwicha.error("run", tiny, "--input", pixels, "--labels", labels)

    text = "labels must be a readable text file: "
    assert error() == f"{text}No such file or directory ({labels})"
    labels.write_bytes(b"\xff\n")
    assert error().startswith(f"{text}'utf-8' codec can't decode")
    labels.write_text("ant\nbee\ncat\n")
    assert error() == (
        "labels must have 4 lines, one for each element of the model's first output, not 3 "
        f"({labels})"
    )


def test_names_with_brackets_are_printed_as_they_are(
    kiwicha: Command, tiny: Path, pixels: Path, tmp_path: Path
) -> None:
    model, labels = tmp_path / "p[bold]q.tflite", tmp_path / "labels.txt"
    model.write_bytes(tiny.read_bytes())
    labels.write_text("[/x]\n[bold\n:cat:\n[/x] [red]dog\n")
    code, out, err = kiwicha.reference(model, "--input", pixels, "--labels", labels)
    assert code == 0, err
    assert "p[bold]q on simd (reference)" in out
    assert "p[bold]q on simd: 0 MACs" in out
    assert "answer: [/x] [red]dog (2950.0 %)" in out


def test_inputs_go_to_the_model_in_their_order(
    kiwicha: Command, adder: Path, tmp_path: Path
) -> None:
    names = [tmp_path / name for name in ("a.bin", "b.bin", "sum.bin")]
    for name, raw in zip(names, ([1, 2, 3, 4], [10, 20, 30, 40], [11, 22, 33, 44]), strict=True):
        name.write_bytes(bytes(raw))
    words = ["--input", names[0], "--input", names[1], "--expect", names[2], "--json", "-"]
    code, out, err = kiwicha.reference(adder, *words)
    assert (code, json.loads(out)["bit_exact"]) == (0, True), err


@pytest.mark.parametrize("dtype", [np.uint8, np.float32, np.int32])
def test_a_difference_is_shown_as_values_of_the_output(
    kiwicha: Command, tmp_path: Path, dtype: type[np.generic]
) -> None:
    model, image, expect = (tmp_path / name for name in ("m.tflite", "in.bin", "expect.bin"))
    builder = ModelBuilder()
    kind = np.uint8 if dtype is np.uint8 else np.int8
    x = builder.tensor((1, 4), kind, scale=0.5)
    if dtype is np.int32:
        axis = builder.tensor((1,), np.int32, data=np.array([1], np.int32))
        y = builder.tensor((1,), np.int32)
        builder.operator("ARG_MAX", [x, axis], [y], outputType=2)
    else:
        y = builder.tensor((1, 4), dtype, scale=0.5 if dtype is np.uint8 else None)
        builder.operator("RELU" if dtype is np.uint8 else "DEQUANTIZE", [x], [y])
    model.write_bytes(builder.build([x], [y]))
    values = np.array([1, 2, 253, 4], np.uint8)
    image.write_bytes(values.tobytes())
    outputs = {np.uint8: values, np.float32: np.array([0.5, 1, -1.5, 2]), np.int32: np.array([3])}
    wanted = outputs[dtype].astype(dtype)
    expect.write_bytes(wanted.tobytes())
    words = ["--input", image, "--expect", expect, "--config", "baseline"]
    assert kiwicha.reference(model, *words)[0] == 0
    wrong = wanted.copy()
    wrong[-2:] += dtype(200)
    expect.write_bytes(wrong.tobytes())
    code, _, err = kiwicha.reference(model, *words)
    assert code == 1
    texts = {
        np.uint8: "index 2: 253, expected 197 (2 of 4 values differ)",
        np.float32: "index 2: -1.5, expected 198.5 (2 of 4 values differ)",
        np.int32: "index 0: 3, expected 203 (1 of 1 values differ)",
    }
    assert err.splitlines()[-1] == f"kiwicha: output differs first at {texts[dtype]} ({expect})"


def test_a_difference_names_its_output(kiwicha: Command, tmp_path: Path) -> None:
    model, image, expect = (tmp_path / name for name in ("m.tflite", "in.bin", "expect.bin"))
    builder = ModelBuilder()
    x, y = (builder.tensor((1, 4), name=name, scale=0.5) for name in "xy")
    z = builder.tensor((1, 4), np.float32, name="z")
    builder.operator("RELU", [x], [y])
    builder.operator("DEQUANTIZE", [y], [z])
    model.write_bytes(builder.build([x], [y, z]))
    image.write_bytes(bytes([1, 2, 3, 4]))
    expect.write_bytes(bytes([1, 2, 3, 4]) + np.array([0.5, 7, 1.5, 2], np.float32).tobytes())
    words = ["--input", image, "--expect", expect, "--config", "baseline"]
    code, _, err = kiwicha.reference(model, *words)
    assert code == 1
    place = "output 1 ('z') differs first at index 1: 1.0, expected 7.0 (1 of 8 values differ)"
    assert err.splitlines()[-1] == f"kiwicha: {place} ({expect})"


def test_a_difference_exits_1_and_names_the_first_index(
    kiwicha: Command, tiny: Path, pixels: Path, tmp_path: Path
) -> None:
    expect = tmp_path / "expect.bin"
    expect.write_bytes(MEANS[:1] + bytes([0x80]) + MEANS[2:3] + bytes([1]))
    words = ["--input", pixels, "--expect", expect, "--json", "-"]
    code, out, err = kiwicha.reference(tiny, *words)
    assert (code, json.loads(out)["bit_exact"]) == (1, False)
    assert err.splitlines()[-1] == (
        "kiwicha: output differs first at index 1: 55, expected -128 (2 of 4 values differ) "
        f"({expect})"
    )


def test_the_wrong_number_of_inputs(kiwicha: Command, adder: Path, pixels: Path) -> None:
    assert kiwicha.error("run", adder, "--input", pixels) == (
        "--input must be given 2 times, not once ('t0': int8 1x4, 4 bytes; 't1': int8 1x4, 4 bytes)"
    )


def test_the_wrong_size_of_input(kiwicha: Command, tiny: Path, tmp_path: Path) -> None:
    short = tmp_path / "short.bin"
    short.write_bytes(bytes(15))
    assert kiwicha.error("run", tiny, "--input", short) == (
        f"input 't0' must be int8 1x4x4x1, 16 bytes, or a picture, not 15 bytes ({short})"
    )


def test_the_wrong_size_of_expected_output(kiwicha: Command, tiny: Path, pixels: Path) -> None:
    assert kiwicha.error("run", tiny, "--input", pixels, "--expect", pixels) == (
        f"expected output must have 4 bytes, not 16 ({pixels})"
    )


@pytest.mark.parametrize("option", ["--output", "--json"])
def test_an_output_nowhere_is_refused_before_work_starts(
    kiwicha: Command, tiny: Path, option: str, tmp_path: Path
) -> None:
    place = tmp_path / "no" / "file"
    assert kiwicha.error("run", tiny, option, place) == (
        f"output must be a file in an existing folder, not {place}"
    )


def test_an_output_is_no_file_that_has_another_use(
    kiwicha: Command, tiny: Path, pixels: Path, tmp_path: Path
) -> None:
    other = tmp_path / "other"
    other.symlink_to(pixels)
    for words in (
        ("--output", tiny),
        ("--input", pixels, "--output", other),
        ("--expect", pixels, "--json", pixels),
        ("--output", tmp_path / "new", "--json", tmp_path / "new"),
    ):
        assert kiwicha.error("run", tiny, *words) == (
            f"output must be a file of its own, not {words[-1]}, which the command also reads or "
            "writes"
        )


def test_an_output_that_may_not_be_written_is_refused_before_work_starts(
    kiwicha: Command, tiny: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # The permissions themselves do not hold back root.
    locked = {str(tmp_path), str(tmp_path / "old")}
    monkeypatch.setattr(os, "access", lambda path, mode: mode != os.W_OK or str(path) not in locked)
    new, old = tmp_path / "new", tmp_path / "old"
    error = kiwicha.error("run", tiny, "--output", new)
    assert error == f"output must be writable, but {tmp_path} is not ({new})"
    old.touch()
    locked.remove(str(tmp_path))
    error = kiwicha.error("run", tiny, "--output", old)
    assert error == f"output must be writable, but {old} is not ({old})"


def test_an_unknown_configuration_gets_the_nearest(kiwicha: Command, tiny: Path) -> None:
    error = kiwicha.error("run", tiny, "--config", "smd")
    assert error.startswith("config must be one of baseline, simd, 32, 64, 128 or 256; ")
    assert error.endswith("; not 'smd'; nearest is 'simd'")


def test_an_unknown_model_gets_the_nearest(kiwicha: Command) -> None:
    assert kiwicha.error("run", "person_detct").endswith("nearest is 'person_detect'")


@pytest.mark.parametrize(
    ("option", "values"),
    [
        ("--trace", ["t.fst"]),
        ("--max-cycles", ["9"]),
        ("--check-boot", []),
        ("--check-jobs", []),
    ],
)
def test_options_of_the_simulation_need_it(
    kiwicha: Command, tiny: Path, pixels: Path, option: str, values: list[str]
) -> None:
    words = ["run", tiny, "--input", pixels, "--target", "reference", option, *values]
    assert kiwicha.error(*words) == (
        f"{option} must be given with --target sim, not with --target reference"
    )


@pytest.mark.parametrize("options", [[], ["--check-boot"]])
def test_firmware_checks_on_request(
    kiwicha: Command,
    tiny: Path,
    pixels: Path,
    monkeypatch: pytest.MonkeyPatch,
    options: list[str],
) -> None:
    asked: list[bool] = []

    def refuse(*_: object, check_boot: bool, **__: object) -> None:
        asked.append(check_boot)
        raise SimulationError("no simulator")

    monkeypatch.setattr(execution, "run_program", refuse)
    assert "no simulator" in kiwicha("run", tiny, "--input", pixels, *options)[2]
    assert asked == [bool(options)]


@pytest.mark.parametrize("options", [[], ["--check-jobs"]])
def test_jobs_are_checked_on_request(
    kiwicha: Command,
    tiny: Path,
    pixels: Path,
    monkeypatch: pytest.MonkeyPatch,
    options: list[str],
) -> None:
    asked: list[bool] = []

    def refuse(*, is_checked: bool) -> None:
        asked.append(is_checked)
        raise SimulationError("no simulator")

    monkeypatch.setattr(execution, "run_program", lambda *_, **__: refuse(is_checked=False))
    monkeypatch.setattr(execution, "run_checked", lambda *_, **__: refuse(is_checked=True))
    assert "no simulator" in kiwicha("run", tiny, "--input", pixels, *options)[2]
    assert asked == [bool(options)]


def test_what_a_check_of_jobs_finds_is_an_error() -> None:
    difference = Difference("job 3", 0x20, False, -1, 5, 900, 2, 40)
    for found, lines in ((None, 1), (difference, 0)):
        outcome = SimpleNamespace(compared=Compared(difference=found))
        assert len(execution.checked_jobs(outcome)) == lines
        assert len(execution.differing_jobs(outcome)) == 1 - lines
    text = "job 3 differs first at byte 0x20 of the scratchpad: -1, expected 5, in cycle 900 "
    assert execution.differing_jobs(outcome) == [f"{text}(2 of 40 bytes differ)"]
    outcome = SimpleNamespace(compared=None)
    assert execution.checked_jobs(outcome) == execution.differing_jobs(outcome) == []


def test_the_first_cycle_of_a_trace_needs_the_trace(kiwicha: Command, tiny: Path) -> None:
    error = kiwicha.error("run", tiny, "--trace-start", 5)
    assert error == "--trace-start must be given with --trace"


@pytest.mark.parametrize("option", ["--trace-start", "--max-cycles"])
def test_cycles_have_a_limit(kiwicha: Command, tiny: Path, option: str) -> None:
    error = kiwicha.error("run", tiny, option, 2**63)
    assert error.startswith(f"Invalid value for '{option}': ")


@pytest.mark.parametrize("name", ["w.gtkw", "w.sucl", "w.fst.gz", "w"])
def test_waveforms_have_their_suffix(
    kiwicha: Command, tiny: Path, pixels: Path, tmp_path: Path, name: str
) -> None:
    words = ["run", tiny, "--input", pixels, "--trace", tmp_path / name]
    assert kiwicha.error(*words) == f"trace must end in .fst, not '{name}'"
    assert not (tmp_path / name).exists()


@pytest.mark.parametrize("content", [b"", b"not a model", bytes(1000)])
def test_a_file_that_is_no_model(kiwicha: Command, tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "bad.tflite"
    path.write_bytes(content)
    assert kiwicha.error("run", path, "--target", "reference").startswith(
        f"{path}: the file must be a TFLite model, with TFL3 in bytes 4 to 7, not "
    )


@pytest.mark.parametrize("seed", range(25))
def test_a_damaged_model_never_shows_a_traceback(
    kiwicha: Command, tiny: Path, pixels: Path, tmp_path: Path, seed: int
) -> None:
    rng = random.Random(seed)
    raw = bytearray(tiny.read_bytes())
    for _ in range(rng.randint(1, 8)):
        raw[rng.randrange(len(raw))] = rng.randrange(256)
    path = tmp_path / "damaged.tflite"
    path.write_bytes(raw[: rng.choice([len(raw), rng.randrange(len(raw))])])
    code, _, err = kiwicha.reference(path, "--input", pixels)
    assert code in {0, 2}
    assert "internal error" not in err
    assert "Traceback" not in err


@pytest.mark.verilator
def test_run_simulates_and_compares_with_the_reference(
    kiwicha: Command, adder: Path, tmp_path: Path
) -> None:
    raw = tmp_path / "four.bin"
    raw.write_bytes(bytes([1, 2, 3, 4]))
    expect = tmp_path / "expect.bin"
    expect.write_bytes(bytes([2, 4, 6, 8]))
    inputs = ["run", adder, "--input", raw, "--input", raw]
    code, out, err = kiwicha(*inputs, "--expect", expect, "--json", "-")
    report = json.loads(out)
    assert code == 0, err
    assert (report["target"], report["bit_exact"]) == ("sim", True)
    assert report["cycles"] == report["cycles_first"] > 0
    assert 0 < sum(layer["cycles"] for layer in report["layers"]) <= report["cycles"]
    assert "must end within 100 cycles" in kiwicha(*inputs, "--max-cycles", 100)[2]


@pytest.mark.nightly
@pytest.mark.verilator
def test_run_writes_waveforms(kiwicha: Command, adder: Path, tmp_path: Path) -> None:
    raw, trace = tmp_path / "four.bin", tmp_path / "waves.fst"
    raw.write_bytes(bytes([1, 2, 3, 4]))
    code, out, err = kiwicha("run", adder, "--input", raw, "--input", raw, "--trace", trace)
    assert code == 0, err
    assert "bit-exact" in out
    assert trace.stat().st_size > 0
