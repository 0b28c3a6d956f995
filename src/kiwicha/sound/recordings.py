"""Sound from files and from a microphone, as the frontend wants it."""

import importlib
import wave
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from kiwicha.contract.sound import RATE_HZ
from kiwicha.errors import UsageError, reason

__all__ = ["SOUND_SUFFIXES", "microphone", "read_recording"]

SOUND_SUFFIXES = (".wav",)
_SAMPLE_BYTES = 2
_REMEDY = f"convert it: ffmpeg -i in.wav -ac 1 -ar {RATE_HZ} -sample_fmt s16 out.wav"


def read_recording(path: Path) -> NDArray[np.int16]:
    """Return the samples of a WAV file of one channel, int16, `RATE_HZ`.

    Raises
    ------
    UsageError
        If it cannot be read, or has another rate or format.
    """
    try:
        with path.open("rb") as stream, wave.open(stream) as recording:
            facts = recording.getparams()
            raw = recording.readframes(facts.nframes)
    except OSError as error:
        raise UsageError(f"recording {path} cannot be read: {reason(error)}") from error
    except (EOFError, wave.Error) as error:
        text = str(error) or "it ends too early"
        raise UsageError(f"recording must be a WAV file of PCM: {text} ({path})") from error
    for what, wanted, found in (
        ("samples per second", RATE_HZ, facts.framerate),
        ("channels", 1, facts.nchannels),
        ("bits per sample", 8 * _SAMPLE_BYTES, 8 * facts.sampwidth),
    ):
        if found != wanted:
            text = f"{what} of a recording must be {wanted}, not {found} ({path})"
            raise UsageError(f"{text}; {_REMEDY}")
    return np.frombuffer(raw[: len(raw) // _SAMPLE_BYTES * _SAMPLE_BYTES], "<i2").astype(np.int16)


def microphone(step_samples: int) -> Iterator[NDArray[np.int16]]:
    """Yield what a microphone hears, int16 [step_samples], until the caller stops.

    Raises
    ------
    UsageError
        If the library for it is missing, or no microphone answers.
    """
    try:
        sounddevice = importlib.import_module("sounddevice")
    except (ImportError, OSError) as error:
        raise UsageError(
            "--microphone needs the library sounddevice, and PortAudio below it: "
            f"pip install 'kiwicha[sound]' ({error})"
        ) from error
    try:
        with sounddevice.InputStream(RATE_HZ, channels=1, dtype="int16") as stream:
            while True:
                block, _ = stream.read(step_samples)
                yield np.asarray(block, np.int16).reshape(-1)
    except sounddevice.PortAudioError as error:
        text = f"microphone must give {RATE_HZ} samples per second: {error}"
        raise UsageError(text) from error
