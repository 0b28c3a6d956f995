"""The layers of a model as a table with a chart of their cycles, for notebooks."""

from collections.abc import Mapping, Sequence
from importlib import resources
from typing import Any

from jinja2 import Environment, StrictUndefined

from kiwicha.compiler import Compilation
from kiwicha.compiler.engine.cost.cycles import predict_layers
from kiwicha.html_report.sorts import CAUSE_COLOURS, CAUSES
from kiwicha.sim.profile.profile import profile
from kiwicha.sim.verilator.program_run import SimulatedRun

__all__ = ["layers_as_html"]

_CHART_PIXELS = 220


def layers_as_html(name: str, compilation: Compilation, result: SimulatedRun | None) -> str:
    """Return a table: simulated cycles by cause, else predicted ones, else where layers run.

    Parameters
    ----------
    name : str
        Of the model.
    compilation : Compilation
        Of the model, for the configuration that is meant.
    result : SimulatedRun or None
        Of the last inference.
    """
    config = compilation.config
    if result is not None:
        found = profile(compilation, result.activity, result.step_cycles, result.job_ends)
        splits: list[Mapping[str, int]] = [layer["split"] for layer in found["layers"]]
        milliseconds = 1e3 * result.last_cycles / config.memory.clock_hz
        heading, note = "cycles", f"simulated: {milliseconds:.3g} ms at"
    elif config.engine_macs:
        splits = [{"unknown": cycles} for cycles in predict_layers(compilation.program)]
        heading, note = "cycles, predicted", "not simulated; target='sim' counts the cycles of"
    else:
        splits = [{} for _ in compilation.program.layers]
        heading, note = "cycles", "target='sim' counts the cycles of"
    layers = _layers(compilation, splits)
    total = sum(sum(split.values()) for split in splits)
    there = {CAUSES[cause] for split in splits for cause, cycles in split.items() if cycles}
    text = resources.files("kiwicha.interpreter").joinpath("notebook.html").read_text("utf-8")
    return (
        Environment(autoescape=True, undefined=StrictUndefined)
        .from_string(text)
        .render(
            title=f"{name} on {config.name}",
            note=f"{note} {config.memory.clock_hz / 1e6:g} MHz",
            heading=heading,
            causes={cause: colour for cause, colour in CAUSE_COLOURS.items() if cause in there},
            layers=layers,
            macs=f"{sum(layer.macs for layer in compilation.program.layers):,}",
            total=f"{total:,}" if total else "",
        )
    )


def _layers(compilation: Compilation, splits: Sequence[Mapping[str, int]]) -> list[dict[str, Any]]:
    most = max((sum(split.values()) for split in splits), default=0)
    return [
        {
            "index": layer.index,
            "op": layer.operator,
            "shape": "x".join(str(size) for size in layer.shape),
            "macs": f"{layer.macs:,}",
            "cycles": f"{sum(split.values()):,}" if most else "",
            "parts": _parts(split, most),
            "where": layer.where.text,
        }
        for layer, split in zip(compilation.program.layers, splits, strict=True)
    ]


def _parts(split: Mapping[str, int], most: int) -> list[dict[str, Any]]:
    """Return the rectangles of a bar."""
    parts = []
    start = 0.0
    for cause, name in CAUSES.items():
        if not split.get(cause):
            continue
        width = _CHART_PIXELS * split[cause] / most
        parts.append({
            "start": f"{start:.1f}",
            "width": f"{width:.1f}",
            "colour": CAUSE_COLOURS[name],
            "text": f"{name}: {split[cause]:,}",
        })
        start += width
    return parts
