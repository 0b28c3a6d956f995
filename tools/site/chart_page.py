"""Charts of what was measured: cycles by model and configuration."""

import json
from pathlib import Path
from typing import Any

from kiwicha.html_report.library import picture

__all__ = ["chart_page"]

_FILES = ("64-128", "256", "simd")
"""Of ``docs/results/bench``, those with the models of the README."""
_LEAST = 10_000
"""Where the bars begin."""


def chart_page(project: Path, folder: Path) -> str:
    """Return the page, and write its picture into the folder of the site.

    Parameters
    ----------
    project : Path
        The repository.
    folder : Path
        Of the pages.
    """
    rows = _rows(project)
    path = folder / "docs" / "pictures" / "cycles.svg"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(picture(_chart(rows), is_vector=True))
    files = "\n".join(f"- `docs/results/bench/{name}.json`" for name in _FILES)
    return (
        "# Cycles by model and configuration\n\n"
        "Cycles of one inference, on a logarithmic scale: shorter is faster. Grey bars are Vela's\n"
        "estimates for Arm's Ethos-U55 with as many multipliers as the bar above them.\n\n"
        "![Cycles by model and configuration](pictures/cycles.svg)\n\n"
        f"Drawn from these files; [results](results.md) has them as tables:\n\n{files}\n"
    )


def _rows(project: Path) -> list[dict[str, Any]]:
    rows = []
    for name in _FILES:
        path = project / "docs" / "results" / "bench" / f"{name}.json"
        for run in json.loads(path.read_text(encoding="utf-8")):
            model, config = run["model"], run["config"]
            rows.append({"model": model, "config": config, "cycles": run["cycles"], "ours": True})
            if "vela" in run:
                peer = run["vela"]
                rows.append({
                    "model": model,
                    "config": peer["accelerator"],
                    "cycles": peer["cycles"],
                    "ours": False,
                })
    return rows


def _chart(rows: list[dict[str, Any]]) -> dict[str, Any]:
    order = ["simd", "64", "ethos-u55-64", "128", "ethos-u55-128", "256", "ethos-u55-256"]
    bar = {
        "mark": {"type": "bar"},
        "encoding": {
            # A logarithmic scale has no zero to begin at.
            "x2": {"datum": _LEAST},
            "color": {
                "field": "ours",
                "type": "nominal",
                "scale": {"domain": [True, False], "range": ["#0072b2", "#999999"]},
                "legend": None,
            },
        },
    }
    text = {
        "mark": {"type": "text", "align": "left", "dx": 4},
        "encoding": {"text": {"field": "cycles", "type": "quantitative", "format": ","}},
    }
    return {
        "$schema": "https://vega.github.io/schema/vega-lite/v5.json",
        "data": {"values": rows},
        "facet": {"row": {"field": "model", "type": "nominal", "title": None, "sort": None}},
        "spec": {
            "width": 520,
            "encoding": {
                "y": {"field": "config", "type": "nominal", "title": None, "sort": order},
                "x": {
                    "field": "cycles",
                    "type": "quantitative",
                    "scale": {"type": "log", "domainMin": _LEAST, "nice": False},
                    "stack": None,
                    "title": "cycles of an inference",
                },
            },
            "layer": [bar, text],
        },
        "resolve": {"scale": {"y": "independent"}},
        "config": {"background": "white", "font": "sans-serif"},
    }
