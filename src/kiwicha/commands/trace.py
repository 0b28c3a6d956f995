"""``kiwicha trace``: a simulation as a timeline."""

import gzip
import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from kiwicha.commands.options import BoardName, ConfigName, ModelName
from kiwicha.errors import UsageError

if TYPE_CHECKING:
    from kiwicha.sim.profile.timeline import Slice

__all__ = ["trace"]

_COLOURS = 6


def trace(
    model: ModelName,
    output: Annotated[
        Path,
        typer.Option(
            "-o", "--output", metavar="FILE", help="Receives the trace; compressed if it ends so."
        ),
    ] = Path("trace.json.gz"),
    inputs: Annotated[
        list[Path] | None,
        typer.Option(
            "--input", help="As for kiwicha run; by default random bytes, always the same."
        ),
    ] = None,
    config: ConfigName = "64",
    board: BoardName = None,
    picture: Annotated[
        Path | None, typer.Option(help="Receives the last inference as a picture, .svg or .png.")
    ] = None,
) -> None:
    """Simulate a model and write what CPU, engine and memory port did, for Perfetto's viewer."""
    from kiwicha.commands import console, execution
    from kiwicha.sim.profile.timeline import first_cycle, timeline, trace_events

    console.require_writable(output, picture, read=[model, *(inputs or [])])
    if output.suffix not in {".gz", ".json"}:
        raise UsageError(f"output must end in .json or .json.gz, not {output.name!r}")
    if picture is not None and picture.suffix not in {".svg", ".png"}:
        raise UsageError(f"picture must end in .svg or .png, not {picture.name!r}")
    workload = execution.prepare(model, config, board=board)
    raw = execution.model_inputs(workload, inputs) if inputs else execution.random_inputs(workload)
    with console.display() as show:
        outcome = execution.run_simulated(workload, raw, show)
    result = outcome.result
    assert result is not None
    found = result.activity, workload.program, result.step_cycles
    inferences = timeline(*found)
    events = trace_events(inferences, f"{workload.model} on {workload.config.name}")
    text = json.dumps(events, separators=(",", ":")).encode()
    # Without a time in it, equal runs give equal files.
    console.write_file(output, gzip.compress(text, mtime=0) if output.suffix == ".gz" else text)
    if picture is not None:
        console.write_file(picture, _picture(inferences[-1], picture.suffix == ".svg"))
    typer.echo(f"{output}: {sum(map(len, inferences))} events; open it in ui.perfetto.dev")
    start = first_cycle(*found)
    typer.echo(f"the timeline begins at cycle {start} of the simulation (for --trace-start)")


def _picture(slices: "list[Slice]", is_vector: bool) -> bytes:
    from kiwicha.html_report import charts, library
    from kiwicha.sim.profile.timeline import Track

    names = list(dict.fromkeys(item.name for item in slices))
    origin = min(item.start for item in slices)
    rows: list[dict[str, Any]] = [
        {
            "track": item.track.value,
            "name": item.name,
            "start": item.start - origin,
            "end": item.end - origin,
            "colour": str(names.index(item.name) % _COLOURS),
        }
        for item in slices
    ]
    chart = charts.timeline([track.value for track in Track], rows)
    return library.picture(chart, is_vector=is_vector)
