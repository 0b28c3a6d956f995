"""Compares the predicted with the measured cycles of each layer of runs.

``python -m tools.predictions RUN.json ...`` reads what ``kiwicha bench --json`` wrote, by default
all of ``docs/results/bench``. It prints the layers that are predicted wrongly and the largest
deviation of each kind of layer, and fails if a prediction is wrong. The page of results has the
same table.
"""

import argparse
import json
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from kiwicha.contract.configs import find_config
from kiwicha.contract.memories import DDR3_QUARTER_RATE
from kiwicha.contract.program import Where

__all__ = ["COLUMNS", "CPU_SHARE", "ENGINE_SHARE", "SLACK_CYCLES", "WHOLE", "Comparison"]
__all__ += ["comparisons", "main", "rows"]

COLUMNS = ("layer", "on", "layers:", "longer ones off by:", "short ones, cycles:")
"""Of `rows`."""
_RESULTS = "docs/results/bench"
WHOLE = "all layers beside a depthwise unit"
"""What stands for the operator where layers are not told apart."""

CPU_SHARE = 0.15
"""Of its cycles, by which the prediction for a layer on the CPU may be wrong."""
ENGINE_SHARE = 0.05
"""The same on the engine."""
SLACK_CYCLES = 128
"""By which the prediction for a short layer may be wrong: a refresh of DRAM (43 cycles) falls into
it or not, and behind a list a word that the CPU needs is in its cache or not (109 cycles)."""


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
        return abs(self.off) <= max(self.share * self.cycles, SLACK_CYCLES)

    @property
    def kind(self) -> tuple[str, str]:
        """What executed it, and the operator."""
        return self.where, self.operator

    @property
    def off(self) -> int:
        """Cycles by which the prediction is higher."""
        return self.predicted - self.cycles

    @property
    def share(self) -> float:
        """Of its cycles, by which the prediction may be wrong."""
        return ENGINE_SHARE if self.where == Where.ENGINE.text else CPU_SHARE

    @property
    def is_short(self) -> bool:
        """Whether it has so few cycles that they may be wrong by more than the share."""
        return self.share * self.cycles < SLACK_CYCLES

    def line(self) -> str:
        """Return a layer that is predicted wrongly in one line."""
        off = 100 * (self.predicted / self.cycles - 1) if self.cycles else 0.0
        numbers = f"{self.cycles:12,} {self.predicted:12,} {off:+7.1f} %"
        return f"{self.run:30} {self.index:4} {self.operator:24} {self.where:6} {numbers}  wrong"


def comparisons(runs: Sequence[Mapping[str, Any]]) -> Iterator[Comparison]:
    """Yield the layers of runs that were simulated with an engine.

    Beside a depthwise unit two layers are executed at a time, and where one ends and the other
    begins says little: there a run's layers count as one. Likewise a layer whose sums are made
    behind a convolution, in its job, counts as part of that: what its tables' job waits for is
    what the convolution needs.

    Parameters
    ----------
    runs : sequence of mapping
        Reports as `kiwicha.report.run_report.Report.to_json` gives them.
    """
    for run in runs:
        memory = run.get("memory", DDR3_QUARTER_RATE.name)
        names = [run["model"], run["config"], memory]
        name = " ".join(names[:2] if memory == DDR3_QUARTER_RATE.name else names)
        layers = [item for item in run["layers"] if item["where"] != Where.NONE.text]
        layers = _with_sums([item for item in layers if "predicted" in item])
        if layers and find_config(run["config"]).has_depthwise:
            sums = {name: sum(item[name] for item in layers) for name in ("cycles", "predicted")}
            layers = [{"index": 0, "op": WHOLE, "where": Where.ENGINE.text, **sums}]
        for layer in layers:
            yield Comparison(
                run=name,
                index=layer["index"],
                operator=layer["op"],
                where=layer["where"],
                cycles=layer["cycles"],
                predicted=layer["predicted"],
            )


def _with_sums(layers: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Return layers with those that are made behind them as parts."""
    found = {layer["index"]: dict(layer) for layer in layers if "behind" not in layer}
    for layer in layers:
        if "behind" in layer:
            for name in ("cycles", "predicted"):
                found[layer["behind"]][name] += layer[name]
    return list(found.values())


def rows(found: Sequence[Comparison]) -> list[tuple[str, ...]]:
    """Return the largest deviations of each kind of layer: a row for each, as text.

    Parameters
    ----------
    found : sequence of Comparison
        The layers.
    """
    kinds = sorted({(item.where, item.operator) for item in found})
    return [
        (operator, where, *_largest([item for item in found if item.kind == (where, operator)]))
        for where, operator in kinds
    ]


def _largest(found: Sequence[Comparison]) -> tuple[str, ...]:
    """Return how many layers there are, what the longer ones are off, and what the short ones."""
    longer = [item.off / item.cycles for item in found if not item.is_short]
    short = [item.off for item in found if item.is_short]
    percent = f"{100 * max(longer, key=abs):+.1f} %" if longer else ""
    return f"{len(found):,}", percent, f"{max(short, key=abs):+d}" if short else ""


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the comparison; return 1 if a prediction is wrong."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("files", nargs="*", type=Path, help="what kiwicha bench --json wrote")
    files = parser.parse_args(arguments).files or sorted(Path(_RESULTS).glob("*.json"))
    runs = [run for file in files for run in json.loads(file.read_text(encoding="utf-8"))]
    found = list(comparisons(runs))
    wrong = [item for item in found if not item.is_right]
    for item in wrong:
        sys.stdout.write(f"{item.line()}\n")
    for operator, where, count, percent, cycles in rows(found):
        sys.stdout.write(f"{operator:24} {where:6} {count:>6} {percent:>10} {cycles:>8}\n")
    sys.stdout.write(f"{len(found)} layers, {len(wrong)} predicted wrongly\n")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
