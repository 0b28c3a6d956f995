"""The summary of a run: kinds of layers, what holds them back, and what would help."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from kiwicha.html_report.sorts import CAUSES

__all__ = ["summary"]

_DEPTHWISE = "depthwise convolution"
_UNIT = "-depthwise"
"""End of the names of configurations that have a unit for them."""
_KINDS = {
    "CONV_2D": "convolution",
    "TRANSPOSE_CONV": "convolution",
    "DEPTHWISE_CONV_2D": _DEPTHWISE,
    "FULLY_CONNECTED": "fully connected",
    "BATCH_MATMUL": "fully connected",
    "AVERAGE_POOL_2D": "pooling",
    "MAX_POOL_2D": "pooling",
    **dict.fromkeys(("MEAN", "SUM", "REDUCE_MAX", "REDUCE_MIN", "ARG_MAX", "ARG_MIN"), "reduction"),
    **dict.fromkeys(
        (
            "CONCATENATION",
            "GATHER",
            "PACK",
            "PAD",
            "PADV2",
            "RESHAPE",
            "SLICE",
            "SPLIT",
            "SPLIT_V",
            "STRIDED_SLICE",
            "TRANSPOSE",
            "UNPACK",
        ),
        "moving data",
    ),
    **dict.fromkeys(("ADD", "SUB", "MUL", "MAXIMUM", "MINIMUM"), "element-wise"),
    **dict.fromkeys(("QUANTIZE", "DEQUANTIZE", "CAST"), "conversion"),
}
"""Operators that the summary takes together; any other one is a kind of its own."""
_AT_THE_LIMIT = 0.8
"""Share of the multipliers in use from which on a kind of layers is at their limit."""
_LEAST_SHARE = 0.01
_LEAST_GAIN = 0.02
_WAITS = {
    "requantizer": "waits for the requantizer",
    "weights": "waits for weights from DRAM",
    "transfers": "waits for activations from DRAM",
    "overhead": "spent on starting and ending jobs",
    "cpu": "on the CPU",
    "unknown": "not split by causes",
}
_NO_PROFILE = "Next: the file has no profile, so cycles have no causes and no charts"
_REMEDIES = {
    "arithmetic": "more channels would fill them",
    "requantizer": "more lanes of the requantizer, or more input channels",
    "weights": "fewer weights, or faster memory",
    "transfers": "a larger scratchpad, or smaller tensors",
    "overhead": "fewer and larger layers",
    "cpu": "operators that the engine computes: the column of reasons tells what it lacks",
}


@dataclass(frozen=True)
class _Group:
    """Layers of a kind: their cycles by causes, and what of it idle multipliers cost."""

    kind: str
    cycles: int
    split: Mapping[str, int]
    used: float | None

    @property
    def cause(self) -> str:
        return max(self.split, key=lambda cause: self.split[cause])

    def gains(self) -> dict[str, float]:
        """Return the cycles that each cause could give back."""
        found: dict[str, float] = {c: n for c, n in self.split.items() if c in _REMEDIES}
        if "arithmetic" in found:
            found["arithmetic"] *= max(0.0, 1 - (1.0 if self.used is None else self.used))
        return found


def summary(run: Mapping[str, Any], splits: Sequence[Mapping[str, int]]) -> list[str]:
    """Return what the cycles of a run went into, the most expensive first, and what would help.

    Parameters
    ----------
    run : mapping
        As it was read.
    splits : sequence of mapping
        Cycles of each layer by causes.
    """
    groups = sorted(_groups(run, splits), key=lambda group: -group.cycles)
    whole = run["cycles"]
    shown = [group for group in groups if group.cycles >= _LEAST_SHARE * whole]
    lines = [f"{_percent(group.cycles / whole)} {group.kind}, {_state(group)}" for group in shown]
    rest = whole - sum(group.cycles for group in shown)
    if rest > 0 and _percent(rest / whole) != "0 %":
        lines.append(f"{_percent(rest / whole)} all others")
    if "profile" not in run:
        command = f"kiwicha bench {run['model']} --config {run['config']} --json FILE"
        return [*lines, f"{_NO_PROFILE}: {command} writes it."]
    return [*lines, f"Next: {_next(groups, run)}"]


def _groups(run: Mapping[str, Any], splits: Sequence[Mapping[str, int]]) -> list[_Group]:
    peak = run.get("profile", {}).get("macs_per_cycle")
    members: dict[str, list[int]] = {}
    for number, layer in enumerate(run["layers"]):
        members.setdefault(_KINDS.get(layer["op"], layer["op"]), []).append(number)
    groups = []
    for kind, numbers in members.items():
        split = {cause: sum(splits[k].get(cause, 0) for k in numbers) for cause in CAUSES}
        macs = sum(run["layers"][k]["macs"] for k in numbers)
        spent = split["arithmetic"]
        used = macs / (spent * peak) if peak and spent and macs else None
        groups.append(_Group(kind, sum(split.values()), split, used))
    return groups


def _state(group: _Group) -> str:
    """Return what most cycles of a kind are."""
    cause = group.cause
    if cause != "arithmetic":
        share = group.split[cause] / group.cycles
        return _WAITS[cause] if share > 0.95 else f"{_percent(share)} of that {_WAITS[cause]}"
    if group.used is None:
        return "busy on the engine"
    if group.used >= _AT_THE_LIMIT:
        return "at the multipliers' limit"
    return f"with {_percent(group.used)} of the multipliers"


def _next(groups: Sequence[_Group], run: Mapping[str, Any]) -> str:
    """Return the largest gain and what brings it."""
    whole, config = run["cycles"], str(run["config"])
    gains = [(gain, group.kind, cause) for group in groups for cause, gain in group.gains().items()]
    gain, kind, cause = max(gains, default=(0.0, "", ""))
    if gain < _LEAST_GAIN * whole:
        return "only more multipliers, or a smaller model, would save much."
    lost = f"{kind} loses {_percent(gain / whole)} of all cycles to"
    if cause != "arithmetic":
        return f"{lost} {CAUSES[cause]}: {_REMEDIES[cause]}."
    if kind == _DEPTHWISE and _UNIT not in config:
        return f"{lost} idle multipliers: {config}{_UNIT} has a unit for it."
    return f"{lost} idle multipliers: {_REMEDIES[cause]}."


def _percent(share: float) -> str:
    return f"{100 * share:.0f} %"
