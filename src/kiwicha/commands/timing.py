"""``kiwicha timing``: the clock that the CFU may reach, and what limits it."""

from typing import TYPE_CHECKING, Annotated

import typer

from kiwicha.commands.options import BuildConfig
from kiwicha.errors import UsageError

if TYPE_CHECKING:
    from kiwicha.boards.timing.estimate import Estimate
    from kiwicha.boards.timing.names import Name
    from kiwicha.boards.timing.paths import PathGroup

__all__ = ["timing"]

_PATHS = 10
_NET_NS = 0.55
_BOARD = "arty_a7_35"


def timing(
    config: BuildConfig = "64",
    board: Annotated[
        str, typer.Option(help="One with a Xilinx FPGA: whose clock is wanted.")
    ] = _BOARD,
    clock: Annotated[
        float | None, typer.Option(help="MHz that are wanted instead.", metavar="MHZ")
    ] = None,
    paths: Annotated[int, typer.Option(min=1, help="How many paths are shown.")] = _PATHS,
    net: Annotated[
        float, typer.Option(help="What a wire with one load takes.", metavar="NS")
    ] = _NET_NS,
    json: Annotated[str | None, typer.Option(help="Receives all of it; - is stdout.")] = None,
) -> None:
    """Estimate the clock of the CFU on a Xilinx FPGA from its netlist, and show the worst paths."""
    from kiwicha.boards.capacity import family_of
    from kiwicha.boards.family import Family
    from kiwicha.boards.memories import BOARD_MEMORIES, require_board
    from kiwicha.commands import console
    from kiwicha.contract.configs import find_config

    console.require_writable(json)
    require_board(board)
    if family_of(board) is not Family.XC7:
        raise UsageError(
            f"board must be one with a Xilinx FPGA (arty_a7_35 or arty_a7_100), not {board}: "
            f"kiwicha build {board} places and routes, and knows its clock"
        )
    hardware = find_config(config)
    if not hardware.has_simd:
        raise UsageError(f"config must be one with a CFU, not {config!r}")
    mhz = BOARD_MEMORIES[board].clock_hz / 1e6 if clock is None else clock
    for name, value, unit in (("clock", mhz, "MHz"), ("net", net, "ns")):
        if value <= 0:
            raise UsageError(f"{name} must be more than 0 {unit}, not {value:g}")

    from kiwicha.boards.flow import yowasp
    from kiwicha.boards.timing.estimate import estimate_cfu
    from kiwicha.boards.timing.fingerprint import timing_fingerprint

    versions = yowasp.require(yowasp.YOSYS)
    with console.display() as show:
        found, seconds = estimate_cfu(
            hardware,
            wanted_ps=round(1e6 / mhz),
            net_ps=round(1000 * net),
            paths=paths,
            on_stage=show.stage,
        )
        inputs = timing_fingerprint(hardware)
    if json is not None:
        report = {
            "config": config,
            "board": board,
            "versions": versions,
            "inputs": inputs,
            "seconds": round(seconds),
            **found.to_json(),
        }
        console.write_json(json, report)
    if json != console.STDOUT:
        _print(config, found)


def _print(config: str, found: "Estimate") -> None:
    from rich.table import Table

    from kiwicha.commands import console

    title = f"Worst paths of the CFU of {config}, speed grade -1, estimated"
    table = Table(title=title, show_lines=True)
    for column in ("ns", "cells", "wires", "LUT", "carry", "ends"):
        table.add_column(column, justify="right")
    table.add_column("path, and its slowest wire", overflow="fold")
    for group in found.groups:
        path = group.path
        times = (path.delay_ps, path.logic_ps, path.route_ps)
        counts = (path.luts, path.carries, group.ends)
        table.add_row(
            *(f"{ps / 1000:.2f}" for ps in times), *map(str, counts), _words(found, group)
        )
    out = console.stdout()
    out.print(table)
    widest = ", ".join(f"{name} {loads:,}" for name, loads in found.loads.items())
    out.print(f"nets with most loads: {widest}")
    out.print(
        f"{found.mhz:.1f} MHz estimated: {found.period_ps / 1000:.2f} ns; slack "
        f"{found.slack_ps / 1000:+.2f} ns at {1e6 / found.wanted_ps:g} MHz, which {found.late:,} "
        f"of {found.ends:,} ends of paths miss"
    )


def _words(found: "Estimate", group: "PathGroup") -> str:
    path = group.path
    step = path.widest
    loads = found.graph.loads.get(step.net, 0)
    blocks = f" through {', '.join(path.blocks)}" if path.blocks else ""
    port = f".{group.port}" if group.port else ""
    return "\n".join([
        f"from {_name(group.start)}{blocks}",
        f"to {_name(group.end, port)}",
        f"{found.names.net(step.net).path}: {loads:,} loads, {step.wire.route_ps / 1000:.2f} ns",
    ])


def _name(name: "Name", port: str = "") -> str:
    return f"{name.path}{port}" + (f" ({name.source})" if name.source else "")
