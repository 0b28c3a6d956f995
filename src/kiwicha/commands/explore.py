"""``kiwicha explore``: which configuration serves some models best."""

import csv
import io
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from kiwicha.commands import completion
from kiwicha.commands.options import ModelNames
from kiwicha.errors import ToolError, UsageError

if TYPE_CHECKING:
    from concurrent.futures import Executor

    from rich.table import Table

    from kiwicha.boards.family import Family
    from kiwicha.explore.confirm import Confirmed
    from kiwicha.explore.points import Board
    from kiwicha.explore.search import Point

__all__ = ["explore"]


def explore(
    models: ModelNames,
    board: Annotated[
        str | None,
        typer.Option(
            help="Estimate for its FPGA and memory, and leave out what does not fit.",
            autocompletion=completion.boards,
        ),
    ] = None,
    trials: Annotated[int, typer.Option(min=1, help="How many configurations to try.")] = 200,
    objective: Annotated[
        str, typer.Option(metavar="O,O,...", help="What to minimise: cycles, lut, dsp, bram.")
    ] = "cycles,bram",
    confirm: Annotated[
        int, typer.Option(min=0, help="How many of the best to simulate and synthesise.")
    ] = 0,
    scheduler: Annotated[
        str | None, typer.Option(metavar="ADDRESS", help="A Dask cluster, instead of local cores.")
    ] = None,
    workers: Annotated[int, typer.Option(min=1, help="Points measured at a time.")] = 2,
    study: Annotated[Path, typer.Option(help="The study; an existing file is continued.")] = Path(
        "explore.journal"
    ),
    csv_file: Annotated[Path | None, typer.Option("--csv", help="Receives every point.")] = None,
    json: Annotated[
        str | None, typer.Option(help="Receives the study, for kiwicha report; - is stdout.")
    ] = None,
) -> None:
    """Search configurations by the cycle model, and confirm the best on the simulated hardware."""
    from kiwicha.commands import console
    from kiwicha.compiler import require_supported
    from kiwicha.contract.configs import SEARCHED_FAMILY
    from kiwicha.zoo import models as zoo

    console.require_writable(study, csv_file, json, read=models)
    try:
        from kiwicha.explore.cluster import Cluster
        from kiwicha.explore.points import BOARDS, OBJECTIVES, family_for
        from kiwicha.explore.pool import LocalPool
        from kiwicha.explore.search import front, misfits, search
    except ImportError as error:
        raise ToolError(
            "Optuna must be installed for the search; get it with: pip install 'kiwicha[explore]'"
        ) from error
    objectives = tuple(name.strip() for name in objective.split(","))
    if set(objectives) - set(OBJECTIVES) or len(set(objectives)) < len(objectives):
        raise UsageError(
            f"objectives must be different ones of {', '.join(OBJECTIVES)}, not {objective!r}"
        )
    if board is not None and board not in BOARDS:
        raise UsageError(f"board must be {' or '.join(BOARDS)}, not {board!r}")
    target = None if board is None else BOARDS[board]
    family = family_for(target)
    resolved = [zoo.resolve(model) for model in models]
    # The workers get contents only, and could not name the file that is wrong.
    for _, path, _ in resolved:
        require_supported(path)
    contents = [console.read_file(path, "model") for _, path, _ in resolved]
    with (
        console.display() as show,
        LocalPool(workers) if scheduler is None else Cluster(scheduler, show.line) as executor,
    ):
        report = show.count("searching", trials, f"points in {study}")
        started = time.monotonic()
        points = search(
            contents,
            study_file=study,
            objectives=objectives,
            trials=trials,
            board=target,
            executor=executor,
            workers=workers,
            on_trial=report,
            say=show.line,
            about={"models": ", ".join(name for name, _, _ in resolved), "board": board or "none"},
        )
        searched = time.monotonic()
        best = front(points, objectives)
        confirmed = _confirm(executor, contents, best[:confirm], target, show.line)
        ended = time.monotonic()
    names = [name for name, _, _ in resolved]
    if csv_file is not None:
        console.write_file(csv_file, _csv(points, best).encode())
    if json is not None:
        console.write_json(
            json, _study(names, objectives, family, points, best, confirmed, misfits(target))
        )
    if json != console.STDOUT:
        out = console.stdout()
        out.print(_table(best, confirmed, family))
        unfit = misfits(target)
        fitting = len(SEARCHED_FAMILY) - len(unfit)
        out.print(
            f"{len(points)} configurations tried, of {fitting}"
            + (f" that fit {board}; {len(unfit)} do not" if board else "")
            + f"; searched in {searched - started:.1f} s"
            + (f", confirmed in {ended - searched:.1f} s" if confirmed else "")
        )
        if best:
            what, chosen = _chosen(best, objectives)
            option = "" if board is None else f" --board {board}"
            line = f"kiwicha bench {' '.join(models)} --config {chosen.config.name}{option}"
            out.print(f"{what}: {line}")
            if board is not None:
                out.print(f"to build it: kiwicha build {board} --config {chosen.config.name}")


def _confirm(
    executor: "Executor",
    models: list[bytes],
    best: "Sequence[Point]",
    board: "Board | None",
    say: Any,
) -> "dict[str, Confirmed]":
    if not best:
        return {}
    from kiwicha.explore.confirm import confirm
    from kiwicha.explore.points import family_for, memory_for

    say(f"confirming {', '.join(point.config.name for point in best)}")
    configs = [point.config.with_memory(memory_for(board)) for point in best]
    return confirm(models, configs, executor, family_for(board))


def _chosen(best: "Sequence[Point]", objectives: Sequence[str]) -> "tuple[str, Point]":
    """Return one point of a front, and what distinguishes it."""
    objective = "cycles" if "cycles" in objectives else objectives[0]
    what = "the fastest" if objective == "cycles" else f"the least {objective}"
    return what, min(best, key=lambda point: point.value(objective))


def _table(best: "Sequence[Point]", confirmed: "dict[str, Confirmed]", family: "Family") -> "Table":
    from rich.table import Table

    from kiwicha.boards.capacity import BRAM_KBIT, COUNTED

    bram = f"BRAM{BRAM_KBIT[family]}"
    table = Table(title="configurations that no other one beats")
    table.add_column("config")
    titles = ["predicted cycles", "LUTs, estimated", "DSPs, estimated", f"{bram}, estimated"]
    if confirmed:
        titles += ["simulated cycles", "off by", "LUTs", "DSPs", bram]
    for title in titles:
        table.add_column(title, justify="right")
    for point in best:
        measures = point.measures
        cells = [f"{measures.cycles:,}", f"{measures.lut:,g}", f"{measures.dsp:g}"]
        cells.append(f"{measures.bram:g}")
        found = confirmed.get(point.config.name)
        if found is not None:
            cycles = sum(found.cycles)
            counts = found.resources
            cells += [f"{cycles:,}", f"{100 * (measures.cycles / cycles - 1):+.1f} %"]
            cells += [f"{counts[name]:,g}" for name in COUNTED[family]]
        table.add_row(point.config.name, *cells)
    return table


def _csv(points: "Sequence[Point]", best: "Sequence[Point]") -> str:
    names = {point.config.name for point in best}
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow([
        "trial",
        "config",
        "cycles",
        "lut",
        "dsp",
        "bram",
        "is_on_front",
    ])
    for point in points:
        m = point.measures
        on_front = int(point.config.name in names)
        row = [point.number, point.config.name, m.cycles, m.lut, m.dsp, m.bram, on_front]
        writer.writerow(row)
    return out.getvalue()


def _study(
    models: list[str],
    objectives: Sequence[str],
    family: "Family",
    points: "Sequence[Point]",
    best: "Sequence[Point]",
    confirmed: "dict[str, Confirmed]",
    unfit: "Mapping[str, str]",
) -> dict[str, Any]:
    """Return the study in JSON's terms."""
    import dataclasses

    from kiwicha.boards.capacity import BRAM_KBIT
    from kiwicha.commands.made import made

    names = {point.config.name for point in best}
    once = {point.config.name: point for point in points}
    return {
        "models": models,
        "objectives": list(objectives),
        "family": family.value,
        "bram_kbit": BRAM_KBIT[family],
        "made": made(),
        "configurations": [
            {
                "config": name,
                "front": name in names,
                **dataclasses.asdict(point.measures),
                **({"confirmed": dataclasses.asdict(confirmed[name])} if name in confirmed else {}),
            }
            for name, point in once.items()
        ],
        "misfits": dict(unfit),
    }
