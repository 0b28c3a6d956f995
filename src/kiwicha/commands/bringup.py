"""``kiwicha bringup``: the custom function unit on a board, without CPU, memory and firmware."""

import enum
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from kiwicha.contract.serial import SERIAL_BAUD
from kiwicha.errors import UsageError

if TYPE_CHECKING:
    from kiwicha.boards.board import Board
    from kiwicha.boards.bringup.replay import Outcome
    from kiwicha.boards.link.serial_link import Link
    from kiwicha.commands.console import Display
    from kiwicha.contract.configs import Config

__all__ = ["bringup"]

_CONFIG = "simd"
_SIMULATION_TRIES = 20
_SIMULATION_SECONDS = 5.0
"""A simulated board takes its time."""


class Target(enum.StrEnum):
    """What replays the vectors."""

    BOARD = "board"
    SIM = "sim"


def bringup(
    board: Annotated[str, typer.Argument(help="arty_a7_35 or ulx3s_85f.")],
    build: Annotated[bool, typer.Option("--build", help="Make the bitstream.")] = False,
    compiles: Annotated[
        bool, typer.Option("--compile/--no-compile", help="With --build: also make the bitstream.")
    ] = True,
    toolchain: Annotated[
        str | None, typer.Option(help="With --build: vivado or openxc7; trellis on ECP5.")
    ] = None,
    output: Annotated[
        Path | None, typer.Option(help="With --build: folder; build/BOARD-bringup by default.")
    ] = None,
    target: Annotated[
        Target | None, typer.Option(help="Replay vectors on the board or the simulated design.")
    ] = None,
    port: Annotated[
        str | None, typer.Option(help="Serial port of the board, /dev/ttyUSB1 for instance.")
    ] = None,
    baud: Annotated[int, typer.Option(help="Bits per second of the line.", min=1)] = SERIAL_BAUD,
    vectors: Annotated[int, typer.Option(help="Random vectors, of 1500 instructions.", min=0)] = 20,
    seed: Annotated[int, typer.Option(help="Of the first random vector.", min=0)] = 0,
    json: Annotated[str | None, typer.Option(help="Receives the report; - is stdout.")] = None,
) -> None:
    """Test a board with the custom function unit alone: build it, or replay the benches' vectors.

    What fails here is a fault of the board, its clock or the bitstream, not of software.
    """
    from kiwicha.boards.board import load
    from kiwicha.boards.bringup.board import load_pins
    from kiwicha.commands import console
    from kiwicha.contract.configs import find_config
    from kiwicha.gateware.bringup.bring_up import check_parameters

    load_pins(board)
    replays_on = target or (Target.BOARD if port else None)
    if not build and replays_on is None:
        raise UsageError("bringup must be given --build, --port or --target sim")
    if (replays_on is Target.BOARD) != (port is not None):
        raise UsageError("--target board and --port must be given together")
    of_build = {
        "--output": output is not None,
        "--toolchain": toolchain is not None,
        "--no-compile": not compiles,
    }
    for option, is_given in of_build.items():
        if is_given and not build:
            raise UsageError(f"{option} must be given with --build")
    console.require_writable(json)
    design, config = load(board), find_config(_CONFIG)
    try:
        check_parameters(config, design.sys_clk_hz, baud)
    except ValueError as error:
        raise UsageError(str(error)) from error
    report: dict[str, Any] = {"board": board, "config": config.name}
    is_good = True
    if build:
        folder = output or Path("build") / f"{board}-bringup"
        is_good = _build(design, config, folder, toolchain, baud, compiles, report, json)
    if replays_on is not None:
        is_good &= _replay(design, config, port, baud, vectors, seed, report, json)
    if json is not None:
        console.write_json(json, report)
    if not is_good:
        raise typer.Exit(1)


def _build(
    board: "Board",
    config: "Config",
    folder: Path,
    toolchain: str | None,
    baud: int,
    compiles: bool,
    report: dict[str, Any],
    json: str | None,
) -> bool:
    """Build the design, add to the report, and return whether it fits and is fast enough."""
    from kiwicha.boards.bringup.fingerprint import bring_up_fingerprint
    from kiwicha.boards.bringup.top import SOURCE, bring_up_files
    from kiwicha.boards.flow.build import build_files, require_tools
    from kiwicha.commands import build, console

    build.require_folder(folder)
    chosen, _ = require_tools(board, toolchain, compiles=compiles)
    with console.display() as show:
        show.stage("generating the design")
        design = bring_up_files(board, config, baud)
        made = build_files(
            board,
            config,
            design,
            (SOURCE,),
            inputs=bring_up_fingerprint(board, config, design, baud=baud),
            toolchain=chosen,
            sys_clk_hz=board.sys_clk_hz,
            compiles=compiles,
            on_build=show.stage,
        )
    build.write_files(made, folder)
    report["build"] = made.to_json()
    if json != console.STDOUT:
        build.show_report(made, folder)
    return build.is_good(made)


@contextmanager
def _line(
    board: "Board", config: "Config", port: str | None, baud: int, show: "Display"
) -> Iterator["Link"]:
    """Join the board's line, or that of the simulated design."""
    from kiwicha.boards.link.port import open_port
    from kiwicha.boards.link.serial_link import Link

    if port is not None:
        yield Link(open_port(port, baud))
        return
    from kiwicha.sim.verilator.bring_up_simulator import SimulatedBoard, build_bring_up_simulator

    simulator = build_bring_up_simulator(
        config,
        board.sys_clk_hz,
        baud,
        on_build=lambda: show.stage("compiling the simulator"),
    )
    with SimulatedBoard(simulator, board.sys_clk_hz, baud) as simulated:
        yield Link(simulated, tries=_SIMULATION_TRIES, seconds_per_try=_SIMULATION_SECONDS)


def _replay(
    board: "Board",
    config: "Config",
    port: str | None,
    baud: int,
    count: int,
    seed: int,
    report: dict[str, Any],
    json: str | None,
) -> bool:
    """Replay vectors, add to the report, and return whether every answer was right."""
    from kiwicha.boards.bringup.replay import check_design, replay
    from kiwicha.commands import console
    from kiwicha.sim.reference.cfu_vectors import vectors

    wanted = list(vectors(config, count=count, seed=seed))
    executed = 0
    with console.display() as show, _line(board, config, port, baud, show) as link:
        check_design(link, config, board.sys_clk_hz)
        total = sum(len(vector.instructions) for vector in wanted)
        progress = show.count(f"replaying {len(wanted)} vectors, {total:,} instructions", total)

        def on_vector(outcome: "Outcome") -> None:
            nonlocal executed
            executed += outcome.count
            progress(executed)

        start = time.monotonic()
        outcomes = replay(link, config, wanted, on_vector=on_vector)
        seconds = time.monotonic() - start
    differences = [outcome.difference for outcome in outcomes if outcome.difference]
    report["replay"] = {
        "target": Target.SIM if port is None else Target.BOARD,
        "sys_clk_hz": board.sys_clk_hz,
        "baud": baud,
        "seed": seed,
        "vectors": len(outcomes),
        "instructions": executed,
        "seconds": round(seconds, 2),
        "differences": [difference.to_json() for difference in differences],
    }
    if json != console.STDOUT:
        out = console.stdout()
        for difference in differences:
            out.print(f"different: {difference}", markup=False)
        failed = f"{len(differences)} of {len(outcomes)} vectors differ"
        passed = f"{len(outcomes)} vectors passed"
        if port is not None:
            passed += (
                ": FPGA, clock, serial line and instruction tier work. If a Program"
                " fails on this board, the cause is DRAM, engine, CPU or software."
            )
        out.print(failed if differences else passed)
        out.print(f"{executed:,} instructions in {seconds:.1f} s", markup=False)
    return not differences
