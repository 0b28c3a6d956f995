"""``kiwicha energy``: the dynamic energy of an inference, estimated."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from kiwicha.commands.options import BuildConfig, ModelName
from kiwicha.errors import UsageError

if TYPE_CHECKING:
    from kiwicha.commands.console import Display
    from kiwicha.commands.execution import Workload
    from kiwicha.sim.profile.energy import Event, Figure, Part
    from kiwicha.sim.profile.toggles import Toggles

__all__ = ["energy", "estimate", "note", "require_cfu"]

_Energies = Annotated[
    list[str] | None,
    typer.Option(
        "--per",
        metavar="EVENT=PICOJOULES",
        help="The energy of an event of your chip; events: clock, flip-flop, logic, product, "
        "memory. May stand several times.",
    ),
]


def energy(
    model: ModelName,
    inputs: Annotated[
        list[Path] | None,
        typer.Option(
            "--input", help="As for kiwicha run; by default random bytes, always the same."
        ),
    ] = None,
    config: BuildConfig = "64",
    per: _Energies = None,
    saif: Annotated[
        Path | None,
        typer.Option(
            help="Receives the toggles of each net, in the Switching Activity Interchange Format."
        ),
    ] = None,
    json: Annotated[str | None, typer.Option(help="Receives all of it; - is stdout.")] = None,
) -> None:
    """Count the toggles of an inference on the simulated CFU, and estimate its dynamic energy."""
    from rich.table import Table

    from kiwicha.commands import console, execution
    from kiwicha.sim.profile.energy import with_figures

    console.require_writable(saif, json, read=[model, *(inputs or [])])
    figures = with_figures(per or [])
    workload = execution.prepare(model, config)
    require_cfu(workload)
    raw = execution.model_inputs(workload, inputs) if inputs else execution.random_inputs(workload)
    with console.display() as show:
        toggles, parts = _estimated(workload, raw, show, figures, saif=saif)
    if json is not None:
        console.write_json(
            json, {"model": model, "config": config, **_outcome(toggles, parts, figures)}
        )
    if json != console.STDOUT:
        table = Table(
            title=f"{workload.model} on {config}: an inference, {toggles.cycles:,} cycles"
        )
        table.add_column("event")
        for name in ("count", "each cycle", "pJ each", "uJ"):
            table.add_column(name, justify="right")
        for part in parts:
            table.add_row(
                part.event.value,
                f"{part.count:,}",
                f"{part.count / toggles.cycles:,.0f}",
                f"{part.picojoules:.3g}",
                f"{part.microjoules:,.2f}",
            )
        table.add_section()
        table.add_row("all", "", "", "", f"{_total(parts):,.1f}")
        out = console.stdout()
        out.print(table)
        for event, figure in figures.items():
            out.print(f"{event}: {figure.text}")
        out.print(note())


def note() -> str:
    """Return what the number is, and what it is not."""
    from kiwicha.sim.profile.energy import LEFT_OUT, UNCERTAINTY

    return (
        "an estimate of the dynamic energy of the CFU's core, perhaps "
        f"{UNCERTAINTY} times too high or too low; without {LEFT_OUT}"
    )


def require_cfu(workload: "Workload") -> None:
    """Refuse a configuration without a CFU.

    Parameters
    ----------
    workload : Workload
        What would run.

    Raises
    ------
    UsageError
        If it has none.
    """
    from kiwicha.contract.configs import CONFIGS, ENGINE_CONFIGS

    if not workload.config.has_simd:
        known = (CONFIGS | ENGINE_CONFIGS).values()
        names = " or ".join(one.name for one in known if one.has_simd)
        raise UsageError(f"config must be one with a CFU ({names}), not {workload.config.name!r}")


def estimate(workload: "Workload", show: "Display") -> dict[str, Any]:
    """Return what a file of results has more: ``energy``, with random bytes as inputs.

    Parameters
    ----------
    workload : Workload
        What runs.
    show : Display
        Shows the progress.
    """
    from kiwicha.commands import execution
    from kiwicha.sim.profile.energy import FIGURES

    found = _estimated(workload, execution.random_inputs(workload), show, FIGURES)
    return {"energy": _outcome(*found, FIGURES)}


def _estimated(
    workload: "Workload",
    inputs: Sequence[bytes],
    show: "Display",
    figures: "Mapping[Event, Figure]",
    *,
    saif: Path | None = None,
) -> "tuple[Toggles, tuple[Part, ...]]":
    """Return the toggles of the last inference and the parts of its energy."""
    from kiwicha.sim.profile import toggles
    from kiwicha.sim.profile.energy import energy_parts

    weights = [1 + workload.program.layers[step.layer].macs for step in workload.program.steps]
    found = toggles.count_toggles(
        workload.program,
        inputs,
        inferences=workload.inferences,
        saif=saif,
        on_progress=show.steps(
            f"counting toggles of {workload.model}", weights * workload.inferences
        ),
        on_build=show.stage,
    )
    return found, energy_parts(found, figures)


def _outcome(
    toggles: "Toggles", parts: "Sequence[Part]", figures: "Mapping[Event, Figure]"
) -> dict[str, Any]:
    return {
        "estimated_dynamic_microjoules": _total(parts),
        "note": note(),
        "cycles": toggles.cycles,
        "driven_bits": {kind.value: count for kind, count in toggles.bits.items()},
        "events": {
            part.event.value: {
                "count": part.count,
                "picojoules": part.picojoules,
                "source": figures[part.event].text,
            }
            for part in parts
        },
    }


def _total(parts: "Sequence[Part]") -> float:
    return sum(part.microjoules for part in parts)
