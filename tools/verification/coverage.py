"""Coverage of the engine: ``python -m tools.verification.coverage``.

Three things are merged: lists of random jobs on the engine alone, benches of its components, and
models on the simulated system. The lists say which lines, branches and toggles there are.
"""

import argparse
import sys
import time
from collections import Counter, defaultdict
from collections.abc import Mapping
from typing import Any

from kiwicha.contract.configs import find_config
from tools.verification import record
from tools.verification.component_classes import class_names
from tools.verification.covered_benches import points_of_benches
from tools.verification.covered_lists import covered_engine, points_of_lists
from tools.verification.covered_system import MODELS, points_of_models
from tools.verification.points import Point, component_of

__all__ = ["KINDS", "RECORD", "main", "summary"]

RECORD = "coverage"
CONFIG = "64"
KINDS = ("line", "branch", "toggle")


def summary(met: Mapping[Point, int]) -> list[dict[str, Any]]:
    """Return how many points of each component there are, and how many were met, by kind."""
    rows: dict[str, dict[str, list[int]]] = defaultdict(lambda: {kind: [0, 0] for kind in KINDS})
    for point, count in met.items():
        if point.kind in KINDS:
            numbers = rows[component_of(point.module)][point.kind]
            numbers[0] += 1
            numbers[1] += count > 0
    return [{"component": name, **row} for name, row in sorted(rows.items())]


def _met_by(met: Mapping[Point, int]) -> dict[str, int]:
    """Return how many points were met, by kind."""
    return {kind: sum(row[kind][1] for row in summary(met)) for kind in KINDS}


def _holes(met: Mapping[Point, int]) -> Counter[str]:
    """Return lines and branches that were not met, and how many of each text there are."""
    return Counter(
        f"{point.module}: {point.text}"
        for point, count in met.items()
        if not count and point.kind in {"line", "branch"}
    )


def main(arguments: list[str] | None = None) -> int:
    """Measure coverage; return the exit code."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=1, help="for each behaviour of DRAM")
    parser.add_argument("--rounds", type=int, default=10, help="lists of each seed")
    parser.add_argument("--drawn", type=int, default=200, help="lists of the functional plan")
    parser.add_argument("--minutes", type=float, default=60.0, help="for lists, about")
    options = parser.parse_args(arguments)
    config = find_config(CONFIG)
    deadline = time.monotonic() + 60 * options.minutes
    met, ran = points_of_lists(
        config,
        seeds=options.seeds,
        rounds=options.rounds,
        drawn=options.drawn,
        deadline=deadline,
    )
    met_by = {"lists": _met_by(met)}
    parts: dict[str, Any] = {"designs": 0, "models": []}

    def write() -> None:
        holes = _holes(met)
        values = {"command": record.command(), "config": CONFIG, **ran.values(), **parts}
        values |= {"met_by": met_by, "components": summary(met)}
        record.write(RECORD, values | {"holes": dict(sorted(holes.items()))})
        record.say(f"{len(met)} points, {holes.total()} lines and branches not met")

    write()
    found, parts["designs"] = points_of_benches(met, class_names(covered_engine(config)))
    met_by["benches"] = _met_by(found)
    met.update(found)
    write()
    # Names that differ between both are of no use: the engine alone says what there is.
    found = Counter({p: count for p, count in points_of_models(config).items() if p in met})
    parts["models"], met_by["models"] = list(MODELS), _met_by(found)
    met.update(found)
    write()
    return 0


if __name__ == "__main__":
    sys.exit(main())
