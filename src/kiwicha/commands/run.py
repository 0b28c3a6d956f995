"""``kiwicha run``: one model, one input, one configuration."""

import dataclasses
import enum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from kiwicha.commands import completion
from kiwicha.commands.options import ConfigName, DetectBy, Eliminate, ModelName, Optimize
from kiwicha.contract.detect import Detect
from kiwicha.contract.goal import Goal
from kiwicha.contract.serial import SERIAL_BAUD
from kiwicha.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from kiwicha.commands.execution import Workload

__all__ = ["Target", "run"]

_MOST_CYCLES = 2**63 - 1


class Target(enum.StrEnum):
    """What executes the Program."""

    REFERENCE = "reference"
    SIM = "sim"
    BOARD = "board"


def run(
    model: ModelName,
    inputs: Annotated[
        list[Path] | None,
        typer.Option(
            "--input",
            help="Raw tensor bytes, a picture or a recording; once for each input, in their order.",
        ),
    ] = None,
    labels: Annotated[
        Path | None, typer.Option(help="Names of the output's elements, one per line.")
    ] = None,
    output: Annotated[
        Path | None, typer.Option(help="Receives the output tensors, one after the other.")
    ] = None,
    expect: Annotated[
        Path | None, typer.Option(help="Bytes that the output must equal; if not, exit 1.")
    ] = None,
    target: Annotated[
        Target,
        typer.Option(help="numpy in seconds, the simulated system on chip, or a board."),
    ] = Target.SIM,
    config: ConfigName = "simd",
    optimize: Optimize = Goal.CYCLES,
    eliminate: Eliminate = True,
    detect: DetectBy = Detect.HOST,
    board: Annotated[
        str | None,
        typer.Option(
            help="Compile for its memory, and simulate that, by default Arty A7's; with --target "
            "board: the board, loaded with this config.",
            autocompletion=completion.boards,
        ),
    ] = None,
    port: Annotated[str | None, typer.Option(help="With --target board: its serial port.")] = None,
    baud: Annotated[int, typer.Option(min=1200, help="Bits per second of the port.")] = SERIAL_BAUD,
    json: Annotated[str | None, typer.Option(help="Receives the report; - is stdout.")] = None,
    trace: Annotated[
        Path | None,
        typer.Option(help="Receives waveforms (FST); views for GTKWave and Surfer go beside it."),
    ] = None,
    trace_start: Annotated[
        int, typer.Option(min=0, max=_MOST_CYCLES, help="First cycle of the trace.")
    ] = 0,
    check_boot: Annotated[
        bool,
        typer.Option(
            "--check-boot",
            help="Simulates loading, too: the firmware checks the Program and copies the inputs, "
            "as on a board.",
        ),
    ] = False,
    check_jobs: Annotated[
        bool,
        typer.Option(
            "--check-jobs",
            help="Compares what each job and each transfer of the engine writes with the "
            "reference executor, not the output alone.",
        ),
    ] = False,
    max_cycles: Annotated[
        int | None,
        typer.Option(
            min=1,
            max=_MOST_CYCLES,
            help="Stops the simulation after this many cycles.",
        ),
    ] = None,
) -> None:
    """Run a model and print what every layer cost."""
    from kiwicha.commands import console, execution
    from kiwicha.commands.made import made
    from kiwicha.report.tables import layer_table, summary
    from kiwicha.sim.verilator.image_run import DEFAULT_MAX_CYCLES

    has_board = (board is not None, port is not None)
    of_simulation = {
        "--trace": trace is not None,
        "--check-boot": check_boot,
        "--check-jobs": check_jobs,
        "--max-cycles": max_cycles is not None,
    }
    _check_target(target, trace, trace_start, of_simulation=of_simulation, has_board=has_board)
    read = [model, *(inputs or []), labels, expect]
    console.require_writable(output, json, trace, read=read)
    with console.refusals(json):
        workload = execution.prepare(
            model,
            config,
            labels,
            board=board,
            optimize=optimize,
            eliminate=eliminate,
            detect=detect,
        )
    raw = execution.model_inputs(workload, inputs or [])
    expected = None if expect is None else _expected(workload, expect)

    with console.display() as show:
        if target == Target.REFERENCE:
            show.stage(f"executing {workload.model} in the reference executor")
            outcome = execution.run_reference(workload, raw)
        elif target == Target.BOARD and board is not None and port is not None:
            from kiwicha.commands.board_execution import run_connected

            outcome = run_connected(workload, raw, show, board=board, port=port, baud=baud)
        else:
            outcome = execution.run_simulated(
                workload,
                raw,
                show,
                check_boot=check_boot,
                max_cycles=max_cycles or DEFAULT_MAX_CYCLES,
                trace=trace,
                trace_start=trace_start,
                check_jobs=check_jobs,
            )

    _write_views(trace, workload)
    difference = (
        None
        if expected is None
        else execution.first_difference(workload.program.outputs, outcome.output, expected)
    )
    report = outcome.report
    if target == Target.REFERENCE and expected is not None:
        report = dataclasses.replace(report, bit_exact=difference is None)
    if output is not None:
        console.write_file(output, outcome.output)
    if json is not None:
        console.write_json(json, {**report.to_json(), "made": made()})
    if json != console.STDOUT:
        out = console.stdout()
        out.print(layer_table(report))
        out.print(summary(report))
        for line in execution.found_objects(workload, outcome.output):
            out.print(line)
        for line in execution.answer_lines(workload, outcome.output):
            out.print(line)
        for line in execution.checked_jobs(outcome):
            out.print(line)
    differences = [
        *([] if difference is None else [f"{difference} ({expect})"]),
        *execution.differing_jobs(outcome),
    ]
    for text in differences:
        typer.echo(f"kiwicha: {text}", err=True)
    if differences or report.bit_exact is False:
        raise typer.Exit(1)


def _check_target(
    target: Target,
    trace: Path | None,
    trace_start: int,
    *,
    of_simulation: "Mapping[str, bool]",
    has_board: tuple[bool, bool],
) -> None:
    for option, is_given in of_simulation.items():
        if is_given and target != Target.SIM:
            raise UsageError(
                f"{option} must be given with --target sim, not with --target {target}"
            )
    if trace_start and trace is None:
        raise UsageError("--trace-start must be given with --trace")
    # Views of the waveforms stand beside them under the same name.
    if trace is not None and trace.suffix != ".fst":
        raise UsageError(f"trace must end in .fst, not {trace.name!r}")
    is_board = target == Target.BOARD
    if (is_board and not all(has_board)) or (has_board[1] and not is_board):
        raise UsageError("--target board, --board and --port must be given together")


def _write_views(trace: Path | None, workload: "Workload") -> None:
    from kiwicha.sim.profile.wave_views import write_views
    from kiwicha.sim.verilator.simulator import hardware_config

    if trace is not None:
        write_views(trace, hardware_config(workload.config))


def _expected(workload: "Workload", path: Path) -> bytes:
    from kiwicha.commands import console

    expected = console.read_file(path, "expected output")
    size = sum(tensor.ref.bytes for tensor in workload.program.outputs)
    if len(expected) != size:
        raise UsageError(f"expected output must have {size} bytes, not {len(expected)} ({path})")
    return expected
