"""What the page shows of a study, from the JSON of ``explore``."""

from collections.abc import Mapping
from typing import Any

from kiwicha.html_report.sorts import MEASURES

__all__ = ["page_study"]


def page_study(study: Mapping[str, Any]) -> dict[str, Any]:
    """Return what the page shows of a study: models, two axes, titles, a row for each point."""
    rows = [
        {
            "config": point["config"],
            "front": _standing(point),
            **{name: point[name] for name in MEASURES},
            "simulated": sum(point["confirmed"]["cycles"]) if "confirmed" in point else None,
        }
        for point in sorted(study["configurations"], key=_order)
    ]
    # The first two that differ: cycles go up.
    axes = list(dict.fromkeys([*study["objectives"], "cycles", "bram"]))[:2]
    titles = dict(MEASURES)
    if "bram_kbit" in study:
        titles["bram"] = f"block RAMs of {study['bram_kbit']:g} Kbit, estimated"
    names = ", ".join(study["models"])
    return {
        "models": names,
        "axes": [axes[1], axes[0]],
        "titles": titles,
        "rows": rows,
        "misfits": [{"config": name, "reason": why} for name, why in _misfits(study).items()],
        "made": study.get("made"),
    }


def _standing(point: Mapping[str, Any]) -> str:
    return "on the front" if point["front"] else "beaten"


def _order(point: Mapping[str, Any]) -> tuple[bool, int]:
    """Put the front first, its fastest point first of all."""
    return not point["front"], int(point["cycles"])


def _misfits(study: Mapping[str, Any]) -> Mapping[str, str]:
    found: Mapping[str, str] = study.get("misfits", {})
    return found
