"""Anomaly detection: how well the distance of a model's output from its input tells recordings."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kiwicha.errors import UsageError, reason
from kiwicha.evaluation.inputs import quantized
from kiwicha.interpreter.executors import executor_of, numpy_type
from kiwicha.program.image import Program
from kiwicha.program.parts import IoTensor

__all__ = ["Recording", "area_under_curve", "distance", "distances", "read_recordings"]

Reals = NDArray[np.float32]
_ANOMALY, _NORMAL = "anomaly", "normal"
_SUFFIX = ".bin"
_AT_A_TIME = 256


@dataclass(frozen=True, eq=False)
class Recording:
    """The windows of a machine's sound.

    Parameters
    ----------
    windows : float32 array [windows, features]
        Features of each.
    is_anomaly : bool
        The machine was broken.
    """

    windows: Reals
    is_anomaly: bool


def read_recordings(path: Path, features: int) -> list[Recording]:
    """Return the recordings of a folder of MLPerf Tiny's files, or of arrays.

    Parameters
    ----------
    path : Path
        A folder of ``.bin`` files, float32, whose names begin with ``normal`` or ``anomaly``; or an
        ``.npz`` file with ``x`` [recordings, windows, features] and ``y``, 1 for an anomaly.
    features : int
        Of a window.

    Raises
    ------
    UsageError
        If it is something else, or has not both kinds.
    """
    try:
        found = list(_of_folder(path, features) if path.is_dir() else _of_arrays(path, features))
    except (OSError, ValueError, KeyError) as error:
        text = reason(error) if isinstance(error, OSError) else str(error)
        raise UsageError(f"recordings must be readable: {text} ({path})") from error
    if {one.is_anomaly for one in found} != {False, True}:
        raise UsageError(f"recordings must be of {_NORMAL} and {_ANOMALY} machines ({path})")
    return found


def _of_folder(path: Path, features: int) -> Iterator[Recording]:
    for file in sorted(path.rglob(f"*{_SUFFIX}")):
        kind = file.name.partition("_")[0]
        if kind not in {_NORMAL, _ANOMALY}:
            text = f"name must begin with {_NORMAL}_ or {_ANOMALY}_, not {file.name}"
            raise ValueError(text)
        yield Recording(
            np.fromfile(file, "<f4").reshape(-1, features).astype(np.float32), kind == _ANOMALY
        )


def _of_arrays(path: Path, features: int) -> Iterator[Recording]:
    with np.load(path) as arrays:
        for windows, label in zip(arrays["x"], arrays["y"], strict=True):
            yield Recording(windows.reshape(-1, features).astype(np.float32), bool(label))


def distance(output: NDArray[Any], tensor: IoTensor, values: Reals) -> NDArray[np.float64]:
    """Return the mean square of output less input, of each row.

    Parameters
    ----------
    output : int8 array [rows, features]
        What the model gives.
    tensor : IoTensor
        Its output.
    values : float32 array [rows, features]
        The inputs as real numbers.
    """
    reals = (output.astype(np.float64) - tensor.zero_point) * tensor.scale
    errors: NDArray[np.float64] = np.mean((reals - values) ** 2, axis=-1)
    return errors


def distances(
    program: Program, recordings: Sequence[Recording], report: Callable[[int], None]
) -> list[float]:
    """Return the mean distance of the windows of each recording, by the C kernels of this machine.

    Parameters
    ----------
    program : Program
        Of `kiwicha.firmware.native_library.NATIVE_CONFIG`.
    recordings : sequence of Recording
        They.
    report : callable
        Is told how many recordings are done.
    """
    tensor, output = program.inputs[0], program.outputs[0]
    executor = executor_of("native", program, 1)
    found = []
    for recording in recordings:
        means: list[float] = []
        for first in range(0, len(recording.windows), _AT_A_TIME):
            values = recording.windows[first : first + _AT_A_TIME]
            raw = np.frombuffer(quantized(values, tensor), numpy_type(tensor))
            sets = [[row.reshape(tensor.shape)] for row in raw.reshape(values.shape)]
            outputs = np.stack([one[0].reshape(-1) for one in executor.run(sets)])
            means += distance(outputs, output, values).tolist()
        found.append(float(np.mean(means)))
        report(len(found))
    return found


def area_under_curve(scores: Sequence[float], are_anomalies: Sequence[bool]) -> float:
    """Return how often an anomaly has the higher score of a pair with a normal one; half if equal.

    Parameters
    ----------
    scores : sequence of float
        Higher for what is more likely an anomaly.
    are_anomalies : sequence of bool
        As many, of both kinds.
    """
    values, truth = np.asarray(scores), np.asarray(are_anomalies, bool)
    high, low = values[truth][:, None], values[~truth]
    return float(np.mean((high > low) + 0.5 * (high == low)))
