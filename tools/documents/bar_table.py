"""Table of what models take at best, beside what was aimed at."""

from collections.abc import Iterator, Mapping
from typing import Any

from tools.documents.markdown import table
from tools.results.bars import CYCLES, fastest

__all__ = ["bar_table"]

_COLUMNS = ("model", "products:", "aim:", "cycles:", "of the aim:", "with")


def bar_table(files: Mapping[str, Any]) -> str:
    """Return a row for each model and number of products that has an aim and was measured.

    Parameters
    ----------
    files : mapping
        Contents of the JSON files of runs, by their path in the project.
    """
    return "\n".join(table(_COLUMNS, list(_rows(files))))


def _rows(files: Mapping[str, Any]) -> Iterator[tuple[str, ...]]:
    found = fastest(runs for runs in files.values() if isinstance(runs, list))
    for model, bars in CYCLES.items():
        for macs, bar in bars.items():
            if run := found.get((model, macs)):
                cycles = run["cycles"]
                share = f"{100 * cycles / bar:.1f} %"
                yield model, f"{macs}", f"{bar:,}", f"{cycles:,}", share, f"`{run['config']}`"
