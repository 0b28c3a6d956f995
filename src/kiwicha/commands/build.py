"""``kiwicha build``: a board's bitstream, and what it takes of the FPGA."""

from collections.abc import Collection
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from kiwicha.commands.options import BuildConfig, BuiltBoard
from kiwicha.errors import UsageError, reason

if TYPE_CHECKING:
    from kiwicha.boards.flow.report import BuildReport

__all__ = ["build", "build_name", "is_good", "require_folder", "show_report", "write_files"]

_PATH_STEPS = 12
"""Steps of the critical path that are shown: the slowest, in their order."""


def build(
    board: BuiltBoard,
    config: BuildConfig = "64",
    toolchain: Annotated[
        str | None, typer.Option(help="vivado or openxc7; trellis on ECP5.")
    ] = None,
    clock: Annotated[
        float | None, typer.Option(help="Frequency of the system in MHz.", min=10, max=200)
    ] = None,
    speed_grade: Annotated[
        int | None, typer.Option(help="On ECP5, another speed grade than the board's: 6, 7 or 8.")
    ] = None,
    seeds: Annotated[
        int | None,
        typer.Option(help="On ECP5, seeds of the placer to try until the clock is met.", min=1),
    ] = None,
    with_flash: Annotated[
        bool,
        typer.Option(
            "--with-flash", help="The loader reads flash memory: see kiwicha load --flash."
        ),
    ] = False,
    with_sdcard: Annotated[
        bool,
        typer.Option(
            "--with-sdcard", help="The loader reads an SD card: see kiwicha load --sdcard."
        ),
    ] = False,
    with_camera: Annotated[
        bool,
        typer.Option("--with-camera", help="Frames of a camera module go to DRAM: see the guide."),
    ] = False,
    with_microphone: Annotated[
        bool,
        typer.Option("--with-microphone", help="Samples of an I2S microphone go to DRAM."),
    ] = False,
    compiles: Annotated[
        bool, typer.Option("--compile/--no-compile", help="Also make the bitstream.")
    ] = True,
    scripts_only: Annotated[
        bool,
        typer.Option(
            "--scripts-only", help="Write sources, constraints and scripts, and build nothing."
        ),
    ] = False,
    output: Annotated[
        Path | None,
        typer.Option(help="Folder for the outputs; build/BOARD-CONFIG[-flash|-sdcard] by default."),
    ] = None,
    json: Annotated[str | None, typer.Option(help="Receives the report; - is stdout.")] = None,
) -> None:
    """Build a board's system, up to the bitstream if the vendor's tools are installed."""
    from kiwicha.boards.board import load
    from kiwicha.boards.flow.build import build_board
    from kiwicha.boards.flow.scripts import system_scripts
    from kiwicha.commands import console
    from kiwicha.contract.configs import find_config
    from kiwicha.contract.peripherals import Peripheral

    console.require_writable(json)
    if scripts_only and (json is not None or toolchain is not None or seeds is not None):
        raise UsageError(
            "--scripts-only must be given without --json, --toolchain and --seeds: nothing is built"
        )
    # Its bitstream is not for the part on the board.
    suffix = "" if speed_grade is None else f"-grade{speed_grade}"
    chosen = {
        Peripheral.FLASH: with_flash,
        Peripheral.SDCARD: with_sdcard,
        Peripheral.CAMERA: with_camera,
        Peripheral.MICROPHONE: with_microphone,
    }
    peripherals = [peripheral for peripheral, is_wanted in chosen.items() if is_wanted]
    folder = output or Path("build") / build_name(board, config + suffix, peripherals)
    require_folder(folder)
    hardware = find_config(config)
    target = load(board)
    hz = None if clock is None else round(clock * 1e6)
    with console.display() as show:
        if scripts_only:
            files = system_scripts(
                target,
                hardware,
                sys_clk_hz=hz,
                speed_grade=speed_grade,
                peripherals=peripherals,
                on_build=show.stage,
            )
            for name, raw in files.items():
                console.write_file(folder / name, raw)
            show.line(f"sources and scripts: {folder}")
            return
        report = build_board(
            target,
            hardware,
            toolchain=toolchain,
            sys_clk_hz=hz,
            speed_grade=speed_grade,
            seeds=seeds,
            peripherals=peripherals,
            compiles=compiles,
            on_build=show.stage,
        )
    write_files(report, folder)
    if json is not None:
        console.write_json(json, report.to_json())
    if json != console.STDOUT:
        show_report(report, folder)
    if not is_good(report):
        raise typer.Exit(1)


def build_name(board: str, config: str, peripherals: Collection[str]) -> str:
    """Return the name of the folder of what is built for a board."""
    return "-".join((board, config, *peripherals))


def require_folder(folder: Path) -> None:
    """Make a folder for files, unless it is there.

    Raises
    ------
    UsageError
        If it is something else or cannot be made.
    """
    if folder.exists() and not folder.is_dir():
        raise UsageError(f"output must be a folder, not {folder}")
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UsageError(
            f"output must be a folder that can be created: {reason(error)} ({folder})"
        ) from error


def is_good(report: "BuildReport") -> bool:
    """Return whether the design fits and, if that is known, is fast enough."""
    return not report.overflowing and (report.timing is None or report.timing.is_met)


def write_files(report: "BuildReport", folder: Path) -> None:
    """Write what was made to a folder."""
    from kiwicha.commands import console

    files = dict(report.files)
    if report.bitstream is not None:
        files["soc.bit"] = report.bitstream
    for name, raw in files.items():
        console.write_file(folder / name, raw)


def show_report(report: "BuildReport", folder: Path) -> None:
    """Print resources, clock and critical path."""
    from rich.table import Table

    from kiwicha.commands import console

    out = console.stdout()
    table = Table(title=f"{report.config} on {report.board} ({report.part})")
    table.add_column("module")
    for name in report.resources:
        table.add_column(name, justify="right")
    for module, counts in report.modules.items():
        table.add_row(module, *(f"{count:,g}" for count in counts.values()))
    table.add_section()
    table.add_row("all", *(f"{count:,g}" for count in report.resources.values()))
    limits = [report.capacity.get(name) for name in report.resources]
    table.add_row("capacity", *("" if limit is None else f"{limit:,g}" for limit in limits))
    out.print(table)
    for name in report.overflowing:
        out.print(
            f"does not fit: {report.resources[name]:,g} {name} of {report.capacity[name]:,g}",
            markup=False,
        )
    if report.timing is not None:
        timing = report.timing
        verdict = "met" if timing.is_met else "NOT MET"
        out.print(
            f"clock: {timing.fmax_mhz:.1f} MHz, {timing.target_mhz:.1f} MHz wanted: {verdict}"
            + ("" if report.seed is None else f" (seed {report.seed})")
        )
    elif report.bitstream is not None:
        out.print(f"clock: {report.toolchain} does not report whether it is met")
    if report.timing is not None and report.timing.path:
        timing = report.timing
        slowest = sorted(timing.path, key=lambda step: -step.delay_ns)[:_PATH_STEPS]
        path = Table(title=f"critical path, {sum(step.delay_ns for step in timing.path):.1f} ns")
        for column in ("ns", "what", "to"):
            path.add_column(column)
        for step in timing.path:
            if step in slowest:
                path.add_row(f"{step.delay_ns:.2f}", step.kind, step.cell)
        out.print(path)
    what = "bitstream" if report.bitstream is not None else "sources and scripts"
    out.print(f"{what}: {folder}", markup=False)
