"""``kiwicha demo``: the bundled model on a bundled picture."""

from typing import Annotated

import typer

__all__ = ["demo"]


def demo(
    with_baseline: Annotated[
        bool,
        typer.Option("--with-baseline", help="Simulate the CPU alone too; takes minutes."),
    ] = False,
) -> None:
    """Run the bundled model on the simulated system on chip."""
    from kiwicha.commands import console, execution
    from kiwicha.report.tables import layer_table, summary
    from kiwicha.zoo import models as zoo

    picture = zoo.demo_pictures()[0]
    names = ["simd", *(["baseline"] if with_baseline else [])]
    workloads = [execution.prepare(zoo.DEMO, name) for name in names]
    with console.display() as show:
        outcomes = [
            execution.run_simulated(
                workload, execution.model_inputs(workload, [picture.path]), show
            )
            for workload in workloads
        ]
    reports = [outcome.report for outcome in outcomes]
    out = console.stdout()
    out.print(layer_table(*reports))
    for report in reports:
        out.print(summary(report))
    if with_baseline:
        first, last = (report.cycles or 0 for report in reports)
        out.print(f"speed-up over the baseline: {last / max(1, first):.1f}x")
    words, *_ = execution.answers(workloads[0], outcomes[0].output) or [None]
    out.print(f"answer: {picture.path.name} shows: {words}")
    if not all(report.bit_exact for report in reports):
        raise typer.Exit(1)
