"""Compares the predicted with the measured cycles of each layer of runs.

``python -m tools.predictions RUN.json ...`` reads what ``kiwicha bench --json`` wrote, prints the
layers of the CPU and those that are predicted wrongly, and fails if there are such.
"""

import argparse
import json
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from kiwicha.contract.memories import DDR3_QUARTER_RATE
from kiwicha.contract.program import Where

__all__ = ["CPU_SHARE", "ENGINE_SHARE", "SLACK_CYCLES", "Comparison", "comparisons", "main"]

CPU_SHARE = 0.15
"""Of its cycles, by which the prediction for a layer on the CPU may be wrong."""
ENGINE_SHARE = 0.05
"""The same on the engine."""
SLACK_CYCLES = 150
"""By which any prediction may be wrong: of a layer on the engine, what its neighbours transfer
beside it is not known to the cycle."""


@dataclass(frozen=True)
class Comparison:
    """A layer of a run.

    Parameters
    ----------
    run : str
        Model and configuration, and the memory if it is not the usual one.
    index : int
        Operator index in the model.
    operator, where : str
        TFLite operator name, and what executed it.
    cycles, predicted : int
        Measured, and predicted.
    """

    run: str
    index: int
    operator: str
    where: str
    cycles: int
    predicted: int

    @property
    def is_right(self) -> bool:
        """Whether the prediction is as near as it must be."""
        share = ENGINE_SHARE if self.where == Where.ENGINE.text else CPU_SHARE
        return abs(self.predicted - self.cycles) <= share * self.cycles + SLACK_CYCLES

    def line(self) -> str:
        """Return the layer in one line."""
        off = 100 * (self.predicted / self.cycles - 1) if self.cycles else 0.0
        numbers = f"{self.cycles:12,} {self.predicted:12,} {off:+7.1f} %"
        verdict = "" if self.is_right else "  wrong"
        return f"{self.run:30} {self.index:4} {self.operator:24} {self.where:6} {numbers}{verdict}"


def comparisons(runs: Sequence[Mapping[str, Any]]) -> Iterator[Comparison]:
    """Yield the layers of runs that were simulated with an engine.

    Parameters
    ----------
    runs : sequence of mapping
        Reports as `kiwicha.report.run_report.Report.to_json` gives them.
    """
    for run in runs:
        details = run.get("profile", {}).get("layers", ())
        memory = run.get("memory", DDR3_QUARTER_RATE.name)
        names = [run["model"], run["config"], memory]
        name = " ".join(names[:2] if memory == DDR3_QUARTER_RATE.name else names)
        for layer, detail in zip(run["layers"], details, strict=bool(details)):
            if "predicted" not in detail or layer["where"] == Where.NONE.text:
                continue
            yield Comparison(
                run=name,
                index=layer["index"],
                operator=layer["op"],
                where=layer["where"],
                cycles=layer["cycles"],
                predicted=detail["predicted"],
            )


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the comparison; return 1 if a prediction is wrong."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("files", nargs="+", type=Path, help="what kiwicha bench --json wrote")
    runs = [
        run
        for file in parser.parse_args(arguments).files
        for run in json.loads(file.read_text(encoding="utf-8"))
    ]
    found = list(comparisons(runs))
    wrong = [item for item in found if not item.is_right]
    for item in found:
        if not item.is_right or item.where != Where.ENGINE.text:
            sys.stdout.write(f"{item.line()}\n")
    sys.stdout.write(f"{len(found)} layers, {len(wrong)} predicted wrongly\n")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
