"""How good the answers of benchmarks are, on data that the user has."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from kiwicha import tools
from kiwicha.compiler import compile_model
from kiwicha.errors import UsageError
from kiwicha.evaluation.answers import evaluated
from kiwicha.evaluation.examples import read_examples
from kiwicha.firmware.native_library import NATIVE_CONFIG
from kiwicha.mlperf.anomalies import area_under_curve, distances, read_recordings
from kiwicha.mlperf.benchmarks import Answer, Benchmark
from kiwicha.zoo import models as zoo

__all__ = ["Quality", "qualities"]

Count = Callable[[str, int], Callable[[int], None]]
"""Takes what is done and how often; returns what is told how often it was done."""


@dataclass(frozen=True)
class Quality:
    """What was reached.

    Parameters
    ----------
    measure : str
        ``accuracy`` or ``auc``, the area under the receiver's operating characteristic.
    value : float
        0 to 1.
    text : str
        In words.
    """

    measure: str
    value: float
    text: str


def qualities(benchmarks: Sequence[Benchmark], folder: Path, count: Count) -> dict[str, Quality]:
    """Return the quality of those benchmarks that have data in a folder, by their names.

    Parameters
    ----------
    benchmarks : sequence of Benchmark
        They.
    folder : Path
        Has for each a folder or an ``.npz`` file of its name.
    count : callable
        Shows progress.

    Raises
    ------
    UsageError
        If no benchmark has data, or it cannot be read.
    """
    found = {}
    for benchmark in benchmarks:
        places = [folder / benchmark.name, folder / f"{benchmark.name}.npz"]
        path = next((place for place in places if place.exists()), None)
        if path is not None:
            measure = _curve if benchmark.answer is Answer.DISTANCE else _accuracy
            found[benchmark.name] = measure(benchmark, path, count)
    if not found:
        wanted = ", ".join(f"{one.name} or {one.name}.npz" for one in benchmarks)
        raise UsageError(f"--data must be a folder with {wanted} ({folder})")
    return found


def _accuracy(benchmark: Benchmark, path: Path, count: Count) -> Quality:
    _, model, labels = zoo.resolve(benchmark.model)
    program = compile_model(model, NATIVE_CONFIG)
    classes = math.prod(program.outputs[0].shape)
    examples = read_examples(path, program.inputs[0], labels, classes)
    report = count(f"evaluating {benchmark.name}", len(examples))
    scores = evaluated(program, examples, tools.cores(), report)
    text = (
        f"accuracy of {benchmark.name}: {100 * scores.accuracy:.2f} % "
        f"({scores.correct:,} of {scores.examples:,}; wanted: {benchmark.quality})"
    )
    return Quality("accuracy", scores.accuracy, text)


def _curve(benchmark: Benchmark, path: Path, count: Count) -> Quality:
    _, model, _ = zoo.resolve(benchmark.model)
    program = compile_model(model, NATIVE_CONFIG)
    recordings = read_recordings(path, math.prod(program.inputs[0].shape))
    report = count(f"evaluating {benchmark.name}", len(recordings))
    truth = [recording.is_anomaly for recording in recordings]
    area = area_under_curve(distances(program, recordings, report), truth)
    text = (
        f"AUC of {benchmark.name}: {area:.4f} "
        f"({len(recordings):,} recordings; wanted: {benchmark.quality})"
    )
    return Quality("auc", area, text)
