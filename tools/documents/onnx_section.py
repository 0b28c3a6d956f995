"""The section on ONNX operators beside onnxruntime."""

from collections.abc import Mapping, Sequence
from typing import Any

from kiwicha.errors import UsageError
from tools.documents.freshness import Freshness
from tools.documents.markdown import table
from tools.documents.result_files import results_of
from tools.results.kinds import onnx_command

__all__ = ["onnx_section"]

_COUNTS = ("draws", "elements", "equal", "halves", "equal_halves", "even_halves")


def onnx_section(files: Mapping[str, Any], freshness: Freshness) -> str:
    """Return what draws of operators gave; nothing if there is no file of them.

    Parameters
    ----------
    files : mapping
        What ``python -m tools.onnx_draws --json`` wrote, by path in the project.
    freshness : callable
        Says whether files are of the present compiler.

    Raises
    ------
    UsageError
        If an element was more than a step off.
    """
    if not files:
        return ""
    ((name, outcome),) = files.items()
    with results_of("python -m tools.onnx_draws", name):
        tallies = outcome["operators"]
        return _text(name, outcome, _rows(name, tallies), freshness, _if_even(tallies))


def _rows(name: str, tallies: Mapping[str, Any]) -> list[Sequence[str]]:
    worst = max(tally["most_steps"] for tally in tallies.values())
    if worst > 1:
        raise UsageError(f"most_steps must be 1 at most, not {worst} ({name})")
    different = {
        operator: tally for operator, tally in tallies.items() if tally["equal"] < tally["elements"]
    }
    rest = [tally for operator, tally in tallies.items() if operator not in different]
    named = {
        **different,
        f"{len(rest)} others": _sum(rest),
        "all": _sum(tallies.values()),
    }
    return [(operator, *_row(tally)) for operator, tally in named.items()]


def _sum(tallies: Any) -> dict[str, int]:
    found = list(tallies)
    return {count: sum(tally[count] for tally in found) for count in _COUNTS}


def _row(tally: Mapping[str, int]) -> Sequence[str]:
    share = 100 * tally["equal"] / tally["elements"]
    halves, others = tally["halves"], tally["elements"] - tally["halves"]
    apart = 100 * (tally["equal"] - tally["equal_halves"]) / others
    return (
        f"{tally['draws']:,}",
        f"{tally['elements']:,}",
        f"{share:.3f} %",
        f"{halves:,}" if halves else "",
        f"{100 * tally['equal_halves'] / halves:.0f} %" if halves else "",
        f"{100 * tally['even_halves'] / halves:.0f} %" if halves else "",
        f"{apart:.3f} %",
    )


def _if_even(tallies: Mapping[str, Any]) -> float:
    """Return how many percent would be equal if exact halves were rounded to even."""
    whole = _sum(tallies.values())
    return 100 * (whole["equal"] - whole["equal_halves"] + whole["even_halves"]) / whole["elements"]


def _text(
    name: str,
    outcome: Mapping[str, Any],
    rows: Sequence[Sequence[str]],
    freshness: Freshness,
    if_even: float,
) -> str:
    columns = (
        "operator",
        "draws:",
        "elements:",
        "equal:",
        "exact halves:",
        "of these equal:",
        "of these even in onnxruntime:",
        "equal without halves:",
    )
    lines = [
        "### Beside onnxruntime",
        "",
        f"Models of one operator, drawn at random, beside onnxruntime {_versions(outcome)}, which",
        "computes them node by node. No element is more than one step off. Those that differ are",
        "exact halves, but for a few next to one. At an exact half the noise of onnxruntime's",
        "float32 decides: a scale is no power of two, so its products are rounded, and what is a",
        "half lies a little above or below it. Rounding to even would agree with the share in the",
        f"column before the last, and make {if_even:.2f} % of all elements equal. It takes the",
        "parity of the result, which a scale, a shift and an addition do not tell: a result is",
        "then the sum of two, rounded to half the resolution from sums a little apart. That is two",
        "passes and an addition in place of one pass, for one step in results that lie halfway; so",
        "halves keep going up, or away from zero.",
        "",
        *table(columns, rows),
        "",
        "measured with",
        "",
        "```",
        onnx_command(name, outcome),
        "```",
        "",
        freshness([name]),
    ]
    return "\n" + "\n".join(lines) + "\n"


def _versions(outcome: Mapping[str, Any]) -> str:
    return str(outcome["versions"]["onnxruntime"])
