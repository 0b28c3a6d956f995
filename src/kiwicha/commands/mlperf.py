"""``kiwicha mlperf``: the benchmarks of MLPerf Tiny."""

import time
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from kiwicha.commands import completion
from kiwicha.commands.mlperf_stream import stream_benchmark
from kiwicha.commands.options import BoardName, ConfigName, ConfigNames
from kiwicha.errors import UsageError

if TYPE_CHECKING:
    from rich.table import Table

    from kiwicha.commands.execution import Outcome
    from kiwicha.mlperf.benchmarks import Benchmark

__all__ = ["app"]

app = typer.Typer(
    help="MLPerf Tiny: measure its benchmarks beside published results; be its device under test.",
    no_args_is_help=True,
)


app.command("stream")(stream_benchmark)


@app.command("run")
def run_benchmarks(
    names: Annotated[
        list[str] | None,
        typer.Argument(metavar="[BENCHMARK]...", help="vww, kws, ic, ad, sww; by default all."),
    ] = None,
    config: ConfigNames = "64",
    board: BoardName = None,
    data: Annotated[
        Path | None,
        typer.Option(
            metavar="DIR",
            help="Labelled data: for vww, kws, ic and sww a folder or an .npz file of that name, "
            "as kiwicha evaluate takes it, adds the accuracy; one of ad the area under the curve.",
        ),
    ] = None,
    with_energy: Annotated[
        bool,
        typer.Option(
            "--energy",
            help="Counts toggles, too, and estimates the CFU's dynamic energy, as kiwicha energy.",
        ),
    ] = False,
    json: Annotated[str | None, typer.Option(help="Receives the results; - is stdout.")] = None,
) -> None:
    """Simulate the benchmarks and show their latency beside what others published."""
    from kiwicha.commands import console, energy, execution
    from kiwicha.commands.made import made
    from kiwicha.mlperf.benchmarks import BENCHMARKS, find_benchmark
    from kiwicha.mlperf.published import published
    from kiwicha.mlperf.quality import Quality, qualities
    from kiwicha.sim.verilator.fingerprint import run_fingerprint

    console.require_writable(json, read=[data])
    chosen = [find_benchmark(name) for name in names] if names else list(BENCHMARKS)
    configs = [name.strip() for name in config.split(",")]
    # All of them before the first simulation: an error must not cost minutes.
    workloads = [
        (benchmark, execution.prepare(benchmark.model, name, board=board))
        for benchmark in chosen
        for name in configs
    ]
    counted = workloads if with_energy else []
    for _, workload in counted:
        energy.require_cfu(workload)
    found: dict[tuple[str, str], Outcome] = {}
    inputs: dict[tuple[str, str], Mapping[str, str]] = {}
    began = time.monotonic()
    scores: dict[str, Quality] = {}
    with console.display() as show:
        if data is not None:
            scores = qualities(chosen, data, show.count)
        for benchmark, workload in workloads:
            key = benchmark.name, workload.config.name
            outcome = execution.run_simulated(workload, execution.random_inputs(workload), show)
            found[key] = outcome
            if json is not None:
                show.stage(f"hashing what {benchmark.name} ran on")
            inputs[key] = run_fingerprint(workload.program) if json is not None else {}
            show.line(
                f"{benchmark.name}: {_milliseconds(outcome):,.3f} ms on {workload.config.name}"
            )
        energies = {
            (benchmark.name, workload.config.name): energy.estimate(workload, show)
            for benchmark, workload in counted
        }
    others = published()
    results = [
        {
            "benchmark": benchmark.name,
            "model": benchmark.model,
            "config": workload.config.name,
            "clock_hz": workload.config.memory.clock_hz,
            "cycles": outcome.report.cycles,
            "milliseconds": _milliseconds(outcome),
            "bit_exact": outcome.report.bit_exact,
            "inputs": inputs[benchmark.name, workload.config.name],
            **energies.get((benchmark.name, workload.config.name), {}),
            **{one.measure: one.value for name, one in scores.items() if name == benchmark.name},
        }
        for benchmark, workload in workloads
        for outcome in [found[benchmark.name, workload.config.name]]
    ]
    if json is not None:
        sources = [
            {"round": one.name, "division": one.division, "source": one.source} for one in others
        ]
        seconds = round(time.monotonic() - began)
        console.write_json(
            json,
            {"results": results, "published": sources, "seconds": seconds, "made": made()},
        )
    if json != console.STDOUT:
        out = console.stdout()
        out.print(_table(chosen, configs, results))
        out.print("simulated, one inference at the board's clock; others: medians of MLPerf Tiny")
        for one in others:
            out.print(f"{one.name}: {one.division} division ({one.source})")
        for score in scores.values():
            out.print(score.text)
        for (name, on), estimate in energies.items():
            microjoules = estimate["energy"]["estimated_dynamic_microjoules"]
            out.print(f"{name} on {on}: about {microjoules:,.1f} uJ, {energy.note()}")
    if not all(outcome.report.bit_exact for outcome in found.values()):
        raise typer.Exit(1)


def _milliseconds(outcome: "Outcome") -> float:
    report = outcome.report
    return 1e3 * (report.cycles or 0) / report.clock_hz


def _table(
    benchmarks: "list[Benchmark]", configs: list[str], results: list[dict[str, Any]]
) -> "Table":
    from rich.table import Table

    from kiwicha.mlperf.published import published

    table = Table(title="MLPerf Tiny: milliseconds of an inference")
    table.add_column("system")
    table.add_column("clock")
    for benchmark in benchmarks:
        table.add_column(benchmark.name, justify="right")
    for config in configs:
        own = {one["benchmark"]: one for one in results if one["config"] == config}
        clock = next(iter(own.values()))["clock_hz"]
        cells = [f"{own[benchmark.name]['milliseconds']:,.3f}" for benchmark in benchmarks]
        table.add_row(f"kiwicha {config}", f"{clock / 1e6:g} MHz", *cells)
    for others in published():
        table.add_section()
        for system in others.systems:
            times = [system.milliseconds(benchmark.name) for benchmark in benchmarks]
            if any(time is not None for time in times):
                cells = ["-" if time is None else f"{time:,.3f}" for time in times]
                name = f"{others.name} {system.submitter} {system.system}"
                table.add_row(name, system.clock, *cells)
    return table


@app.command("serve")
def serve_benchmark(
    name: Annotated[str, typer.Argument(metavar="BENCHMARK", help="vww, kws, ic, ad or sww.")],
    config: ConfigName = "64",
    listen: Annotated[
        str | None,
        typer.Option(
            help="The serial port that the runner is at; by default a new pseudo-terminal."
        ),
    ] = None,
    baud: Annotated[int, typer.Option(min=1200, help="Bits per second of that port.")] = 115_200,
    board: Annotated[
        str | None,
        typer.Option(
            help="Execute on this board instead of in the simulation.",
            autocompletion=completion.boards,
        ),
    ] = None,
    port: Annotated[str | None, typer.Option(help="The board's serial port.")] = None,
) -> None:
    """Be the device under test of MLPerf Tiny's runner, until Ctrl-C."""
    from kiwicha.commands import console, execution
    from kiwicha.mlperf.benchmarks import find_benchmark
    from kiwicha.mlperf.device import Device, Inference
    from kiwicha.mlperf.line import opened_line, serve

    if (board is None) != (port is None):
        raise UsageError("--board and --port must be given together")
    benchmark = find_benchmark(name)
    workload = execution.prepare(benchmark.model, config, board=board)
    with console.display() as show:

        def infer(raw: bytes) -> Inference:
            if board is None or port is None:
                outcome = execution.run_simulated(workload, [raw], show)
            else:
                from kiwicha.commands.board_execution import run_connected
                from kiwicha.contract.serial import SERIAL_BAUD

                outcome = run_connected(
                    workload, [raw], show, board=board, port=port, baud=SERIAL_BAUD
                )
            if not outcome.report.bit_exact:
                show.line("the output is NOT that of the reference executor")
            size = workload.program.outputs[0].ref.bytes
            return Inference(outcome.output[:size], 1e3 * _milliseconds(outcome))

        tensors = workload.program.inputs[0], workload.program.outputs[0]
        with opened_line(listen, baud) as (line, place):
            show.line(f"{benchmark.title} on {workload.config.name}: the runner's port is {place}")
            serve(Device(benchmark, tensors, infer), line)
