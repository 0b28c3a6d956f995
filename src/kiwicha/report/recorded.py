"""Runs of the bundled model that were measured before, and come with the package."""

import importlib.resources
import json
from dataclasses import dataclass

from kiwicha.report.tables import Beside

__all__ = ["Recorded", "recorded_demo"]

_FILE = "demo_runs.json"


@dataclass(frozen=True)
class Recorded:
    """A run that was measured before.

    Parameters
    ----------
    beside : Beside
        Its cycles.
    digest : str
        Hash of the hardware, firmware and Programs that it and the others were measured on.
    """

    beside: Beside
    digest: str


def recorded_demo() -> dict[str, Recorded]:
    """Return the recorded runs of the bundled model by configuration."""
    text = (importlib.resources.files("kiwicha.data") / _FILE).read_text(encoding="utf-8")
    return {
        run["config"]: Recorded(
            Beside(run["config"], run["cycles"], dict(enumerate(run["layers"]))),
            digest=run["digest"],
        )
        for run in json.loads(text)
    }
