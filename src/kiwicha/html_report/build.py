"""The page itself: one file with its data, its script and its charting library."""

import html
import json
from collections.abc import Callable, Sequence
from importlib import resources
from typing import Any

from kiwicha.html_report import library
from kiwicha.html_report.charts import charts, pareto
from kiwicha.html_report.data import page_runs, page_study

__all__ = ["build_page"]

_FIGURES = {
    "cycles": (
        "Cycles of each layer",
        "What a layer's cycles were spent on. The tick is the compiler's prediction.",
    ),
    "roofline": (
        "Roofline",
        (
            "A layer under the slope waits for DRAM, one under the flat roof for "
            "multipliers. The distance below is lost to other causes."
        ),
    ),
    "scratchpad": (
        "Scratchpad",
        "Which tensor lies where in the engine's memory, from its first to its last use.",
    ),
    "arena": ("Arena", "The same for the tensors in DRAM."),
    "traffic": ("DRAM bytes of each layer", "Bytes that cross the memory port for a layer."),
}

_STUDY = (
    '<section id="study" aria-labelledby="title-front" hidden><h2 id="title-front">Configurations'
    '</h2><p class="soft" id="about-study"></p><figure id="figure-front" aria-labelledby='
    '"title-front"><div class="chart" id="chart-front"></div></figure>'
    '<div class="scroll" id="front"></div></section>'
)


def build_page(
    runs: Sequence[dict[str, Any]],
    study: dict[str, Any] | None = None,
    on_build: Callable[[], None] | None = None,
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

    Raises
    ------
    ToolError
        If the charting library is not installed.
    """
    data: dict[str, Any] = {"runs": page_runs(runs), "charts": charts(), "study": None}
    if study is not None:
        data["study"] = shown = page_study(study)
        data["charts"]["front"] = pareto(shown["axes"], shown["titles"])
    # In a script element only the end tag, and what could open a comment, must not appear.
    text = json.dumps(data, separators=(",", ":")).replace("<", "\\u003c")
    titles = [f"{run['model']} on {run['config']}" for run in runs]
    names = ", ".join(dict.fromkeys(titles or ["explored configurations"]))
    figures = "\n".join(
        f'<figure id="figure-{name}" aria-labelledby="title-{name}">'
        f'<h2 id="title-{name}">{html.escape(title)}</h2>'
        f'<figcaption class="soft">{html.escape(caption)}</figcaption>'
        f'<div class="chart" id="chart-{name}"></div></figure>'
        for name, (title, caption) in _FIGURES.items()
    )
    style, script = (
        resources.files("kiwicha.html_report").joinpath(name).read_text(encoding="utf-8")
        for name in ("page.css", "page.js")
    )
    return "\n".join([
        '<!doctype html><html lang="en"><head><meta charset="utf-8">',
        '<meta name="viewport" content="width=device-width, initial-scale=1">',
        f"<title>Kiwicha: {html.escape(names)}</title>",
        # Without an icon browsers ask the server for one.
        '<link rel="icon" href="data:,">',
        f"<style>{style}</style></head><body>",
        "<main><h1>Where the cycles went</h1>",
        "<noscript><p>The charts and tables of this page need JavaScript.</p></noscript>",
        _STUDY,
        '<div id="of-runs"><section aria-label="Runs"><div class="scroll" id="runs"></div>',
        '</section><p><label>Show <select id="run"></select></label></p>',
        '<ul class="cards" id="cards"></ul><p id="summary"></p>',
        figures,
        '<section aria-labelledby="title-layers"><h2 id="title-layers">Layers</h2>',
        '<p class="soft">All numbers of the bars and of the roofline. Click a title to sort.',
        '</p><div class="scroll" id="layers"></div></section>',
        '<section id="of-tensors" aria-labelledby="title-tensors">',
        '<h2 id="title-tensors">Tensors</h2>',
        '<p class="soft">All numbers of scratchpad and arena.</p>',
        '<details><summary>Show them</summary><div class="scroll" id="tensors"></div></details>',
        "</section></div></main>",
        f'<script type="application/json" id="data">{text}</script>',
        f"<script>{library.script(on_build)}</script>",
        f"<script>{script}</script></body></html>\n",
    ])
