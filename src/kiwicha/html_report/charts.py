"""The charts, as Vega-Lite specifications without data: the page puts in that of a run.

Colours are those of Okabe and Ito, which people with any kind of colour vision can tell apart.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from kiwicha.html_report.data import CAUSES, MEASURES, TRAFFIC

__all__ = ["charts", "pareto", "timeline"]

Spec = dict[str, Any]

BLUE, ORANGE, GREEN, SKY, RED, PURPLE, GREY = (
    "#0072B2",
    "#E69F00",
    "#009E73",
    "#56B4E9",
    "#D55E00",
    "#CC79A7",
    "#8C8C8C",
)
_SCHEMA = "https://vega.github.io/schema/vega-lite/v6.json"
_CAUSE_COLOURS = (BLUE, ORANGE, GREEN, SKY, GREY, RED, PURPLE)
_TRAFFIC_COLOURS = (GREEN, SKY, BLUE, ORANGE, RED)
_ROW_PIXELS = 17
_MAP_PIXELS = 260


def charts() -> dict[str, Spec]:
    """Return the charts by name; each names the data that it wants."""
    return {
        "cycles": _bars(
            "Cycles of every layer by what they were spent on; the tick is the prediction",
            ("cycles", "cycles"),
            ("cause", dict(zip(CAUSES.values(), _CAUSE_COLOURS, strict=True))),
            tick="predicted",
        ),
        "traffic": _bars(
            "Bytes between DRAM and each layer",
            ("bytes", "bytes"),
            ("sort", dict(zip(TRAFFIC.values(), _TRAFFIC_COLOURS, strict=True))),
        ),
        "roofline": _roofline(),
        "scratchpad": _map("Tensors in the scratchpad over time"),
        "arena": _map("Tensors in the arena over time"),
    }


def _titled(description: str, **fields: Any) -> Spec:
    return {
        "$schema": _SCHEMA,
        "description": description,
        "width": "container",
        **fields,
    }


def _bars(
    description: str,
    measure: tuple[str, str],
    colours: tuple[str, dict[str, str]],
    tick: str | None = None,
) -> Spec:
    """Return stacked bars, a row for each layer, with a tick at another measure."""
    field, title = measure
    kind, palette = colours
    y = {
        "field": "label",
        "type": "nominal",
        "sort": None,
        "title": None,
        "axis": {"labelLimit": 150, "labelOverlap": False},
    }
    x = {"field": field, "type": "quantitative", "title": title, "axis": {"format": "~s"}}
    bars = {
        "data": {"name": "parts"},
        "mark": {"type": "bar", "tooltip": True},
        "encoding": {
            "y": y,
            "x": x,
            "color": {
                "field": kind,
                "type": "nominal",
                "title": None,
                "scale": {"domain": list(palette), "range": list(palette.values())},
                "legend": {"orient": "top"},
            },
            "order": {"field": "order"},
            "tooltip": [
                {"field": "label", "title": "layer"},
                {"field": kind, "title": "what"},
                {"field": field, "format": ","},
            ],
        },
    }
    layers = [bars]
    if tick is not None:
        layers.append({
            "data": {"name": "layers"},
            "transform": [{"filter": f"datum.{tick} > 0"}],
            "mark": {"type": "tick", "thickness": 2, "size": _ROW_PIXELS - 3, "tooltip": True},
            "encoding": {
                "y": y,
                "x": {"field": tick, "type": "quantitative"},
                "tooltip": [
                    {"field": "label", "title": "layer"},
                    {"field": tick, "format": ","},
                    {"field": field, "format": ","},
                ],
            },
        })
    return _titled(description, height={"step": _ROW_PIXELS}, layer=layers)


def _roofline() -> Spec:
    """Return layers as points under the roofs of the configuration."""
    x = {
        "field": "intensity",
        "type": "quantitative",
        "scale": {"type": "log", "nice": False},
        "title": "MACs per byte of DRAM",
        "axis": {"format": "~s", "tickCount": 6},
    }
    y = {
        "field": "rate",
        "type": "quantitative",
        "scale": {"type": "log", "nice": False},
        "title": "MACs per cycle",
        "axis": {"format": "~r", "tickCount": 6},
    }
    roof = {
        "data": {"name": "roofs"},
        "mark": {"type": "line", "color": GREY, "strokeWidth": 2},
        "encoding": {"x": x, "y": y},
    }
    points = {
        "data": {"name": "points"},
        "mark": {"type": "point", "filled": True, "size": 80, "opacity": 0.85},
        "encoding": {
            "x": x,
            "y": y,
            "color": {
                "field": "op",
                "type": "nominal",
                "title": None,
                "scale": {"range": [BLUE, ORANGE, GREEN, RED, PURPLE, SKY]},
                "legend": {"orient": "top"},
            },
            "shape": {"field": "op", "type": "nominal", "title": None},
            "tooltip": [
                {"field": "label", "title": "layer"},
                {"field": "intensity", "title": "MACs per byte", "format": ",.1f"},
                {"field": "rate", "title": "MACs per cycle", "format": ",.2f"},
            ],
        },
    }
    text = "Roofline: MACs per cycle against MACs per byte of DRAM, a point for each layer"
    return _titled(text, height=320, layer=[roof, points])


def _map(description: str) -> Spec:
    """Return tensors as rectangles of time and addresses."""
    encoding = {
        "x": {"field": "start", "type": "quantitative", "title": "cycle", "axis": {"format": "~s"}},
        "x2": {"field": "end"},
        "y": {"field": "offset", "type": "quantitative", "title": "byte", "axis": {"format": "~s"}},
        "y2": {"field": "top"},
    }
    rectangles = {
        "data": {"name": "tensors"},
        "mark": {"type": "rect", "tooltip": True, "strokeWidth": 1, "stroke": "#80808080"},
        "encoding": {
            **encoding,
            "color": {
                "field": "colour",
                "type": "nominal",
                "legend": None,
                "scale": {"range": [BLUE, ORANGE, GREEN, SKY, RED, PURPLE]},
            },
            "tooltip": [
                {"field": "name", "title": "tensor"},
                {"field": "bytes", "format": ","},
                {"field": "offset", "format": ","},
                {"field": "start", "format": ",", "title": "from cycle"},
                {"field": "end", "format": ",", "title": "to cycle"},
            ],
        },
    }
    return _titled(description, height=_MAP_PIXELS, layer=[rectangles])


def timeline(tracks: Sequence[str], slices: Sequence[Mapping[str, Any]]) -> Spec:
    """Return a timeline as a picture, with its data.

    Parameters
    ----------
    tracks : sequence of str
        Rows, from above.
    slices : sequence of mapping
        Each with ``track``, ``name``, ``start`` and ``end``; neighbours differ in ``colour``, "0"
        to "5".
    """
    return {
        "$schema": _SCHEMA,
        "description": "What CPU, engine and memory port did over time",
        "width": 900,
        "height": {"step": 34},
        "background": "white",
        "data": {"values": list(slices)},
        "mark": {"type": "bar", "height": 24},
        "encoding": {
            "x": {
                "field": "start",
                "type": "quantitative",
                "title": "cycle",
                "scale": {"nice": False},
            },
            "x2": {"field": "end"},
            "y": {"field": "track", "type": "nominal", "title": None, "sort": list(tracks)},
            "color": {
                "field": "colour",
                "type": "nominal",
                "legend": None,
                "scale": {"range": [BLUE, ORANGE, GREEN, SKY, RED, PURPLE]},
            },
        },
    }


def pareto(objectives: Sequence[str], titles: Mapping[str, str] = MEASURES) -> Spec:
    """Return explored configurations as points, those of the front filled and above the others.

    Parameters
    ----------
    objectives : sequence of str
        Fields of the two axes.
    titles : mapping
        Names of all the objectives.
    """
    x, y = (
        {
            "field": name,
            "type": "quantitative",
            "title": titles[name],
            "scale": {"zero": False},
            "axis": {"format": "~s"},
        }
        for name in objectives
    )
    names = ["beaten", "on the front"]
    tooltip = [{"field": name, "title": title} for name, title in titles.items()]

    def points(name: str, is_filled: bool) -> Spec:
        legend = {"domain": names, "range": [GREY, RED]}
        shapes = {"domain": names, "range": ["square", "circle"]}
        return {
            "transform": [{"filter": f"datum.front === '{name}'"}],
            "mark": {"type": "point", "size": 90, "filled": is_filled, "opacity": 1},
            "encoding": {
                "x": x,
                "y": y,
                "color": _named("front", legend),
                "shape": _named("front", shapes),
                "tooltip": [{"field": "config"}, *tooltip],
            },
        }

    return _titled(
        f"Explored configurations: {objectives[1]} against {objectives[0]}",
        height=360,
        data={"name": "trials"},
        layer=[points(name, number > 0) for number, name in enumerate(names)],
    )


def _named(field: str, scale: dict[str, Any]) -> Spec:
    legend = {"orient": "top"}
    return {"field": field, "type": "nominal", "title": None, "scale": scale, "legend": legend}
