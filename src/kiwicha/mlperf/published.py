"""What others published: medians of rounds of MLPerf Tiny, from their repositories of results."""

import importlib.resources
import json
from collections.abc import Mapping
from dataclasses import dataclass

__all__ = ["Published", "Round", "published"]

_FILE = "published.json"


@dataclass(frozen=True)
class Published:
    """A system of a round.

    Parameters
    ----------
    submitter, system : str
        As folders of the repository are named.
    clock : str
        Of the accelerator, of the processor where there is none, as its description has it.
    inferences_per_second : mapping
        The median throughput by the benchmark's name. Of a streaming one, what the time that it
        works on a window would allow: features and inference.
    """

    submitter: str
    system: str
    clock: str
    inferences_per_second: Mapping[str, float]

    def milliseconds(self, benchmark: str) -> float | None:
        """Return the latency of a benchmark; None if none was published."""
        rate = self.inferences_per_second.get(benchmark)
        return None if rate is None else 1e3 / rate


@dataclass(frozen=True)
class Round:
    """A round of results.

    Parameters
    ----------
    name : str
        Such as ``v1.1``.
    division : str
        Which models were allowed.
    source : str
        Where the results are.
    systems : tuple of Published
        Those that are shown.
    """

    name: str
    division: str
    source: str
    systems: tuple[Published, ...]


def published() -> tuple[Round, ...]:
    """Return the rounds that come with the package, the latest first."""
    text = (importlib.resources.files("kiwicha.mlperf") / _FILE).read_text(encoding="utf-8")
    return tuple(
        Round(
            facts["round"],
            facts["division"],
            f"github.com/{facts['repository']}, commit {facts['commit'][:8]}",
            tuple(Published(**system) for system in facts["systems"]),
        )
        for facts in json.loads(text)["rounds"]
    )
