"""Recordings as inputs of models that take features of sound."""

from collections.abc import Sequence
from pathlib import Path

from kiwicha.compiler import compile_model
from kiwicha.contract.sound import RATE_HZ
from kiwicha.errors import UsageError
from kiwicha.pictures import describe
from kiwicha.program.parts import IoTensor
from kiwicha.sim.reference import executor as reference
from kiwicha.sound.frontend import CHANNELS, FRAME_SAMPLES, frames, frontend_model
from kiwicha.sound.recordings import read_recording
from kiwicha.sound.spectra import SPECTRA, SpectrumKind
from kiwicha.zoo import models as zoo

__all__ = ["features_of", "takes_recordings"]


def takes_recordings(path: Path) -> bool:
    """Return whether a file is a public model whose frontend is known."""
    return bool(zoo.frame_step_ms(path) or zoo.spectrum(path))


def features_of(model: str, path: Path, tensors: Sequence[IoTensor], recording: Path) -> bytes:
    """Return the features of the beginning of a recording, as many frames as a model takes.

    Parameters
    ----------
    model : str
        Its name.
    path : Path
        Its file.
    tensors : sequence of IoTensor
        Its inputs.
    recording : Path
        A WAV file.

    Raises
    ------
    UsageError
        If the frontend is not known, or the recording cannot be read or is too short.
    """
    tensor, *others = tensors
    if others or not takes_recordings(path):
        raise UsageError(
            f"input of {model} must be its raw bytes ({describe(tensor)}), not a "
            f"recording ({recording}): its frontend is not known; streams: kiwicha listen"
        )
    samples, kind = read_recording(recording), zoo.spectrum(path)
    if kind:
        spectrum = SPECTRA[SpectrumKind(kind)]
        count = tensor.ref.bytes // spectrum.features
        seconds = spectrum.seconds_of(count)
        rows = list(spectrum.quantized(samples, tensor.scale, tensor.zero_point))
        found = [row.tobytes() for row in rows[:count]]
    else:
        step_ms, count = zoo.frame_step_ms(path), tensor.ref.bytes // CHANNELS
        seconds = (count - 1) * step_ms / 1000 + FRAME_SAMPLES / RATE_HZ
        frontend = reference.Session(compile_model(frontend_model(), "baseline"))
        used = frames(samples, RATE_HZ // 1000 * step_ms)[:count]
        found = [frontend.run([frame])[0].tobytes() for frame in used]
    if len(found) < count:
        raise UsageError(f"recording must have {seconds:.2f} seconds or more ({recording})")
    return b"".join(found)
