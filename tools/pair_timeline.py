"""Draw the rows of a depthwise layer and of those around it: ``python -m tools.pair_timeline``."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from kiwicha.compiler import compile_stages
from kiwicha.compiler.engine.cost.unit_timeline import UnitThreads
from kiwicha.compiler.engine.ir.plan import Job
from kiwicha.contract.configs import find_config
from kiwicha.gallery import catalogue
from kiwicha.html_report import charts, library
from kiwicha.program.unit_rows import unit_rows

__all__ = ["MODEL", "PICTURE", "drawn", "pair_rows"]

MODEL = "mobilenet1@96,width=0.25"
CONFIG = "64-depthwise"
PICTURE = Path(__file__).parents[1] / "docs" / "pictures" / "pair.svg"
_TRACKS = ("array", "depthwise unit")


def pair_rows(model: bytes) -> list[dict[str, Any]]:
    """Return the predicted rows of the first pair in a model whose two jobs both follow rows.

    Parameters
    ----------
    model : bytes
        Of TFLite, with such a pair.
    """
    compilation = compile_stages(model, CONFIG)
    config = find_config(CONFIG)
    for found in compilation.lists:
        for pair in found.plan.beside:
            if not (pair.follows and pair.is_paced) or pair.consumer is None:
                continue
            jobs = [n for n, event in enumerate(found.plan.events) if isinstance(event, Job)]
            numbers = [jobs.index(event) for event in (pair.before, pair.unit, pair.consumer)]
            if found.rows[numbers[1]].wait <= found.rows[numbers[0]].first:
                # It follows several jobs of the array.
                continue
            threads = UnitThreads(
                found.jobs,
                found.engine_transfers,
                config.engine_macs,
                config.requantizer_cycles,
                config.memory,
            )
            threads.run()
            return list(_slices(found.jobs, threads.row_ends(), numbers))
    raise AssertionError("the model has no pair of units")


def _slices(
    jobs: Sequence[Any], ends: tuple[Sequence[float], Sequence[float]], numbers: Sequence[int]
) -> Iterator[dict[str, Any]]:
    """Yield the rows of three jobs, from the end of the row before to their own."""
    rows = unit_rows(jobs)
    origin = ends[0][rows[numbers[0]].first - 1] if rows[numbers[0]].first else 0.0
    for place, number in enumerate(numbers):
        is_unit = place == 1
        its_ends = ends[is_unit]
        for row in range(rows[number].first, rows[number].end):
            begin = its_ends[row - 1] if row else origin
            yield {
                "track": _TRACKS[is_unit],
                "name": f"job {number}",
                "start": max(begin, origin) - origin,
                "end": its_ends[row] - origin,
                # Neighbours differ.
                "colour": str(2 * place + row % 2),
            }


def drawn(rows: Sequence[dict[str, Any]]) -> bytes:
    """Return the rows as SVG."""
    chart = charts.timeline(_TRACKS, rows)
    chart["description"] = "Rows of array and depthwise unit over time"
    return library.picture(chart, is_vector=True)


if __name__ == "__main__":
    PICTURE.write_bytes(drawn(pair_rows(catalogue.find(MODEL).content())))
