"""``kiwicha bench``: cycles of several models on several configurations."""

import dataclasses
import enum
import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from kiwicha.commands import completion
from kiwicha.commands.options import BoardName, ConfigNames, Eliminate, Optimize
from kiwicha.contract.goal import Goal
from kiwicha.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from rich.table import Table

    from kiwicha.commands.execution import Outcome, Workload
    from kiwicha.commands.kept_runs import MeasuredRun
    from kiwicha.vela import Estimate

__all__ = ["DEFAULT_MODELS", "Peer", "bench"]

DEFAULT_MODELS = ("person_detect", "kws", "vww", "resnet8", "ad")
"""Measured by default, besides the bundled model, if they are on this machine."""


class Peer(enum.StrEnum):
    """Whose estimates can stand beside our measurements."""

    VELA = "vela"


def bench(
    models: Annotated[
        list[str] | None,
        typer.Argument(
            help="Models; by default the bundled one and the zoo models found here.",
            autocompletion=completion.models,
        ),
    ] = None,
    config: ConfigNames = "simd",
    board: BoardName = None,
    optimize: Optimize = Goal.CYCLES,
    eliminate: Eliminate = True,
    stream: Annotated[
        bool,
        typer.Option(
            "--stream",
            help="Measures streams of inputs, too: the cycles from one inference to the next.",
        ),
    ] = False,
    json: Annotated[
        str | None, typer.Option(help="Receives the reports, as a list; - is stdout.")
    ] = None,
    resume: Annotated[
        bool,
        typer.Option(
            "--resume",
            help="Keeps runs that the --json file has of the same hardware, firmware and Program.",
        ),
    ] = False,
    compare: Annotated[
        Peer | None, typer.Option(help="Adds Arm's estimates for the same number of multipliers.")
    ] = None,
) -> None:
    """Measure models on the simulated system, on random inputs."""
    from kiwicha.commands import console, execution, streams
    from kiwicha.commands.kept_runs import MeasuredRun, kept_runs
    from kiwicha.commands.made import made
    from kiwicha.report.tables import bench_table, counter_table, summary
    from kiwicha.sim.verilator.fingerprint import run_fingerprint
    from kiwicha.zoo import models as zoo

    console.require_writable(json, read=models or [])
    if resume and json in {None, console.STDOUT}:
        raise UsageError("--resume must come with --json FILE, which has the runs to keep")
    if not models:
        found = [name for name in DEFAULT_MODELS if zoo.locate(zoo.find(name)).path]
        models = [zoo.DEMO, *found]
    # All of them before the first simulation: an error must not cost minutes.
    with console.refusals(json):
        workloads = [
            execution.prepare(
                model, name.strip(), board=board, optimize=optimize, eliminate=eliminate
            )
            for model in models
            for name in config.split(",")
        ]
    peers = [_estimate(workload) if compare is Peer.VELA else None for workload in workloads]
    done = kept_runs(Path(json), workloads, stream=stream) if resume and json is not None else {}
    with console.display() as show:
        for number, workload in enumerate(workloads):
            if number in done:
                show.line(f"{summary(done[number].outcome.report)}, kept")
                continue
            start = time.monotonic()
            outcome = execution.run_simulated(workload, execution.random_inputs(workload), show)
            if stream and workload.config.engine_macs:
                report = streams.with_period(workload, outcome, show)
                outcome = dataclasses.replace(outcome, report=report)
            seconds = round(time.monotonic() - start)
            show.line(summary(outcome.report))
            inputs = {}
            if json is not None:
                show.stage(f"hashing what {workload.model} ran on")
                inputs = run_fingerprint(workload.program)
            done[number] = MeasuredRun(outcome, inputs, seconds, made())
            if json not in {None, console.STDOUT}:
                # What is done is not lost if a later run fails.
                console.write_json(json, _entries(done, peers, eliminate=eliminate))
    if json is not None:
        console.write_json(json, _entries(done, peers, eliminate=eliminate))
    outcomes = [done[number].outcome for number in range(len(workloads))]
    if json != console.STDOUT:
        rows = [(outcome.report, outcome.simulation_hz) for outcome in outcomes]
        console.stdout().print(bench_table(rows))
        if any(outcome.report.counters for outcome in outcomes):
            console.stdout().print(counter_table(outcome.report for outcome in outcomes))
        if compare is not None:
            console.stdout().print(_peer_table(outcomes, peers))
    if not all(outcome.report.bit_exact for outcome in outcomes):
        raise typer.Exit(1)


def _estimate(workload: "Workload") -> "Estimate | None":
    from kiwicha import vela

    name = vela.accelerator(workload.config)
    return None if name is None else vela.estimate(workload.path, name)


def _entries(
    done: "Mapping[int, MeasuredRun]", peers: "Sequence[Estimate | None]", *, eliminate: bool
) -> list[dict[str, Any]]:
    """Return the JSON objects of runs, in the order of their numbers."""
    entries = []
    for number, run in sorted(done.items()):
        peer = peers[number]
        entries.append({
            **run.outcome.report.to_json(),
            "simulation_hz": round(run.outcome.simulation_hz),
            "inputs": run.inputs,
            "seconds": run.seconds,
            **({"made": run.made} if run.made else {}),
            **({} if eliminate else {"eliminate": False}),
            **({"vela": dataclasses.asdict(peer)} if peer else {}),
        })
    return entries


def _peer_table(outcomes: "Sequence[Outcome]", peers: "Sequence[Estimate | None]") -> "Table":
    from rich.table import Table

    table = Table(title="measured here, and estimated by Vela for Arm's Ethos-U55")
    for title in ("model", "config", "cycles", "accelerator", "estimate", "ratio"):
        table.add_column(title, justify="left" if title in {"model", "config"} else "right")
    for outcome, peer in zip(outcomes, peers, strict=True):
        report = outcome.report
        cells: list[Any] = ["-", "-", "-"]
        if peer is not None and report.cycles:
            cells = [peer.accelerator, f"{peer.cycles:,}", f"{peer.cycles / report.cycles:.2f}"]
        cycles = "-" if report.cycles is None else f"{report.cycles:,}"
        table.add_row(report.model, report.config, cycles, *cells)
    return table
