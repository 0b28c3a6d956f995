"""``kiwicha mlperf``."""

import json
import queue
import threading
import wave
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import serial

from kiwicha import cli
from kiwicha.mlperf import line as lines
from tests.support.commands.command_line import Command


@pytest.fixture(autouse=True)
def public_models(monkeypatch: pytest.MonkeyPatch, zoo_model: Callable[[str], Path]) -> None:
    """Let commands find public models where the tests do."""
    monkeypatch.setenv("KIWICHA_MODELS", str(zoo_model("mlperf_kws_ref_model").parent))


def test_latencies_stand_beside_published_ones(
    kiwicha: Command, hardware: Any, tmp_path: Path
) -> None:
    words = ("mlperf", "run", "kws", "ad", "--config", "64,simd", "--json", tmp_path / "a.json")
    code, out, _ = kiwicha(*words)
    assert code == 0
    assert [config for _, config in hardware.ran] == ["64", "simd", "64", "simd"]
    # The hardware of these tests takes 1000 cycles a layer.
    found = json.loads((tmp_path / "a.json").read_text())["results"]
    for one in found:
        assert one["milliseconds"] == one["cycles"] / 1e5
        assert {"hardware", "program"} <= one["inputs"].keys()
    (row,) = (line for line in out.splitlines() if "kiwicha 64" in line)
    assert f" {found[0]['milliseconds']:.3f} " in row
    assert "│ v1.1 fpgaconvnet zedboard " in out
    assert " 0.324 " in next(line for line in out.splitlines() if "zedboard" in line)
    assert "ZCU106" not in out
    for name in ("v1.1", "v1.2", "v1.3"):
        assert f"\n{name}: closed division (github.com/mlcommons/tiny_results_{name}, " in out


def test_accuracy_is_computed_where_there_is_data(
    kiwicha: Command, hardware: Any, tmp_path: Path
) -> None:
    x = np.zeros((3, 49, 10, 1), np.int8)
    np.savez(tmp_path / "kws.npz", x=x, y=np.arange(3))
    code, out, _ = kiwicha("mlperf", "run", "kws", "--data", tmp_path)
    assert code == 0
    # Equal inputs have equal answers.
    assert " of 3; wanted: 90 % top-1)" in out
    (tmp_path / "kws.npz").unlink()
    line = kiwicha.error("mlperf", "run", "kws", "--data", tmp_path)
    assert line == f"--data must be a folder with kws or kws.npz ({tmp_path})"


def test_the_area_of_ad_is_computed_where_there_is_data(
    kiwicha: Command, hardware: Any, tmp_path: Path
) -> None:
    x = np.random.default_rng(1).normal(-20, 9, (4, 2, 640))
    x[2:] *= 3
    np.savez(tmp_path / "ad.npz", x=x, y=[0, 0, 1, 1])
    words = ("mlperf", "run", "ad", "--data", tmp_path, "--json", tmp_path / "a.json")
    code, out, _ = kiwicha(*words)
    assert code == 0
    assert "AUC of ad: 1.0000 (4 recordings; wanted: 0.85 AUC)" in out
    (result,) = json.loads((tmp_path / "a.json").read_text())["results"]
    assert result["auc"] == 1


def test_a_recording_is_heard(kiwicha: Command, hardware: Any, tmp_path: Path) -> None:
    samples = np.random.default_rng(4).normal(0, 900, 20_000).astype("<i2")
    path = tmp_path / "a.wav"
    with wave.open(str(path), "wb") as file:
        file.setparams((1, 2, 16_000, 0, "NONE", ""))
        file.writeframes(samples.tobytes())
    words = tmp_path / "words.json"
    words.write_text(json.dumps([{"detection_windows": [[0.1, 0.4]]}]))
    made = tmp_path / "a.json"
    code, out, _ = kiwicha("mlperf", "stream", path, "--words", words, "--json", made)
    assert code == 0
    assert "inferences over 1.2 s of sound" in out
    assert " 1 false negatives, " in out
    found = json.loads(made.read_text())
    assert found["false_negatives"] == [0.1]
    assert found["duty_cycle"] == pytest.approx(found["milliseconds"] / 32)
    assert "never" in kiwicha("mlperf", "stream", path)[1]
    path.write_bytes(path.read_bytes()[:-20_000])
    line = kiwicha.error("mlperf", "stream", path)
    assert line == f"recording must have 0.99 seconds or more ({path})"


def test_wrong_hardware_exits_1(kiwicha: Command, hardware: Any) -> None:
    hardware.is_exact = False
    assert kiwicha("mlperf", "run", "kws")[0] == 1


def test_wrong_use_is_refused(kiwicha: Command) -> None:
    known = "benchmark must be one of vww, kws, ic, ad, sww, not 'mnist'"
    assert kiwicha.error("mlperf", "run", "mnist") == known
    assert kiwicha.error("mlperf", "serve", "mnist") == known
    line = kiwicha.error("mlperf", "serve", "kws", "--board", "arty_a7_35")
    assert line == "--board and --port must be given together"


def test_a_device_is_served(hardware: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    places: queue.Queue[str] = queue.Queue()
    original = lines.opened_line

    @contextmanager
    def opened_line(name: str | None, baud: int) -> Iterator[Any]:
        with original(name, baud) as (line, place):
            places.put(place)
            yield line, place

    monkeypatch.setattr(lines, "opened_line", opened_line)
    words = ["mlperf", "serve", "kws", "--config", "simd"]
    threading.Thread(target=cli.main, args=(words,), daemon=True).start()
    with serial.Serial(places.get(timeout=60), timeout=2) as runner:
        # Nothing comes if the device was ready before.
        runner.read_until(b"m-ready\r\n")
        runner.timeout = 30
        for command in ("db load 490", f"db {bytes(490).hex()}", "infer 2 0"):
            runner.write(f"{command}%".encode())
            answer = runner.read_until(b"m-ready\r\n").decode()
    assert hardware.ran == [("kws", "simd")]
    first, second = (
        int(word.removeprefix("m-lap-us-"))
        for word in answer.split("\r\n")
        if word.startswith("m-lap-us-")
    )
    # 10 microseconds a layer, at 100 MHz.
    assert second - first > 0
    assert (second - first) % 20 == 0
