"""Tables of the guide on work beside the engine: periods, and how long an urgent model waits."""

from collections.abc import Iterator, Mapping
from typing import Any

from kiwicha.errors import UsageError
from tools.documents.freshness import Freshness
from tools.documents.markdown import table
from tools.documents.result_files import results_of
from tools.results.kinds import beside_command

__all__ = ["beside_tables"]

_WHILE = {
    "invoke": "waits in `kiwicha_invoke`",
    "sleep": "sleeps until the interrupt",
    "noise": "reads and writes DRAM all the time",
}
_WIDTH_CYCLES = 1000
"""Of a row of waits."""
_BAR_REQUESTS = 10
"""Requests for each mark of a bar."""


def beside_tables(files: Mapping[str, Any], freshness: Freshness) -> str:
    """Return both tables of each file, and what measured them.

    Parameters
    ----------
    files : mapping
        Reports of ``python -m tools.beside``, by their path in the project.
    freshness : callable
        Says whether files are of the present hardware.

    Raises
    ------
    UsageError
        If an output was wrong or an urgent model waited too long.
    """
    lines: list[str] = []
    for name, report in sorted(files.items()):
        with results_of("python -m tools.beside", name):
            _check(name, report)
            lines += [*_section(report), "measured with", "", "```", beside_command(name, report)]
            lines += ["```", "", freshness([name])]
    return "\n".join(lines)


def _check(name: str, report: Mapping[str, Any]) -> None:
    wrong = {mode: count for mode, count in report["wrong"].items() if count}
    if wrong:
        raise UsageError(f"wrong outputs must be none, not {wrong} ({name})")
    longest = max(report["longest_wait"].values())
    if longest > report["bound"]:
        raise UsageError(f"wait must be at most {report['bound']} cycles, not {longest} ({name})")


def _section(report: Mapping[str, Any]) -> Iterator[str]:
    slow, urgent, config = report["slow"], report["urgent"], report["config"]
    asleep = {"sleep": report["asleep"]}
    yield f"`{slow}` on `{config}`, inferences in a row, every output compared:"
    yield ""
    rows = [
        (what, f"{report['period'][mode]:,.0f}", f"{100 * asleep.get(mode, 0):.1f} %")
        for mode, what in _WHILE.items()
    ]
    yield from table(("the CPU meanwhile", "cycles for an inference:", "of them asleep:"), rows)
    yield ""
    more = report["period"]["sleep"] / report["period"]["invoke"] - 1
    yield f"The interrupt costs {100 * more:.1f} % of the period."
    yield ""
    yield (
        f"`{urgent}` beside it, {report['requests']['random']:,} requests at random times, after"
        " each of which the other model goes on:"
    )
    yield ""
    yield from table(("cycles until its list starts", "requests:", ""), _waits(report))
    yield ""
    longest, job = report["longest_wait"]["random"], report["longest_job"]
    yield (
        f"The longest wait is {longest:,} cycles: the longest job, {job:,}, and"
        f" {longest - job:,}. Of {report['requests']['millisecond']:,} more requests, each a"
        f" millisecond after the inference before, the longest is"
        f" {report['longest_wait']['millisecond']:,}. Allowed are {report['bound']:,}."
        f" No output of either model is wrong, of"
        f" {sum(report['slow_inferences'].values()):,} inferences of `{slow}` and"
        f" {sum(report['requests'].values()):,} of `{urgent}`."
    )
    yield ""


def _waits(report: Mapping[str, Any]) -> Iterator[tuple[str, ...]]:
    counts: dict[int, int] = {}
    for begin, count in report["histogram"]["random"]:
        row = begin // _WIDTH_CYCLES * _WIDTH_CYCLES
        counts[row] = counts.get(row, 0) + count
    longest = report["longest_wait"]["random"]
    for row, count in counts.items():
        last = min(row + _WIDTH_CYCLES - 1, longest)
        bar = "▇" * -(-count // _BAR_REQUESTS)
        yield f"{row:,} to {last:,}", f"{count:,}", bar
