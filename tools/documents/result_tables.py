"""Tables of what was measured, as Markdown: the README's overview and the pages of results.

All of them start from the files of ``docs/results``, by path: those of ``bench`` are lists of runs
as ``kiwicha bench --json`` writes them, those of ``area`` and ``weights`` are objects as ``kiwicha
area --json`` and ``kiwicha compile --json`` write them.
"""

from collections.abc import Iterable
from typing import Any

from kiwicha.boards.memories import board_with
from kiwicha.contract.configs import ALL_CONFIGS
from kiwicha.errors import UsageError
from tools import predictions
from tools.documents.freshness import Freshness
from tools.documents.markdown import table
from tools.documents.result_files import results_of
from tools.documents.run_files import BENCH, Run, Runs, cpu_share, runs_of
from tools.documents.vela_tables import peer_table
from tools.results.kinds import area_command, bench_command, compile_command
from tools.results.planned import (
    BLOCKS,
    BOARDS,
    DEPTHWISE,
    GALLERY,
    PREDICTIONS,
    PUBLIC,
    RECURRENT,
    ROOM,
    SOFTMAX,
)

__all__ = [
    "blocks_table",
    "overview",
    "results_page",
    "shown_weights",
    "unit_table",
]

_Areas = list[tuple[str, dict[str, Any]]]
_CONFIGS = list(ALL_CONFIGS)
_UNITS = (DEPTHWISE, ROOM)


def overview(files: dict[str, Any], freshness: Freshness) -> str:
    """Return tables of the cycles of models, without and beside a depthwise unit, and of resources.

    Models of the gallery, further public ones, and those with other decoders or memories are left
    out: they are many.

    Parameters
    ----------
    files : dict
        Contents of the JSON files by their path in the project.
    freshness : callable
        Says whether files are of the present hardware.

    Raises
    ------
    UsageError
        If a file holds something else, or a run whose output was wrong.
    """
    parts = []
    others = {BLOCKS, *_UNITS, GALLERY, SOFTMAX, PREDICTIONS, PUBLIC, RECURRENT, *BOARDS.values()}
    if runs := [item for item in runs_of(files) if item[0] not in others]:
        parts += [_cycles(runs), _commands(bench_command(*item) for item in runs)]
        parts.append(freshness(name for name, _ in runs))
    if units := unit_table(files, freshness):
        parts += ["With a [depthwise unit](docs/depthwise.md) beside the array:", units]
    if areas := _areas_of(files):
        parts += [_resources(areas), _commands(area_command(*item) for item in areas)]
        parts.append(freshness(name for name, _ in areas))
    return "\n\n".join(parts) + "\n"


def unit_table(files: dict[str, Any], freshness: Freshness) -> str:
    """Return the cycles of models beside the depthwise unit; nothing if none were measured.

    Parameters
    ----------
    files : dict
        Contents of the JSON files of runs, by their path in the project.
    freshness : callable
        Says whether files are of the present hardware.
    """
    runs = [item for item in runs_of(files) if item[0] in _UNITS]
    if not runs:
        return ""
    commands = _commands(bench_command(*item) for item in runs)
    return "\n\n".join([_cycles(runs), commands, freshness(name for name, _ in runs)])


def blocks_table(files: dict[str, Any], freshness: Freshness) -> str:
    """Return the cycles with decoders of blocks, of the first inference and of the second.

    Parameters
    ----------
    files : dict
        Contents of the JSON files of runs, by their path in the project.
    freshness : callable
        Says whether files are of the present hardware.
    """
    parts = []
    for name, runs in (item for item in runs_of(files) if item[0] == BLOCKS):
        rows = [
            (run["model"], f"`{run['config']}`", *(f"{run[key]:,}" for key in _INFERENCES))
            for run in runs
        ]
        columns = ("model", "config", "first inference:", "second one:")
        parts += ["\n".join(table(columns, rows)), _commands([bench_command(name, runs)])]
        parts.append(freshness([name]))
    return "\n\n".join(parts)


_INFERENCES = ("cycles_first", "cycles")


def results_page(files: dict[str, Any], weights: dict[str, Any], freshness: Freshness) -> str:
    """Return the page that shows each run, file by file, and what weights take.

    Parameters
    ----------
    files, weights : dict
        Contents of the JSON files of runs and of those of compilations, by their path in the
        project.
    freshness : callable
        Says whether files are of the present hardware.

    Raises
    ------
    UsageError
        If a file holds something else, or a run whose output was wrong.
    """
    parts = [
        "# Results",
        "",
        "Written by `python -m tools.documents` from what the commands measured on the simulated",
        "system. Cycles are those of the second inference in a row, and of the first, with cold",
        "caches; `baseline` and `simd` run only once. The period is that of a [stream of",
        "inputs](performance.md#inference-after-inference): from one inference to the next, while",
        "the CPU loads the next input. The prediction is the compiler's. CPU is the share of the",
        "cycles that the CPU's steps take beside an engine. Utilization is MACs/cycle divided by",
        "what the configuration can do; removed [dead channels](engine.md#dead-channels) still",
        "count. The last column is how many cycles were simulated per second. Models with an @",
        "are of the [gallery](guides/gallery.md): what follows it is the height and width of the",
        "input, smaller than usual so that simulating takes minutes.",
    ]
    for name, runs in runs_of(files):
        rows = [_row(run, name) for run in runs]
        if name == PUBLIC:
            parts += ["", "## Further public models, beside Vela's estimates", ""]
            parts += peer_table(files)
        parts += ["", *table(_COLUMNS, rows), "", f"`{bench_command(name, runs)}`"]
        parts += ["", freshness([name])]
    parts += _predictions(files)
    if weights:
        parts += ["", *_weights(weights), "", freshness(sorted(weights))]
    return "\n".join(parts) + "\n"


def shown_weights(compilation: Any, name: str) -> dict[str, Any]:
    """Return what the page of results shows of a compilation.

    Parameters
    ----------
    compilation : dict
        What ``kiwicha compile --json`` wrote.
    name : str
        The file's path in the project.

    Raises
    ------
    UsageError
        If the file holds something else, or was compiled for no engine.
    """
    with results_of("kiwicha compile for an engine", name):
        shown = {key: compilation[key] for key in ("model", "config", "optimize")}
        sizes = {key: int(compilation["predicted"][key]) for key in _SIZES}
    measured = {key: compilation[key] for key in ("inputs", "seconds") if key in compilation}
    return {**shown, "predicted": sizes, **measured}


_SIZES = ("weights", "weight_bytes", "raw_weight_bytes")


_WRONG = ("run", "layer:", "operator", "cycles:", "predicted:")


def _predictions(files: dict[str, Any]) -> list[str]:
    """Return what the compiler's predictions are off, by kind of layer; nothing without any."""
    found = [item for _, runs in runs_of(files) for item in predictions.comparisons(runs)]
    if not found:
        return []
    wrong = [item for item in found if not item.is_right]
    named = [
        (item.run, str(item.index), item.operator, f"{item.cycles:,}", f"{item.predicted:,}")
        for item in wrong
    ]
    shares = f"{predictions.ENGINE_SHARE:.0%} on the engine and by {predictions.CPU_SHARE:.0%}"
    slack = f"{predictions.SLACK_CYCLES} cycles"
    return [
        *("", "## Predictions, layer by layer", ""),
        "The largest deviation of what the compiler predicts from what was measured, over all runs",
        f"above. A layer may be off by {shares} on the CPU,",
        f"or by {slack} if that is more: a refresh of DRAM falls into a layer or not. Of",
        f"{len(found):,} layers {len(wrong):,} are off by more. Beside a depthwise unit two layers",
        "are executed at a time: there all layers of an inference count as one. Sums that are made",
        "behind a convolution count as a part of it.",
        *("", *table(predictions.COLUMNS, predictions.rows(found))),
        *("", "Those that are off by more:", "", *table(_WRONG, named)),
        *("", "`python -m tools.predictions`"),
    ]


def _weights(files: dict[str, Any]) -> list[str]:
    """Return the section on what the weights of models take."""
    rows, commands = [], []
    for name, compilation in sorted(files.items()):
        shown = shown_weights(compilation, name)
        count, stored, raw = (shown["predicted"][key] for key in _SIZES)
        bits = (f"{8 * size / count:.2f}" for size in (raw, stored))
        place = (shown["model"], f"`{shown['config']}`")
        rows.append((*place, f"{count:,}", *bits, f"{100 * stored / raw:.1f} %"))
        commands.append(compile_command(name, shown))
    columns = ("model", "config", "weights:", "raw bits:", "stored bits:", "stored / raw:")
    return [
        "## Stored weights",
        "",
        "Bits stored per weight of the layers on the engine, with `--optimize size`. Raw bits are",
        "those of the words as the array reads them, before the [code](engine.md#coded-weights):",
        "without [dead channels](engine.md#dead-channels), but with the zeros that fill the last",
        "group of channels and the last word of a segment. Parameters of channels are never coded",
        "and not counted. A stream that would get longer stays raw.",
        "",
        *table(columns, rows),
        "",
        _commands(commands),
    ]


_COLUMNS = (
    "model",
    "config",
    "MACs:",
    "cycles:",
    "first:",
    "period:",
    "predicted:",
    "CPU:",
    "MACs/cycle:",
    "utilization:",
    "ms:",
    "simulated cycles/s:",
)


def _row(run: Run, name: str) -> tuple[str, ...]:
    with results_of(BENCH, name):
        predicted = run.get("predicted")
        return (
            _label(run),
            run["config"],
            f"{run['macs']:,}",
            f"{run['cycles']:,}",
            f"{run['cycles_first']:,}",
            f"{run['period']:,}" if "period" in run else "",
            "" if predicted is None else f"{100 * (predicted / run['cycles'] - 1):+.1f} %",
            cpu_share(run),
            f"{run['macs'] / run['cycles']:.3f}",
            f"{100 * run['utilization']:.1f} %",
            f"{1e3 * run['cycles'] / run['clock_hz']:,.2f}",
            f"{run['simulation_hz']:,}",
        )


def _label(run: Run) -> str:
    """Name a run's model, and with what options it was compiled."""
    board = board_with(run["memory"]) if "memory" in run else None
    options = ["" if run.get("eliminate", True) else "--no-eliminate"]
    options.append("" if board is None else f"--board {board}")
    return ", ".join([run["model"], *(f"`{option}`" for option in options if option)])


def _cycles(found: Runs) -> str:
    """Return a row for each model, with a column for each configuration and each estimate."""
    cells: dict[str, dict[str, str]] = {}
    configs, accelerators = set(), set()
    for name, runs in found:
        for run in runs:
            if run["config"] not in _CONFIGS:
                raise UsageError(f"config must be known, not {run['config']} ({name})")
            row = cells.setdefault(_label(run), {"model": _label(run)})
            row["MACs:"] = f"{run['macs']:,}"
            row[f"`{run['config']}`:"] = f"{run['cycles']:,}"
            configs.add(run["config"])
            if "vela" in run:
                accelerator = f"{run['vela']['accelerator']} by Vela:"
                row[accelerator] = f"{run['vela']['cycles']:,}"
                accelerators.add((len(accelerator), accelerator))
    columns = [
        "model",
        "MACs:",
        *(f"`{config}`:" for config in sorted(configs, key=_CONFIGS.index)),
        *(accelerator for _, accelerator in sorted(accelerators)),
    ]
    models = sorted(cells.values(), key=len, reverse=True)
    return "\n".join(table(columns, [[row.get(key, "") for key in columns] for row in models]))


def _resources(found: _Areas) -> str:
    areas = sorted(found, key=lambda item: _CONFIGS.index(item[1]["config"]))
    tables = []
    # Each family counts other things.
    for family in sorted({area["family"] for _, area in areas}, reverse=True):
        of_family = [area for _, area in areas if area["family"] == family]
        kinds = dict.fromkeys(kind for area in of_family for kind in area["resources"])
        rows = [
            [f"`{area['config']}`", *(f"{area['resources'].get(kind, 0):,g}" for kind in kinds)]
            for area in of_family
        ]
        tables.append("\n".join(table([f"CFU on {family}", *(f"{k}:" for k in kinds)], rows)))
    return "\n\n".join(tables)


def _areas_of(files: dict[str, Any]) -> _Areas:
    """Return what `kiwicha area` wrote."""
    found = [(name, value) for name, value in sorted(files.items()) if isinstance(value, dict)]
    for name, area in found:
        missing = [key for key in ("resources", "config", "family") if key not in area]
        if missing:
            raise UsageError(f"results must be those of kiwicha area: {missing[0]!r} ({name})")
    return found


def _commands(lines: Iterable[str]) -> str:
    return "measured with\n\n```\n" + "\n".join(lines) + "\n```"
