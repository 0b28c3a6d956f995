"""The streaming wake word of MLPerf Tiny: a model that hears a recording, and what it detects.

Notes
-----
Ref: mlcommons/tiny, benchmark/runner/streaming_ww_utils.py (which detections count) and
benchmark/training/streaming_wakeword/evaluate.py (the threshold).
"""

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kiwicha.contract.sound import RATE_HZ
from kiwicha.errors import UsageError
from kiwicha.interpreter.executors import executor_of
from kiwicha.program.image import Program
from kiwicha.program.parts import IoTensor
from kiwicha.sound.spectra import SPECTRA, SpectrumKind

__all__ = [
    "STEP_SECONDS",
    "THRESHOLD",
    "Detections",
    "counted",
    "heard",
    "read_windows",
    "require_length",
]

THRESHOLD = 0.95
"""Probability above which a word counts as heard."""
_LATE_SECONDS = 2.0
"""Behind the end of a word in which it may be detected: twice the second that the rules name, as
the runner adds it."""
_SECONDS_APART = 1.0
"""Between detections that count as two."""
_SPECTRUM = SPECTRA[SpectrumKind.LOG_MEL]
STEP_SECONDS = _SPECTRUM.step_samples / RATE_HZ
"""From one inference to the next."""
_AT_A_TIME = 64

Windows = Sequence[tuple[float, float]]


@dataclass(frozen=True)
class Detections:
    """What was detected, in seconds.

    Parameters
    ----------
    true_positives, false_negatives : tuple of float
        Where words begin that were detected, and that were not.
    false_positives : tuple of float
        Where something was detected that was none.
    """

    true_positives: tuple[float, ...]
    false_negatives: tuple[float, ...]
    false_positives: tuple[float, ...]


def counted(times: Sequence[float], windows: Windows) -> Detections:
    """Return which detections are right.

    Parameters
    ----------
    times : sequence of float
        Seconds at which the word was above the threshold, in order.
    windows : sequence of (float, float)
        Where words begin and end.
    """
    rest = np.asarray(times, np.float64)
    found: list[float] = []
    missed: list[float] = []
    for start, end in windows:
        is_of_word = (rest >= start) & (rest <= end + _LATE_SECONDS)
        (found if is_of_word.any() else missed).append(start)
        rest = rest[~is_of_word]
    wrong: list[float] = []
    for time in rest:
        if not wrong or time > wrong[-1] + _SECONDS_APART:
            wrong.append(float(time))
    return Detections(tuple(found), tuple(missed), tuple(wrong))


def read_windows(path: Path) -> list[tuple[float, float]]:
    """Return where words begin and end, of a file of the runner.

    Raises
    ------
    UsageError
        If it is another file.
    """
    try:
        ((entry),) = json.loads(path.read_text(encoding="utf-8"))
        return [(float(start), float(end)) for start, end in entry["detection_windows"]]
    except OSError as error:
        raise UsageError(f"file of words {path} cannot be read: {error.strerror}") from error
    except (ValueError, TypeError, KeyError) as error:
        raise UsageError(
            "file of words must be JSON, a list of one object with detection_windows: pairs of "
            f"seconds ({path})"
        ) from error


def _frames_of(tensor: IoTensor) -> int:
    return tensor.ref.bytes // _SPECTRUM.features


def require_length(program: Program, samples: NDArray[np.int16], recording: Path) -> None:
    """Refuse a recording that is shorter than what one inference hears."""
    seconds = _SPECTRUM.seconds_of(_frames_of(program.inputs[0]))
    if len(samples) < seconds * RATE_HZ:
        raise UsageError(f"recording must have {seconds:.2f} seconds or more ({recording})")


def heard(
    program: Program, samples: NDArray[np.int16], report: Callable[[int], None]
) -> tuple[NDArray[np.float64], NDArray[Any]]:
    """Return when each inference is made, and the probability of the word.

    Parameters
    ----------
    program : Program
        Of the model, for the C kernels on this machine.
    samples : int16 array
        The recording.
    report : callable
        Is told how many inferences are done.
    """
    tensor, output = program.inputs[0], program.outputs[0]
    count = _frames_of(tensor)
    features = _SPECTRUM.quantized(samples, tensor.scale, tensor.zero_point)
    windows = [features[k : k + count] for k in range(len(features) - count + 1)]
    executor = executor_of("native", program, 1)
    answers: list[int] = []
    for first in range(0, len(windows), _AT_A_TIME):
        sets = [[item.reshape(tensor.shape)] for item in windows[first : first + _AT_A_TIME]]
        answers += [int(found[0].reshape(-1)[0]) for found in executor.run(sets)]
        report(len(answers))
    times = np.array([_SPECTRUM.seconds_of(count + k) for k in range(len(windows))])
    return times, (np.array(answers) - output.zero_point) * output.scale
