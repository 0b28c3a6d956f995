"""The streaming wake word."""

import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from kiwicha.compiler import compile_model
from kiwicha.errors import UsageError
from kiwicha.firmware.native_library import NATIVE_CONFIG
from kiwicha.mlperf.streaming import STEP_SECONDS, counted, heard, read_windows, require_length
from kiwicha.sim.reference import executor as reference
from kiwicha.sound.spectra import SPECTRA, SpectrumKind


def test_a_word_counts_once_and_until_two_seconds_behind_its_end() -> None:
    found = counted([1.2, 1.3, 5.9, 6.1, 20.0], [(1.0, 1.5), (3.0, 4.0), (9.0, 9.5)])
    assert found.true_positives == (1.0, 3.0)
    assert found.false_negatives == (9.0,)
    assert found.false_positives == (6.1, 20.0)


def test_wrong_detections_within_a_second_are_one() -> None:
    times = [1.0, 1.5, 2.0, 2.5, 3.6]
    assert counted(times, []).false_positives == (1.0, 2.5, 3.6)


def test_windows_are_those_of_the_runners_file(tmp_path: Path) -> None:
    path = tmp_path / "words.json"
    path.write_text(json.dumps([{"wav_file": "a.wav", "detection_windows": [[1, 1.5], [4.0, 5]]}]))
    assert read_windows(path) == [(1.0, 1.5), (4.0, 5.0)]
    for text in ("[]", "{}", '[{"wav_file": 1}]', "no JSON", '[{"detection_windows": [[1]]}]'):
        path.write_text(text)
        with pytest.raises(UsageError, match=r"^file of words must be JSON, a list of one object"):
            read_windows(path)
    with pytest.raises(UsageError, match="cannot be read"):
        read_windows(tmp_path / "missing.json")


def test_every_step_hears_the_newest_frames(zoo_model: Callable[[str], Path]) -> None:
    path = zoo_model("mlperf_str_ww_ref_model")
    samples = np.random.default_rng(5).normal(0, 1000, 17_500).astype(np.int16)
    program = compile_model(path, NATIVE_CONFIG)
    done: list[int] = []
    times, values = heard(program, samples, done.append)
    tensor, output = program.inputs[0], program.outputs[0]
    features = SPECTRA[SpectrumKind.LOG_MEL].quantized(samples, tensor.scale, tensor.zero_point)
    assert len(times) == len(features) - 29 == done[-1] == 4
    assert np.diff(times) == pytest.approx(STEP_SECONDS)
    for number, value in enumerate(values):
        raw = features[number : number + 30].reshape(tensor.shape)
        (answer,) = reference.run(program, [raw])
        assert value == (int(answer.reshape(-1)[0]) - output.zero_point) * output.scale
    require_length(program, samples, path)
    with pytest.raises(UsageError, match=r"^recording must have 0\.99 seconds or more \("):
        require_length(program, samples[:15_000], path)
