"""Table of streams on the page on performance: what lies between an inference and the next one."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from tools.documents.markdown import table
from tools.documents.result_files import results_of
from tools.results.kinds import bench_command

__all__ = ["stream_tables"]

_PIECE_BYTES = 16
_COLUMNS = (
    "model",
    "config",
    "waits for weights:",
    "cycles:",
    "period:",
    "bytes copied:",
    "cycles more:",
    f"of them each {_PIECE_BYTES} bytes:",
    f"period for {_PIECE_BYTES} bytes:",
)


def stream_tables(files: Mapping[str, Any]) -> str:
    """Return a row for each run that was also measured as a stream of inputs, and the commands.

    Parameters
    ----------
    files : mapping
        Contents of the JSON files of runs, by their path in the project.
    """
    streams = {
        name: found
        for name, runs in files.items()
        if (found := [run for run in _runs(runs) if "copied_bytes" in run])
    }
    rows = [row for name, runs in streams.items() for row in _rows(name, runs)]
    commands = [bench_command(name, runs) for name, runs in streams.items()]
    return "\n".join([*table(_COLUMNS, rows), "", "measured with", "", "```", *commands, "```"])


def _runs(value: Any) -> list[Mapping[str, Any]]:
    return value if isinstance(value, list) else []


def _rows(name: str, runs: Sequence[Mapping[str, Any]]) -> Iterator[tuple[str, ...]]:
    for run in runs:
        with results_of("kiwicha bench --stream", name):
            more, copied = run["period"] - run["cycles"], run["copied_bytes"]
            counters = run["counters"]
            yield (
                run["model"],
                run["config"],
                f"{100 * counters['wait_weights'] / run['cycles']:.0f} %",
                f"{run['cycles']:,}",
                f"{run['period']:,}",
                f"{copied:,}",
                f"{more:,}",
                f"{_PIECE_BYTES * more / copied:.1f}",
                f"{_PIECE_BYTES * run['period'] / copied:,.1f}",
            )
