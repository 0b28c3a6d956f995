"""``kiwicha demo``: the bundled model on a bundled picture."""

from typing import TYPE_CHECKING, Annotated

import typer

from kiwicha.commands import completion
from kiwicha.commands.options import ConfigName
from kiwicha.errors import UsageError

if TYPE_CHECKING:
    from kiwicha.report.tables import Beside

__all__ = ["demo"]


def demo(
    config: ConfigName = "64",
    others: Annotated[
        str | None,
        typer.Option(
            "--with",
            metavar="C,C,...",
            help="Configurations to simulate too and show beside it, instead of what was recorded "
            "of simd and baseline; those take a minute.",
            autocompletion=completion.configs,
        ),
    ] = None,
) -> None:
    """Run the bundled model on the simulated system on chip, with what others take beside it."""
    from kiwicha.commands import console, execution
    from kiwicha.report.tables import Beside, layer_table, summary
    from kiwicha.zoo import models as zoo

    picture = zoo.demo_pictures()[0]
    names = [config, *(name.strip() for name in (others or "").split(",") if name.strip())]
    if len(set(names)) < len(names):
        raise UsageError(
            f"--with must name other configurations than {names[0]}, each of them once"
        )
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
    beside, lines = _recorded(config)
    if others:
        beside, lines = [Beside.of(report) for report in reports[1:]], []
    out.print(layer_table(reports[0], beside))
    for report in reports:
        out.print(summary(report))
    for line in lines:
        out.print(line)
    for words in execution.answers(workloads[0], outcomes[0].output)[:1]:
        out.print(f"answer: {picture.path.name} shows: {words}")
    if not all(report.bit_exact for report in reports):
        raise typer.Exit(1)


def _recorded(config: str) -> "tuple[list[Beside], list[str]]":
    """Return what was measured before on other configurations, and lines that say so."""
    from kiwicha.report.recorded import recorded_demo

    runs = {name: run for name, run in recorded_demo().items() if name != config}
    lines = [
        f"{name}: {run.beside.cycles:,} cycles, recorded ({run.digest})"
        for name, run in runs.items()
    ]
    if runs:
        lines.append(f"kiwicha demo --with {','.join(runs)} simulates these, too")
    return [run.beside for run in runs.values()], lines
