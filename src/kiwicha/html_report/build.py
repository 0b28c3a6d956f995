"""The page itself: one file with its data, its scripts and its charting library."""

import json
from collections.abc import Callable, Sequence
from importlib import resources
from typing import Any

from jinja2 import Environment, StrictUndefined
from markupsafe import Markup

from kiwicha.html_report import library
from kiwicha.html_report.charts import charts, pareto
from kiwicha.html_report.data import page_runs
from kiwicha.html_report.sorts import CAUSE_COLOURS
from kiwicha.html_report.study import page_study

__all__ = ["build_page"]

_FIGURES = {
    "cycles": (
        "Cycles of each layer",
        "What a layer's cycles were spent on. The tick is the compiler's prediction.",
    ),
    "roofline": (
        "Roofline",
        (
            "Numbers are those of layers. One under the slope waits for DRAM, one under the flat "
            "roof for multipliers. The distance below is lost to the cause that its colour names."
        ),
    ),
    "scratchpad": (
        "Scratchpad",
        "Which tensor lies where in the engine's memory, from its first to its last use.",
    ),
    "arena": ("Arena", "The same for the tensors in DRAM."),
    "traffic": ("DRAM bytes of each layer", "Bytes that cross the memory port for a layer."),
}
_SCRIPTS = ("table.js", "page.js")


def build_page(
    runs: Sequence[dict[str, Any]],
    study: dict[str, Any] | None = None,
    on_build: Callable[[], None] | None = None,
    *,
    made: str = "",
) -> str:
    """Return the page of runs, of a study, or of both.

    Parameters
    ----------
    runs : sequence of dict
        From `read_files`.
    study : dict or None
        Likewise.
    on_build : callable or None
        Called before the charting library is bundled, which takes seconds, once.
    made : str
        When, by what version and by which command the page was made; stands below its title.

    Raises
    ------
    ToolError
        If the charting library is not installed.
    """
    shown = None if study is None else page_study(study)
    data: dict[str, Any] = {
        "runs": page_runs(runs),
        "charts": charts(),
        "colours": CAUSE_COLOURS,
        "study": shown,
    }
    if shown is not None:
        data["charts"]["front"] = pareto(shown["axes"], shown["titles"])
    # In a script element only the end tag, and what could open a comment, must not appear.
    text = json.dumps(data, separators=(",", ":")).replace("<", "\\u003c")
    title, heading = _titles(runs, shown)
    page = Environment(
        autoescape=True, undefined=StrictUndefined, keep_trailing_newline=True
    ).from_string(_read("page.html"))
    return page.render(
        title=title,
        heading_text=heading,
        made=made,
        study=shown,
        runs=runs,
        figures=_FIGURES,
        style=Markup(_read("page.css")),
        data=Markup(text),
        library=Markup(library.script(on_build)),
        scripts=[Markup(_read(name)) for name in _SCRIPTS],
    )


def _titles(runs: Sequence[dict[str, Any]], study: dict[str, Any] | None) -> tuple[str, str]:
    """Return the title of the window, and that of the page."""
    names = dict.fromkeys(f"{run['model']} on {run['config']}" for run in runs)
    if study is None:
        models = ", ".join(dict.fromkeys(str(run["model"]) for run in runs))
        return f"Kiwicha: {', '.join(names)}", f"Where the cycles went: {models}"
    explored = f"Explored configurations for {study['models']}"
    if runs:
        return f"Kiwicha study: {study['models']}; {', '.join(names)}", f"{explored}, and runs"
    return f"Kiwicha study: {study['models']}", explored


def _read(name: str) -> str:
    return resources.files("kiwicha.html_report").joinpath(name).read_text(encoding="utf-8")
