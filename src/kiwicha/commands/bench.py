"""``kiwicha bench``: cycles of several models on several configurations."""

from typing import Annotated

import typer

__all__ = ["DEFAULT_MODELS", "bench"]

DEFAULT_MODELS = ("person_detect", "kws", "vww", "resnet8", "ad")
"""Measured when none is named, as far as they are on this machine; the bundled model always is."""


def bench(
    models: Annotated[
        list[str] | None,
        typer.Argument(help="Models; by default the bundled one and those of the zoo found here."),
    ] = None,
    config: Annotated[
        str, typer.Option(metavar="C,C,...", help="Configurations, comma separated.")
    ] = "simd",
    json: Annotated[
        str | None, typer.Option(help="Receives the reports, as a list; - is stdout.")
    ] = None,
) -> None:
    """Measure models on the simulated system, on random inputs."""
    from kiwicha import zoo
    from kiwicha.commands import console, execution
    from kiwicha.report import bench_table, counter_table, summary

    console.require_writable(json)
    if not models:
        found = [name for name in DEFAULT_MODELS if zoo.locate(zoo.find(name)).path]
        models = [zoo.DEMO, *found]
    # All of them before the first simulation: an error must not cost minutes.
    jobs = [
        execution.prepare(model, name.strip()) for model in models for name in config.split(",")
    ]
    outcomes = []
    with console.display() as show:
        for job in jobs:
            outcome = execution.run_simulated(job, execution.random_inputs(job), show)
            show.line(summary(outcome.report))
            outcomes.append(outcome)
    if json is not None:
        entries = [
            {**outcome.report.to_json(), "simulation_hz": round(outcome.simulation_hz)}
            for outcome in outcomes
        ]
        console.write_json(json, entries)
    if json != console.STDOUT:
        rows = [(outcome.report, outcome.simulation_hz) for outcome in outcomes]
        console.stdout().print(bench_table(rows))
        if any(outcome.report.counters for outcome in outcomes):
            console.stdout().print(counter_table(outcome.report for outcome in outcomes))
    if not all(outcome.report.bit_exact for outcome in outcomes):
        raise typer.Exit(1)
