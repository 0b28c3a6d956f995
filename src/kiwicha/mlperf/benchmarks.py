"""The benchmarks of MLPerf Tiny."""

import enum
from dataclasses import dataclass

from kiwicha.errors import UsageError

__all__ = ["BENCHMARKS", "Answer", "Benchmark", "Input", "find_benchmark"]


class Input(enum.StrEnum):
    """What the runner sends."""

    PIXELS = "pixels"
    """A byte from 0 to 255 for each element, which stands for itself less 128."""
    STORED = "stored"
    """The tensor's bytes."""
    REALS = "reals"
    """A float32, little-endian, for each element."""


class Answer(enum.StrEnum):
    """What the runner is told."""

    SCORES = "scores"
    """The elements of the output, in real numbers."""
    DISTANCE = "distance"
    """The mean square of output less input, in real numbers."""


@dataclass(frozen=True)
class Benchmark:
    """A benchmark.

    Parameters
    ----------
    name : str
        As in folders of results.
    title : str
        What it does.
    model : str
        Name of its model in the zoo.
    version : str
        What the device calls its model.
    quality : str
        What a result must reach in the closed division.
    sent : Input
        What the runner sends.
    answer : Answer
        What it is told.
    """

    name: str
    title: str
    model: str
    version: str
    quality: str
    sent: Input
    answer: Answer = Answer.SCORES


BENCHMARKS = (
    Benchmark("vww", "visual wake words", "vww", "vww01", "80 % top-1", Input.PIXELS),
    Benchmark("kws", "keyword spotting", "kws", "kws01", "90 % top-1", Input.STORED),
    Benchmark("ic", "image classification", "resnet8", "ic01", "85 % top-1", Input.PIXELS),
    Benchmark(
        "ad", "anomaly detection", "ad", "ad01", "0.85 AUC", Input.REALS, answer=Answer.DISTANCE
    ),
    Benchmark(
        "sww",
        "streaming wake word, an inference",
        "str_ww",
        "sww01",
        "at most 8 false positives, 8 false negatives",
        Input.STORED,
    ),
)
"""Those of v1.3."""


def find_benchmark(name: str) -> Benchmark:
    """Return the benchmark of a name.

    Raises
    ------
    UsageError
        If there is none.
    """
    for benchmark in BENCHMARKS:
        if benchmark.name == name:
            return benchmark
    known = ", ".join(benchmark.name for benchmark in BENCHMARKS)
    raise UsageError(f"benchmark must be one of {known}, not {name!r}")
