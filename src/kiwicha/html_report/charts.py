"""The charts, as Vega-Lite specifications without data: the page puts in that of a run.

Colours have one meaning on the whole page: see `kiwicha.html_report.sorts`. Texts such as ``@ink``
stand for the page's own colours, which it puts in for light and dark.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from kiwicha.html_report.sorts import (
    CAUSE_COLOURS,
    MEASURES,
    TENSOR_COLOUR,
    TRAFFIC_COLOURS,
)

__all__ = ["charts", "pareto", "timeline"]

Spec = dict[str, Any]

_SCHEMA = "https://vega.github.io/schema/vega-lite/v6.json"
_INK, _SOFT = "@ink", "@soft"
_ROW_PIXELS = 24
_MAP_PIXELS = 360
_TIMELINE_COLOURS = ("#0072B2", "#E69F00", "#009E73", "#56B4E9", "#D55E00", "#CC79A7")
_LEGEND = {"orient": "top"}


def charts() -> dict[str, Spec]:
    """Return the charts by name; each names the data that it wants."""
    return {
        "cycles": _bars(
            "Cycles of every layer by what they were spent on; the tick is the prediction",
            ("cycles", "cycles"),
            ("cause", CAUSE_COLOURS),
            tick="predicted",
        ),
        "traffic": _bars(
            "Bytes between DRAM and each layer", ("bytes", "bytes"), ("sort", TRAFFIC_COLOURS)
        ),
        "roofline": _roofline(),
        "scratchpad": _map("Tensors in the scratchpad over time, and its capacity"),
        "arena": _map("Tensors in the arena over time, and its capacity"),
    }


def _titled(description: str, **fields: Any) -> Spec:
    return {"$schema": _SCHEMA, "description": description, "width": "container", **fields}


def _colour(field: str, palette: Mapping[str, str]) -> Spec:
    return {
        "field": field,
        "type": "nominal",
        "title": None,
        "scale": {"domain": list(palette), "range": list(palette.values())},
        "legend": _LEGEND,
    }


def _quantity(field: str, title: str, **scale: Any) -> Spec:
    axis = {"format": "~s", "tickCount": 6}
    found = {"field": field, "type": "quantitative", "title": title, "axis": axis}
    return {**found, "scale": scale} if scale else found


def _bars(
    description: str,
    measure: tuple[str, str],
    colours: tuple[str, Mapping[str, str]],
    tick: str | None = None,
) -> Spec:
    """Return stacked bars, a row for each layer, with a tick at another measure."""
    field, title = measure
    kind, palette = colours
    axis = {"labelLimit": 230, "labelOverlap": False}
    y = {"field": "label", "type": "nominal", "sort": None, "title": None, "axis": axis}
    bars = {
        "data": {"name": "parts"},
        "mark": {"type": "bar", "tooltip": True},
        "encoding": {
            "y": y,
            "x": _quantity(field, title),
            "color": _colour(kind, palette),
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
        mark = {"type": "tick", "thickness": 2, "size": _ROW_PIXELS - 4, "color": _INK}
        layers.append({
            "data": {"name": "layers"},
            "transform": [{"filter": f"datum.{tick} > 0"}],
            "mark": {**mark, "tooltip": True},
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
    """Return layers as numbered points under the roofs of the configuration."""
    x = _quantity("intensity", "MACs per byte of DRAM", type="log", nice=False)
    y = _quantity("rate", "MACs per cycle", type="log", nice=False, padding=26)
    y = {**y, "axis": {"format": "~r", "tickCount": 6, "gridOpacity": 0.5}}
    x = {**x, "axis": {"format": "~s", "tickCount": 6, "gridOpacity": 0.5}}
    place: Spec = {"x": x, "y": y}
    roof = {
        "data": {"name": "roofs"},
        "mark": {"type": "line", "color": _SOFT, "strokeWidth": 2},
        "encoding": place,
    }
    points = {
        "data": {"name": "points"},
        "mark": {"type": "point", "filled": True, "size": 110, "opacity": 0.9},
        "encoding": {
            **place,
            "color": _colour("cause", CAUSE_COLOURS),
            "tooltip": [
                {"field": "label", "title": "layer"},
                {"field": "cause", "title": "mostly"},
                {"field": "intensity", "title": "MACs per byte", "format": ",.1f"},
                {"field": "rate", "title": "MACs per cycle", "format": ",.2f"},
            ],
        },
    }
    text = {"field": "text", "type": "nominal"}
    numbers = {
        "data": {"name": "numbers"},
        "mark": {"type": "text", "align": "left", "dx": 8, "dy": 12, "color": _INK},
        "encoding": {**place, "text": text},
    }
    beside: tuple[Spec, ...] = (
        {"align": "left", "dx": 8, "dy": 14},
        {"align": "right", "dx": -4, "dy": -14},
    )
    names = [
        {
            "data": {"name": "names"},
            "transform": [{"filter": f"datum.end === {end}"}],
            "mark": Spec(type="text", color=_SOFT, **mark),
            "encoding": Spec(**place, text=text),
        }
        for end, mark in enumerate(beside)
    ]
    found = "Roofline: MACs per cycle against MACs per byte of DRAM, a point for each layer"
    return _titled(found, height=380, layer=[roof, points, numbers, *names])


def _map(description: str) -> Spec:
    """Return tensors as rectangles of time and addresses, with names where there is room."""
    place: Spec = {
        "x": _quantity("start", "cycle"),
        "x2": {"field": "end"},
        "y": _quantity("offset", "byte"),
        "y2": {"field": "top"},
    }
    rectangles = {
        "data": {"name": "tensors"},
        "mark": {
            "type": "rect",
            "tooltip": True,
            "strokeWidth": 1,
            "stroke": _INK,
            "strokeOpacity": 0.7,
            "color": TENSOR_COLOUR,
            "fillOpacity": 0.45,
        },
        "encoding": {
            **place,
            "tooltip": [
                {"field": "name", "title": "tensor"},
                {"field": "bytes", "format": ","},
                {"field": "offset", "format": ","},
                {"field": "start", "format": ",", "title": "from cycle"},
                {"field": "end", "format": ",", "title": "to cycle"},
            ],
        },
    }
    wide = "scale('x', datum.end) - scale('x', datum.start)"
    high = "scale('y', datum.offset) - scale('y', datum.top)"
    names = {
        "data": {"name": "tensors"},
        "mark": {
            "type": "text",
            "align": "left",
            "baseline": "middle",
            "dx": 4,
            "color": _INK,
            "limit": {"expr": f"max({wide} - 8, 1)"},
            "opacity": {"expr": f"{wide} > 44 && {high} > 15 ? 1 : 0"},
            "tooltip": None,
        },
        "encoding": {
            "x": place["x"],
            "y": {"field": "middle", "type": "quantitative"},
            "text": {"field": "short", "type": "nominal"},
        },
        "transform": [{"calculate": "(datum.offset + datum.top) / 2", "as": "middle"}],
    }
    capacity = {
        "data": {"name": "capacity"},
        "mark": {"type": "rule", "strokeDash": [6, 4], "strokeWidth": 2, "color": _INK},
        "encoding": {"y": {"field": "bytes", "type": "quantitative"}},
    }
    title = {
        "data": {"name": "capacity"},
        "mark": {
            "type": "text",
            "align": "right",
            "baseline": "bottom",
            "dy": -3,
            "x": "width",
            "color": _INK,
        },
        "encoding": {
            "y": {"field": "bytes", "type": "quantitative"},
            "text": {"field": "text", "type": "nominal"},
        },
    }
    return _titled(description, height=_MAP_PIXELS, layer=[rectangles, names, capacity, title])


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
                "scale": {"range": list(_TIMELINE_COLOURS)},
            },
        },
    }


def pareto(objectives: Sequence[str], titles: Mapping[str, str] = MEASURES) -> Spec:
    """Return explored configurations as points, those of the front filled, named, above the others.

    Parameters
    ----------
    objectives : sequence of str
        Fields of the two axes.
    titles : mapping
        Names of all the objectives.
    """
    x, y = (_quantity(name, titles[name], zero=False) for name in objectives)
    names = ["beaten", "on the front"]
    tooltip = [{"field": name, "title": title} for name, title in titles.items()]

    def points(name: str, is_filled: bool) -> Spec:
        colours = {"domain": names, "range": [_SOFT, _INK]}
        shapes = {"domain": names, "range": ["square", "circle"]}
        return {
            "transform": [{"filter": f"datum.front === '{name}'"}],
            "mark": {"type": "point", "size": 90, "filled": is_filled, "opacity": 1},
            "encoding": {
                "x": x,
                "y": y,
                "color": _named("front", colours),
                "shape": _named("front", shapes),
                "tooltip": [{"field": "config"}, *tooltip],
            },
        }

    texts = {
        "transform": [{"filter": "datum.front === 'on the front'"}],
        "mark": {"type": "text", "align": "left", "dx": 9, "dy": -9, "color": _INK},
        "encoding": {"x": x, "y": y, "text": {"field": "config", "type": "nominal"}},
    }
    return _titled(
        f"Explored configurations: {objectives[1]} against {objectives[0]}",
        height=420,
        data={"name": "trials"},
        layer=[*(points(name, number > 0) for number, name in enumerate(names)), texts],
    )


def _named(field: str, scale: dict[str, Any]) -> Spec:
    return {"field": field, "type": "nominal", "title": None, "scale": scale, "legend": _LEGEND}
