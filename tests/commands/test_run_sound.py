"""Recordings as inputs of ``kiwicha run``."""

import wave
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from kiwicha.commands.execution import model_inputs, prepare
from kiwicha.contract.sound import RATE_HZ
from kiwicha.errors import UsageError
from kiwicha.sound.spectra import SPECTRA, SpectrumKind
from tests.support.oracle.sequences import ask_in_a_row


def recording(path: Path, samples: int) -> Path:
    values = np.random.default_rng(samples).normal(0, 2000, samples).astype("<i2")
    with wave.open(str(path), "wb") as file:
        file.setparams((1, 2, RATE_HZ, 0, "NONE", ""))
        file.writeframes(values.tobytes())
    return path


@pytest.fixture(autouse=True)
def public_models(monkeypatch: pytest.MonkeyPatch, zoo_model: Callable[[str], Path]) -> None:
    """Let commands find public models where the tests do."""
    monkeypatch.setenv("KIWICHA_MODELS", str(zoo_model("micro_speech_quantized").parent))


def test_features_are_those_of_the_public_frontend(
    zoo_model: Callable[[str], Path], tmp_path: Path
) -> None:
    path = recording(tmp_path / "a.wav", RATE_HZ)
    (found,) = model_inputs(prepare("micro_speech", "simd"), [path])
    frontend = zoo_model("audio_preprocessor_int8").read_bytes()
    samples = np.frombuffer(path.read_bytes()[44:], "<i2")
    sets = [(samples[start : start + 480][None],) for start in range(0, 49 * 320, 320)]
    (answers,) = ask_in_a_row([(frontend, sets)])
    assert found == b"".join(answer.tobytes() for (answer,) in answers)


@pytest.mark.parametrize(("model", "kind"), [("kws", "mfcc"), ("str_ww", "log_mel")])
def test_words_of_mlperf_tiny_have_their_features(tmp_path: Path, model: str, kind: str) -> None:
    path = recording(tmp_path / "a.wav", RATE_HZ)
    workload = prepare(model, "simd")
    (found,) = model_inputs(workload, [path])
    (tensor,) = workload.program.inputs
    samples = np.frombuffer(path.read_bytes()[44:], "<i2")
    features = SPECTRA[SpectrumKind(kind)].quantized(samples, tensor.scale, tensor.zero_point)
    assert found == features.tobytes()[: tensor.ref.bytes]
    assert len(found) == tensor.ref.bytes


def test_a_picture_is_answered_with_what_the_model_takes(tmp_path: Path) -> None:
    picture = tmp_path / "a.png"
    with pytest.raises(UsageError, match=r"not a picture \(.*\); give a \.wav file$"):
        model_inputs(prepare("micro_speech", "simd"), [picture])
    with pytest.raises(UsageError, match=r"not a picture \(.*\); give their raw bytes$"):
        model_inputs(prepare("ad", "simd"), [picture])


def test_recordings_that_do_not_fit(tmp_path: Path) -> None:
    short = recording(tmp_path / "short.wav", RATE_HZ // 2)
    with pytest.raises(UsageError, match=r"recording must have 0\.99 seconds or more"):
        model_inputs(prepare("micro_speech", "simd"), [short])
    with pytest.raises(UsageError, match=r"recording must have 0\.99 seconds or more"):
        model_inputs(prepare("str_ww", "simd"), [short])
    with pytest.raises(UsageError, match="its frontend is not known"):
        model_inputs(prepare("demo", "simd"), [short])
