"""``kiwicha listen``."""

import json
import wave
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from kiwicha.contract.sound import RATE_HZ
from tests.support.commands.command_line import Command
from tests.support.requirements import find_in_models

NABU = "microwakeword_okay_nabu_v2"


@pytest.fixture
def recording(tmp_path: Path) -> Path:
    path = tmp_path / "noise.wav"
    samples = np.random.default_rng(0).normal(0, 2000, RATE_HZ).astype("<i2")
    with wave.open(str(path), "wb") as file:
        file.setparams((1, 2, RATE_HZ, 0, "NONE", ""))
        file.writeframes(samples.tobytes())
    return path


def test_a_recording_without_the_wake_word(
    kiwicha: Command, recording: Path, zoo_model: Callable[[str], Path]
) -> None:
    arguments = ("listen", str(zoo_model(NABU)), "--input", str(recording))
    code, out, _ = kiwicha(*arguments, "--target", "reference")
    assert code == 0
    first, sound, costs = out.splitlines()
    assert first == "nothing heard"
    assert sound.startswith("1.00 s of sound: 98 frames, 32 inferences")
    assert "cycles per second of sound on 64, predicted" in costs
    code, _, error = kiwicha(*arguments, "--target", "reference", "--config", "nothing")
    assert code == 2
    assert "nothing" in error


def test_a_manifest_says_when_a_word_is_heard(
    kiwicha: Command, recording: Path, zoo_model: Callable[[str], Path], tmp_path: Path
) -> None:
    micro = {"probability_cutoff": 0, "sliding_window_size": 1, "feature_step_size": 10}
    content = {"type": "micro", "wake_word": "anything", "model": "m.tflite", "micro": micro}
    (tmp_path / "m.tflite").write_bytes(zoo_model(NABU).read_bytes())
    manifest = tmp_path / "m.json"
    manifest.write_text(json.dumps(content))
    code, out, _ = kiwicha(
        *("listen", str(manifest), "--input", str(recording), "--target", "reference"),
        *("--config", "simd"),
    )
    assert code == 0
    # The first inference of this model never says 0: it has heard three frames.
    assert out.startswith("anything at 0.05 s (mean probability 0.0")
    assert out.splitlines()[-1] == "cycles of simd: --target sim measures them"


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        ((), "--input or --microphone must be given, not neither"),
        (("--input", "a.wav", "--microphone"), "must be given, not both"),
        (
            ("--microphone", "--target", "sim"),
            "--microphone must be given with --target native or reference, or with --input",
        ),
    ],
)
def test_options_that_do_not_fit(kiwicha: Command, arguments: tuple[str, ...], text: str) -> None:
    code, _, error = kiwicha("listen", "m.tflite", *arguments)
    assert code == 2
    assert text in error


@pytest.mark.parametrize(("word", "seconds"), [("yes", "0.81"), ("no", "0.91")])
def test_a_window_that_moves_on(
    kiwicha: Command,
    zoo_model: Callable[[str], Path],
    monkeypatch: pytest.MonkeyPatch,
    word: str,
    seconds: str,
) -> None:
    monkeypatch.setenv("KIWICHA_MODELS", str(zoo_model("micro_speech_quantized").parent))
    recording = find_in_models(f"inputs/{word}_1000ms.wav")
    code, out, _ = kiwicha("listen", "micro_speech", "--input", str(recording))
    assert code == 0
    first, sound, _ = out.splitlines()
    assert first.startswith(f"{word} at {seconds} s (mean probability 0.9")
    assert sound == "1.00 s of sound: 49 frames, 9 inferences of micro_speech"


@pytest.mark.nightly
@pytest.mark.verilator
def test_the_simulated_microphone_hears_a_recording(
    kiwicha: Command,
    zoo_model: Callable[[str], Path],
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
) -> None:
    path = tmp_path / "short.wav"
    samples = np.random.default_rng(1).normal(0, 2000, 1800).astype("<i2")
    with wave.open(str(path), "wb") as file:
        file.setparams((1, 2, RATE_HZ, 0, "NONE", ""))
        file.writeframes(samples.tobytes())
    monkeypatch.setenv("KIWICHA_MODELS", str(zoo_model("micro_speech_quantized").parent))
    # It differs from the reference executor if one sample does.
    code, out, _ = kiwicha(
        *("listen", "micro_speech", "--input", str(path), "--microphone"),
        *("--target", "sim", "--config", "simd"),
    )
    assert code == 0
    first, sound, pace, costs = out.splitlines()
    assert first == "nothing heard"
    assert sound.startswith("0.11 s of sound: 5 frames, 1 inferences")
    assert pace.startswith("while sound came from the microphone, the CPU waited for ")
    assert pace.endswith("; it was too late 0 times")
    assert "cycles per second of sound on simd, measured" in costs


def test_a_model_that_hears_no_stream_is_refused(kiwicha: Command, recording: Path) -> None:
    code, _, error = kiwicha("listen", "demo", "--input", str(recording))
    assert code == 2
    assert "demo must keep what it has heard from one inference to the next" in error
