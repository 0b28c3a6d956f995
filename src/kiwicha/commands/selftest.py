"""``kiwicha selftest``: memory, instruction tier and engine of a board, over its serial line."""

from typing import Annotated

import typer

from kiwicha.boards.memories import BOARD_MEMORIES
from kiwicha.commands import completion
from kiwicha.commands.options import BuildConfig
from kiwicha.contract.serial import SERIAL_BAUD

__all__ = ["selftest"]

_MEMORY_BYTES = 4 << 20


def selftest(
    port: Annotated[str, typer.Option(help="The board's serial port, /dev/ttyUSB1 for instance.")],
    board: Annotated[
        str,
        typer.Option(help=f"One of {', '.join(BOARD_MEMORIES)}.", autocompletion=completion.boards),
    ],
    config: BuildConfig = "64",
    baud: Annotated[int, typer.Option(help="Bits per second of the port.", min=1200)] = SERIAL_BAUD,
    memory: Annotated[
        int, typer.Option(help="Bytes of DRAM that patterns go through.", min=16)
    ] = _MEMORY_BYTES,
    seed: Annotated[int, typer.Option(help="Of operands, weights and inputs.", min=0)] = 1,
    json: Annotated[str | None, typer.Option(help="Receives the report; - is stdout.")] = None,
) -> None:
    """Test a board's memory, custom instructions and engine, and say what a fault points to.

    Each check prints a line. What the board's DRAM held is lost.
    """
    from kiwicha.boards.board import load
    from kiwicha.boards.flow.system import check_board, system_files
    from kiwicha.boards.link.port import open_port
    from kiwicha.boards.link.serial_link import Link
    from kiwicha.boards.selftest.session import self_test
    from kiwicha.commands import console
    from kiwicha.contract.configs import find_config
    from kiwicha.firmware.self_test_image import build_self_test

    console.require_writable(json)
    target, chosen = load(board), find_config(config)
    check_board(target, chosen)
    link = Link(open_port(port, baud))
    out = console.stdout()
    findings = []
    with console.display() as show:
        files = system_files(target, chosen, sys_clk_hz=target.sys_clk_hz, on_build=show.stage)
        firmware = build_self_test(
            chosen, files.soc_header, on_build=lambda: show.stage("compiling the self-test")
        )
        for finding in self_test(
            link, chosen, firmware, memory_bytes=memory, seed=seed, on_stage=show.stage
        ):
            findings.append(finding)
            if json != console.STDOUT:
                out.print(str(finding))
    failed = sum(not finding.is_good for finding in findings)
    if json is not None:
        console.write_json(
            json,
            {
                "board": board,
                "config": chosen.name,
                "seed": seed,
                "checks": [finding.to_json() for finding in findings],
            },
        )
    if json != console.STDOUT:
        out.print(
            f"{failed} of {len(findings)} checks failed"
            if failed
            else f"{len(findings)} checks passed"
        )
    if failed:
        raise typer.Exit(1)
