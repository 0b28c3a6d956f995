"""WAV files: what is read, and what is refused."""

import re
import sys
import wave
from pathlib import Path

import numpy as np
import pytest

from kiwicha.errors import UsageError
from kiwicha.sound.recordings import microphone, read_recording

SAMPLES = np.array([0, 1, -1, 32767, -32768], np.int16)


def recording(path: Path, *, rate: int = 16000, channels: int = 1, sample_bytes: int = 2) -> Path:
    with wave.open(str(path), "wb") as file:
        file.setframerate(rate)
        file.setnchannels(channels)
        file.setsampwidth(sample_bytes)
        file.writeframes(SAMPLES.astype("<i2").tobytes())
    return path


def test_samples_come_as_they_are(tmp_path: Path) -> None:
    np.testing.assert_array_equal(read_recording(recording(tmp_path / "a.wav")), SAMPLES)


@pytest.mark.parametrize(
    ("facts", "text"),
    [
        ({"rate": 44100}, "samples per second of a recording must be 16000, not 44100"),
        ({"channels": 2}, "channels of a recording must be 1, not 2"),
        ({"sample_bytes": 1}, "bits per sample of a recording must be 16, not 8"),
    ],
)
def test_other_formats_are_refused(tmp_path: Path, facts: dict[str, int], text: str) -> None:
    path = recording(tmp_path / "a.wav", **facts)
    remedy = "convert it: ffmpeg -i in.wav -ac 1 -ar 16000 -sample_fmt s16 out.wav"
    with pytest.raises(UsageError, match=re.escape(f"{text} ({path}); {remedy}")):
        read_recording(path)


@pytest.mark.parametrize("raw", [b"", b"RIFF", b"no sound at all, only words"])
def test_what_is_no_recording_is_refused(tmp_path: Path, raw: bytes) -> None:
    path = tmp_path / "a.wav"
    path.write_bytes(raw)
    with pytest.raises(UsageError, match="recording must be a WAV file of PCM"):
        read_recording(path)


def test_a_missing_file_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="cannot be read"):
        read_recording(tmp_path / "none.wav")


def test_a_missing_library_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "sounddevice", None)
    with pytest.raises(UsageError, match=re.escape("pip install 'kiwicha[sound]'")):
        next(microphone(160))
