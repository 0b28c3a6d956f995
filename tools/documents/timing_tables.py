"""Tables of what ``kiwicha timing`` estimated, as Markdown."""

from collections.abc import Mapping
from typing import Any

from kiwicha.contract.configs import ALL_CONFIGS
from tools.documents.freshness import Freshness
from tools.documents.markdown import table
from tools.documents.result_files import results_of
from tools.results.kinds import timing_command

__all__ = ["timing_tables"]

_COMMAND = "kiwicha timing"
_CONFIGS = list(ALL_CONFIGS)


def timing_tables(files: Mapping[str, Any], freshness: Freshness) -> str:
    """Return the clocks of all configurations in one table, and the worst paths of each.

    Parameters
    ----------
    files : mapping
        Contents of the JSON files of ``docs/results/timing`` by their path in the project.
    freshness : callable
        Says whether files are of the present hardware.

    Raises
    ------
    UsageError
        If a file holds something else.
    """
    found = []
    for name, estimate in files.items():
        with results_of(_COMMAND, name):
            found.append((_CONFIGS.index(estimate["config"]), _row(estimate), _paths(estimate)))
    if not found:
        return ""
    found.sort(key=lambda item: item[0])
    columns = ("CFU", "clock:", "worst path:", "slack:", "ends that are late:")
    commands = [timing_command(*item) for item in sorted(files.items())]
    parts = [
        "\n".join(table(columns, [row for _, row, _ in found])),
        *(paths for _, _, paths in found),
        "\n".join(["estimated with", "", "```", *commands, "```"]),
        freshness(sorted(files)),
    ]
    return "\n\n".join(parts) + "\n"


def _row(estimate: Mapping[str, Any]) -> tuple[str, ...]:
    return (
        f"`{estimate['config']}`",
        f"{estimate['clock_mhz']:.1f} MHz",
        f"{estimate['period_ns']:.2f} ns",
        f"{estimate['slack_ns']:+.2f} ns at {estimate['wanted_mhz']:g} MHz",
        f"{estimate['late']:,} of {estimate['ends']:,}",
    )


def _paths(estimate: Mapping[str, Any]) -> str:
    columns = ("ns:", "cells:", "wires:", "LUT:", "carry:", "ends:", "from", "to", "widest net")
    rows = [
        (
            *(f"{path[key]:.2f}" for key in ("delay_ns", "logic_ns", "route_ns")),
            *(f"{path[key]:,}" for key in ("luts", "carries", "ends")),
            _name(path["start"]),
            _name(path["end"]),
            f"{max(step['loads'] for step in path['steps']):,} loads",
        )
        for path in estimate["paths"]
    ]
    return "\n".join([f"### `{estimate['config']}`", "", *table(columns, rows)])


def _name(place: Mapping[str, str]) -> str:
    port = f".{place['port']}" if place.get("port") else ""
    source = f" ({place['source']})" if place["source"] else ""
    return f"`{place['path']}{port}`{source}"
