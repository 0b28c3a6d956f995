"""The page on boards, from what ``kiwicha build --json`` wrote."""

from collections.abc import Mapping
from typing import Any

from kiwicha.errors import UsageError

__all__ = ["boards_page"]

_PAGE = """\
# Boards

Written by `python -m kiwicha.documents` from `docs/results/boards/*.json`, which `kiwicha build`
measured. {intro}

{tables}"""

_INTRO = """\
Resources are those of the whole system on chip after synthesis: CPU, DRAM controller,
on-chip memory with the boot image, and CFU. On ECP5 the bitstream was made and the clock is that
of the placed and routed design; on Xilinx parts Yosys counted, and Vivado or openXC7 goes on."""


def boards_page(files: Mapping[str, Any]) -> str:
    """Return the page as Markdown.

    Parameters
    ----------
    files : mapping
        Contents of the JSON files by their path in the project.

    Raises
    ------
    UsageError
        If a file holds something else.
    """
    parts = []
    for name, report in sorted(files.items()):
        try:
            parts.append(_report(name, report))
        except (KeyError, TypeError, AttributeError) as error:
            raise UsageError(
                f"results must be those of kiwicha build: {error!r} ({name})"
            ) from error
    return _PAGE.format(intro=_INTRO, tables="\n".join(parts))


def _report(name: str, report: Mapping[str, Any]) -> str:
    resources, capacity = report["resources"], report["capacity"]
    lines = [f"## {report['board']}, {report['config']}", ""]
    lines += [_summary(report), ""]
    lines.append("| module | " + " | ".join(resources) + " |")
    lines.append("|---|" + "---:|" * len(resources))
    for module, counts in report["modules"].items():
        if any(counts.values()):
            lines.append(f"| {module} | {_row(counts)} |")
    lines.append(f"| all | {_row(resources)} |")
    limits = (f"{capacity[key]:,g}" if key in capacity else "" for key in resources)
    lines.append(f"| {report['part']} | " + " | ".join(limits) + " |")
    versions = ", ".join(f"{tool} {number}" for tool, number in report["versions"].items())
    lines += ["", f"`{_command(name, report)}` ({versions})", ""]
    return "\n".join(lines)


def _row(counts: Mapping[str, float]) -> str:
    return " | ".join(f"{count:,g}" for count in counts.values())


def _summary(report: Mapping[str, Any]) -> str:
    over = [key for key, limit in report["capacity"].items() if report["resources"][key] > limit]
    fits = f"Does not fit: {', '.join(over)}." if over else "Fits."
    timing = report["timing"]
    if timing is None:
        return f"{fits} Synthesis took {_minutes(report)}."
    grade = "" if report["speed_grade"] is None else f" at speed grade {report['speed_grade']}"
    path = timing["critical_path"]
    ends = f"`{path[0]['cell']}` to `{path[-1]['cell']}`" if path else "unknown"
    clock = f"{timing['fmax_mhz']:.1f} MHz, {timing['target_mhz']:.1f} MHz wanted"
    return (
        f"{fits} Clock{grade}: {clock}; critical path: {ends}. The build took {_minutes(report)}."
    )


def _minutes(report: Mapping[str, Any]) -> str:
    return f"{report['build_seconds'] / 60:.0f} min"


def _command(name: str, report: Mapping[str, Any]) -> str:
    words = ["kiwicha build", report["board"], "--config", report["config"]]
    words += ["--clock", f"{report['sys_clk_hz'] / 1e6:g}"]
    if report["speed_grade"] is not None:
        words += ["--speed-grade", str(report["speed_grade"])]
    if not report["has_bitstream"]:
        words.append("--no-compile")
    return " ".join([*words, "--json", name])
