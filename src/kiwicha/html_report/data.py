"""What the page shows of each run, worked out from the JSON of ``run`` and ``bench``.

It was checked when it was read: see `kiwicha.html_report.files`.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from kiwicha.html_report.maps import memory
from kiwicha.html_report.roofline import roofline
from kiwicha.html_report.sorts import CAUSES, TRAFFIC
from kiwicha.html_report.summary import summary

__all__ = ["faster", "page_runs"]

Run = Mapping[str, Any]


def page_runs(runs: Sequence[Run]) -> list[dict[str, Any]]:
    """Return for each run what the page shows: totals, and the rows of every chart."""
    marks = _marks(runs)
    names = [
        f"{run['model']} on {run['config']}" + (f" ({mark})" if mark else "")
        for run, mark in zip(runs, marks, strict=True)
    ]
    return [
        {"name": name, "mark": mark, **_run(run, runs, names)}
        for run, name, mark in zip(runs, names, marks, strict=True)
    ]


def faster(first: int, cycles: int) -> str:
    """Return how a number of cycles compares with the first one, in words."""
    ratio, word = (first / cycles, "faster") if cycles <= first else (cycles / first, "slower")
    if ratio < 1.005:
        return "as fast"
    if ratio < 1.1:
        return f"{100 * (ratio - 1):.0f} % {word}"
    return f"{ratio:.1f}x {word}" if ratio < 10 else f"{ratio:.0f}x {word}"


def _marks(runs: Sequence[Run]) -> list[str]:
    """Return what tells runs of one model and configuration apart: a file, or a number in it."""
    keys = [(run["model"], run["config"]) for run in runs]
    files = [(*key, run.get("file", "")) for key, run in zip(keys, runs, strict=True)]
    marks = []
    for number, (key, file) in enumerate(zip(keys, files, strict=True)):
        count = files[: number + 1].count(file)
        place = f"{file[-1]} {count}".strip() if files.count(file) > 1 else file[-1]
        marks.append(place if keys.count(key) > 1 else "")
    return marks


def _run(run: Run, runs: Sequence[Run], names: Sequence[str]) -> dict[str, Any]:
    profile = run.get("profile")
    details = profile["layers"] if profile else [{}] * len(run["layers"])
    splits = [_split(layer, detail) for layer, detail in zip(run["layers"], details, strict=True)]
    layers = [
        _layer(layer, detail, split, run["cycles"])
        for layer, detail, split in zip(run["layers"], details, splits, strict=True)
    ]
    shown: dict[str, Any] = {
        "totals": _totals(run, runs, splits),
        "layers": layers,
        "cycles": [part for layer in layers for part in layer.pop("parts")],
        "others": _others(run, runs, names),
        "is_split": profile is not None,
        "summary": summary(run, splits),
        "facts": _facts(run),
    }
    if profile is not None:
        shown["traffic"] = _traffic(layers, details)
        shown["roofline"] = roofline(profile, layers)
        shown["memory"] = {
            place: memory(found, layers) for place, found in profile["memory"].items()
        }
    return shown


def _split(layer: Mapping[str, Any], detail: Mapping[str, Any]) -> Mapping[str, int]:
    split: Mapping[str, int] = detail.get("split") or {"unknown": layer["cycles"] or 0}
    return split


def _facts(run: Run) -> dict[str, str]:
    """Return what a number needs beside it to be believed: when, by what, at which clock."""
    made = run.get("made", {})
    facts = {
        "measured": made.get("date", ""),
        "version": f"Kiwicha {made['version']}" if "version" in made else "",
        "clock": f"{run['clock_hz'] / 1e6:g} MHz",
        "memory": run.get("memory", ""),
        "command": made.get("command", ""),
    }
    return {name: text for name, text in facts.items() if text}


def _totals(run: Run, runs: Sequence[Run], splits: Sequence[Mapping[str, int]]) -> dict[str, Any]:
    predicted = run.get("predicted")
    first = next(other for other in runs if other["model"] == run["model"])
    parts = {name: sum(split.get(cause, 0) for split in splits) for cause, name in CAUSES.items()}
    return {
        "model": run["model"],
        "config": run["config"],
        "cycles": run["cycles"],
        "macs": run["macs"],
        "milliseconds": 1e3 * run["cycles"] / run["clock_hz"],
        "macs_per_cycle": run["macs"] / run["cycles"],
        "ratio": run["cycles"] / first["cycles"],
        "faster": "" if run is first else faster(first["cycles"], run["cycles"]),
        "against": "" if run is first else first["config"],
        "parts": [{"cause": name, "cycles": size} for name, size in parts.items() if size],
        "utilization": run.get("utilization"),
        "predicted": predicted,
        "off_by": None if predicted is None else predicted / run["cycles"] - 1,
        "bit_exact": run.get("bit_exact"),
    }


def _layer(
    layer: Mapping[str, Any], detail: Mapping[str, Any], split: Mapping[str, int], whole: int
) -> dict[str, Any]:
    cycles = layer["cycles"] or 0
    label = f"{layer['index']} {layer['op']}"
    dram = sum(detail["dram"][sort] for sort in TRAFFIC) if "dram" in detail else None
    predicted = detail.get("predicted")
    parts = [
        {"label": label, "cause": CAUSES[cause], "order": order, "cycles": split[cause]}
        for order, cause in enumerate(CAUSES)
        if split.get(cause)
    ]
    return {
        "index": layer["index"],
        "op": layer["op"],
        "label": label,
        "shape": "x".join(str(size) for size in detail.get("shape", ())),
        "macs": layer["macs"],
        "cycles": cycles,
        "share": cycles / whole,
        "predicted": predicted,
        "off_by": predicted / cycles - 1 if predicted is not None and cycles else None,
        "macs_per_cycle": layer["macs"] / cycles if cycles and layer["macs"] else None,
        "macs_per_byte": layer["macs"] / dram if dram and layer["macs"] else None,
        "cause": CAUSES[max(split, key=lambda cause: split[cause])] if cycles else "",
        "dram_bytes": dram,
        "where": layer["where"],
        "why": detail.get("why", ""),
        "parts": parts,
    }


def _others(run: Run, runs: Sequence[Run], names: Sequence[str]) -> list[dict[str, Any]]:
    """Return the cycles of other runs of the same operators, for comparison."""
    operators = [layer["op"] for layer in run["layers"]]
    return [
        {"name": name, "cycles": [layer["cycles"] or 0 for layer in other["layers"]]}
        for name, other in zip(names, runs, strict=True)
        if other is not run and [layer["op"] for layer in other["layers"]] == operators
    ]


def _traffic(
    layers: Sequence[Mapping[str, Any]], details: Sequence[Mapping[str, Any]]
) -> list[dict[str, Any]]:
    return [
        {"label": layer["label"], "sort": TRAFFIC[sort], "order": order, "bytes": size}
        for layer, detail in zip(layers, details, strict=True)
        for order, sort in enumerate(TRAFFIC)
        if (size := detail["dram"][sort])
    ]
