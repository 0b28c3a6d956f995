"""What the page shows of each run, worked out from the JSON of ``run`` and ``bench``.

It was checked when it was read: see `kiwicha.html_report.files`.
"""

from collections.abc import Mapping, Sequence
from typing import Any

__all__ = ["CAUSES", "MEASURES", "TRAFFIC", "Run", "Study", "page_runs", "page_study"]

Run = dict[str, Any]
Study = dict[str, Any]

CAUSES = {
    "arithmetic": "arithmetic",
    "requantizer": "requantizer",
    "weights": "memory: weights",
    "transfers": "memory: activations",
    "overhead": "starting and ending",
    "cpu": "CPU",
    "unknown": "not split",
}
"""Sorts of cycles as stored, and their names on the page."""
TRAFFIC = {
    "weights": "weights",
    "loads": "activations read",
    "stores": "activations written",
    "cpu_reads": "read by the CPU",
    "cpu_writes": "written by the CPU",
}
"""Sorts of bytes, likewise."""
MEASURES = {
    "cycles": "cycles, predicted",
    "lut": "LUT, about",
    "dsp": "DSP, about",
    "bram": "BRAM36, about",
}
"""Objectives of studies, likewise; on ECP5 a block RAM has 18 Kbit, as the study tells."""


def page_study(study: Study) -> dict[str, Any]:
    """Return what the page shows of a study: models, two axes, titles, a row for each point."""
    rows = [
        {
            "config": point["config"],
            "front": _standing(point),
            **{name: point.get(name) for name in MEASURES},
            "simulated": sum(point["confirmed"]["cycles"]) if "confirmed" in point else None,
            "reason": point["reason"],
        }
        for point in sorted(study["configurations"], key=_order)
    ]
    # The first two that differ: cycles go up.
    axes = list(dict.fromkeys([*study["objectives"], "cycles", "bram"]))[:2]
    titles = dict(MEASURES)
    if "bram_kbit" in study:
        titles["bram"] = f"BRAM{study['bram_kbit']:g}, about"
    names = ", ".join(study["models"])
    return {"models": names, "axes": [axes[1], axes[0]], "titles": titles, "rows": rows}


def _standing(point: Mapping[str, Any]) -> str:
    if point["reason"]:
        return "does not fit"
    return "on the front" if point["front"] else "beaten"


def _order(point: Mapping[str, Any]) -> tuple[bool, bool, int]:
    """Put the front first, its fastest point first of all, and last what does not fit."""
    return bool(point["reason"]), not point["front"], int(point.get("cycles", 0))


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
    layers = [_layer(layer, detail) for layer, detail in zip(run["layers"], details, strict=True)]
    shown: dict[str, Any] = {
        "totals": _totals(run, runs),
        "layers": layers,
        "cycles": [part for layer in layers for part in layer.pop("parts")],
        "others": _others(run, runs, names),
        "is_split": profile is not None,
    }
    shown["summary"] = _summary(run, layers)
    if profile is not None:
        shown["traffic"] = _traffic(layers, details)
        shown["points"], shown["roofs"] = _roofline(run, layers)
        shown["memory"] = {
            place: {"bytes": memory["bytes"], "tensors": _tensors(memory["tensors"])}
            for place, memory in profile["memory"].items()
        }
    return shown


def _totals(run: Run, runs: Sequence[Run]) -> dict[str, Any]:
    predicted = run.get("predicted")
    first = next(other for other in runs if other["model"] == run["model"])
    return {
        "model": run["model"],
        "config": run["config"],
        "cycles": run["cycles"],
        "macs": run["macs"],
        "milliseconds": 1e3 * run["cycles"] / run["clock_hz"],
        "macs_per_cycle": run["macs"] / run["cycles"],
        "ratio": run["cycles"] / first["cycles"],
        "utilization": run.get("utilization"),
        "predicted": predicted,
        "off_by": None if predicted is None else predicted / run["cycles"] - 1,
        "bit_exact": run.get("bit_exact"),
    }


def _layer(layer: Mapping[str, Any], detail: Mapping[str, Any]) -> dict[str, Any]:
    cycles = layer["cycles"] or 0
    label = f"{layer['index']} {layer['op']}"
    split = detail.get("split") or {"unknown": cycles}
    dram = sum(detail["dram"][sort] for sort in TRAFFIC) if "dram" in detail else None
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
        "predicted": detail.get("predicted"),
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
        {
            "name": name,
            "cycles": [layer["cycles"] or 0 for layer in other["layers"]],
        }
        for name, other in zip(names, runs, strict=True)
        if other is not run and [layer["op"] for layer in other["layers"]] == operators
    ]


def _summary(run: Run, layers: Sequence[Mapping[str, Any]]) -> str:
    longest = sorted(layers, key=lambda layer: -int(layer["cycles"]))[:3]
    parts = [
        f"layer {layer['label']} takes {layer['cycles']:,} cycles "
        f"({100 * layer['cycles'] / run['cycles']:.0f} %, most of it {layer['cause']})"
        for layer in longest
        if layer["cycles"]
    ]
    return f"Of {run['cycles']:,} cycles, " + "; ".join(parts) + "."


def _traffic(
    layers: Sequence[Mapping[str, Any]], details: Sequence[Mapping[str, Any]]
) -> list[dict[str, Any]]:
    return [
        {"label": layer["label"], "sort": TRAFFIC[sort], "order": order, "bytes": size}
        for layer, detail in zip(layers, details, strict=True)
        for order, sort in enumerate(TRAFFIC)
        if (size := detail["dram"][sort])
    ]


def _roofline(
    run: Run, layers: Sequence[Mapping[str, Any]]
) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """Return a point for each layer, and the corners of the roofs."""
    points = [
        {
            "label": layer["label"],
            "op": layer["op"],
            "intensity": layer["macs_per_byte"],
            "rate": layer["macs_per_cycle"],
        }
        for layer in layers
        if layer["macs_per_cycle"] and layer["macs_per_byte"]
    ]
    peak = float(run["profile"]["macs_per_cycle"])
    bandwidth = float(run["profile"]["dram_bytes_per_cycle"])
    knee = peak / bandwidth
    intensities = [float(point["intensity"]) for point in points]
    ends = min([knee, *intensities]) / 2, max([knee, *intensities]) * 2
    corners = [(ends[0], bandwidth * ends[0]), (knee, peak), (ends[1], peak)]
    roofs = [{"intensity": x, "rate": y} for x, y in corners]
    return points, roofs


def _tensors(tensors: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Return the rectangles of a map; neighbours in the list get different colours."""
    return [
        {
            **tensor,
            "short": str(tensor["name"]).rpartition("/")[2] or tensor["name"],
            "top": tensor["offset"] + max(tensor["bytes"], 1),
            "colour": str(number % 6),
        }
        for number, tensor in enumerate(tensors)
        if tensor["end"] > tensor["start"]
    ]
