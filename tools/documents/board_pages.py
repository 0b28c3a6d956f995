"""The pages on boards, from what ``kiwicha build --json`` and ``bringup --json`` wrote."""

from collections.abc import Mapping
from typing import Any

from tools.documents.freshness import Freshness
from tools.documents.markdown import table
from tools.documents.result_files import results_of
from tools.results.kinds import board_command, bring_up_command

__all__ = ["boards_page", "bring_up_table"]

_PAGE = """\
# Boards

Written by `python -m tools.documents` from `docs/results/boards/*.json`, which `kiwicha build`
measured. Resources are those of the whole system on chip after synthesis: CPU, DRAM controller,
on-chip memory with the boot image, and CFU. For ECP5 boards the bitstream was made, and the clock
is that of the placed and routed design. For Xilinx boards Yosys counted the resources
(`synth_xilinx`); Vivado or openXC7 make the bitstream, so the clock is not known here. A block RAM
has 36 Kbit on Xilinx parts and 18 Kbit on ECP5; a multiplier is a DSP48E1 or a MULT18X18D.

{summary}

Modules, critical path and command of each build unfold:

{sections}"""

_COLUMNS = {
    "LUT": ("LUT",),
    "FF": ("FF",),
    "block RAM": ("BRAM36", "BRAM"),
    "multipliers": ("DSP48E1", "DSP"),
}
"""Of the summary, with the names that the families have for them."""


def boards_page(files: Mapping[str, Any], freshness: Freshness) -> str:
    """Return the page as Markdown.

    Parameters
    ----------
    files : mapping
        Contents of the JSON files by their path in the project.
    freshness : callable
        Says whether files are of the present hardware.

    Raises
    ------
    UsageError
        If a file holds something else.
    """
    rows, sections = [], []
    for name, report in sorted(files.items()):
        with results_of("kiwicha build", name):
            rows.append(_row(report))
            sections.append(_section(name, report, freshness))
    return _PAGE.format(summary=_summary(rows), sections="\n".join(sections))


def bring_up_table(files: Mapping[str, Any], freshness: Freshness) -> str:
    """Return a table of bring-up designs, above the commands that measured them.

    Parameters
    ----------
    files : mapping
        Contents of the JSON files by their path in the project.
    freshness : callable
        Says whether files are of the present hardware.

    Raises
    ------
    UsageError
        If a file holds something else.
    """
    rows, commands = [], []
    for name, report in sorted(files.items()):
        with results_of("kiwicha bringup --build", name):
            build = report["build"]
            rows.append(_row(build))
            commands.append(f"`{bring_up_command(name, report)}`")
    return "\n\n".join([_summary(rows), *commands, freshness(sorted(files))])


def _summary(rows: list[list[str]]) -> str:
    numbers = [f"{title}:" for title in (*_COLUMNS, "clock", "time")]
    return "\n".join(table(["board", "config", *numbers], rows))


def _row(report: Mapping[str, Any]) -> list[str]:
    used, capacity = report["resources"], report["capacity"]
    row = [_title(report), report["config"]]
    for names in _COLUMNS.values():
        (name,) = (name for name in names if name in used)
        over = " (does not fit)" if used[name] > capacity[name] else ""
        row.append(f"{used[name]:,g} of {capacity[name]:,g}{over}")
    timing = report["timing"]
    clock = "" if timing is None else f"{timing['fmax_mhz']:.1f} MHz"
    return [*row, clock, _minutes(report)]


def _title(report: Mapping[str, Any]) -> str:
    grade = report["speed_grade"]
    return f"{report['board']}{'' if grade is None else f', speed grade {grade}'}"


def _section(name: str, report: Mapping[str, Any], freshness: Freshness) -> str:
    resources, capacity = report["resources"], report["capacity"]
    rows = [
        _counts(module, counts)
        for module, counts in report["modules"].items()
        if any(counts.values())
    ]
    limits = (f"{capacity[key]:,g}" if key in capacity else "" for key in resources)
    rows += [_counts("all", resources), [report["part"], *limits]]
    versions = ", ".join(f"{tool} {number}" for tool, number in report["versions"].items())
    # Python's Markdown asks for the attribute where it stands within HTML; others ignore it.
    return "\n".join([
        '<details markdown="1">',
        f"<summary>{_title(report)}, {report['config']}: modules</summary>",
        "",
        _verdict(report),
        "",
        *table(["module", *(f"{name}:" for name in resources)], rows),
        "",
        f"`{board_command(name, report)}` ({versions})",
        "",
        freshness([name]),
        "",
        "</details>",
        "",
    ])


def _counts(label: str, counts: Mapping[str, float]) -> list[str]:
    return [label, *(f"{count:,g}" for count in counts.values())]


def _verdict(report: Mapping[str, Any]) -> str:
    over = [key for key, limit in report["capacity"].items() if report["resources"][key] > limit]
    fits = f"Does not fit: {', '.join(over)}." if over else "Fits."
    timing = report["timing"]
    if timing is None:
        return f"{fits} Synthesis took {_minutes(report)}."
    path = timing["critical_path"]
    ends = f"`{path[0]['cell']}` to `{path[-1]['cell']}`" if path else "unknown"
    clock = f"{timing['fmax_mhz']:.1f} MHz, {timing['target_mhz']:.1f} MHz wanted"
    return f"{fits} Clock: {clock}; critical path: {ends}. The build took {_minutes(report)}."


def _minutes(report: Mapping[str, Any]) -> str:
    return f"{report['build_seconds'] / 60:.0f} min"
