"""The roofline of a run: its roofs with their values, and layers as numbered points."""

import math
from collections.abc import Mapping, Sequence
from typing import Any

__all__ = ["roofline"]

_NEAR, _NEAR_ON_A_PHONE = (0.07, 0.07), (0.2, 0.06)
"""Points share a text of their numbers within this part of the axes."""


def roofline(profile: Mapping[str, Any], layers: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Return a point for each layer, the corners of the roofs, and what stands beside both.

    Parameters
    ----------
    profile : mapping
        With ``macs_per_cycle`` and ``dram_bytes_per_cycle``.
    layers : sequence of mapping
        Rows of the page.

    Returns
    -------
    dict
        ``points``, ``roofs``, ``names`` (of the roofs), ``numbers`` (of layers: those of points
        that lie near each other stand together), and ``few`` of these, for narrow pages.
    """
    points = [
        {
            "label": layer["label"],
            "index": layer["index"],
            "cause": layer["cause"],
            "intensity": layer["macs_per_byte"],
            "rate": layer["macs_per_cycle"],
        }
        for layer in layers
        if layer["macs_per_cycle"] and layer["macs_per_byte"]
    ]
    peak, bandwidth = float(profile["macs_per_cycle"]), float(profile["dram_bytes_per_cycle"])
    knee = peak / bandwidth
    intensities = [float(point["intensity"]) for point in points]
    ends = min([knee, *intensities]) / 2, max([knee, *intensities]) * 2
    corners = [(ends[0], bandwidth * ends[0]), (knee, peak), (ends[1], peak)]
    middle = math.sqrt(ends[0] * knee)
    return {
        "points": points,
        "roofs": [{"intensity": x, "rate": y} for x, y in corners],
        "names": [
            {"intensity": ends[1], "rate": peak, "text": f"{peak:g} MACs per cycle", "end": 1},
            {
                "intensity": middle,
                "rate": bandwidth * middle,
                "text": f"{bandwidth:g} bytes per cycle",
                "end": 0,
            },
        ],
        "numbers": _numbers(points, corners, _NEAR, 4),
        "few": _numbers(points, corners, _NEAR_ON_A_PHONE, 2),
    }


def _numbers(
    points: Sequence[Mapping[str, Any]],
    corners: Sequence[tuple[float, float]],
    near: tuple[float, float],
    most: int,
) -> list[dict[str, Any]]:
    """Return texts: the numbers of points that lie near the first of them."""
    xs = [x for x, _ in corners]
    ys = [*(y for _, y in corners), *(float(point["rate"]) for point in points)]
    width = math.log(max(xs) / min(xs)) * near[0]
    height = math.log(max(ys) / min(ys)) * near[1]
    groups: list[list[Mapping[str, Any]]] = []
    for point in sorted(points, key=lambda point: (-point["intensity"], point["rate"])):
        for group in groups:
            first = group[0]
            if (
                abs(math.log(point["intensity"] / first["intensity"])) < width
                and abs(math.log(point["rate"] / first["rate"])) < height
            ):
                group.append(point)
                break
        else:
            groups.append([point])
    return [
        {
            "intensity": group[0]["intensity"],
            "rate": group[0]["rate"],
            "text": _named(sorted(int(point["index"]) for point in group), most),
        }
        for group in groups
    ]


def _named(numbers: Sequence[int], most: int) -> str:
    """Return numbers as text, the first ones of many."""
    texts = [str(number) for number in numbers]
    return ", ".join(texts if len(texts) <= most else [*texts[: most - 1], "…"])
