"""``kiwicha sdk``: all that applications for a bare system are made of, without Python."""

from pathlib import Path
from typing import Annotated

import typer

from kiwicha.commands.options import BoardName, ConfigName

__all__ = ["sdk"]


def sdk(
    config: ConfigName = "64",
    board: BoardName = None,
    model: Annotated[
        str, typer.Option(help="What the example runs: as for kiwicha compile.")
    ] = "demo",
    output: Annotated[
        Path | None,
        typer.Option("-o", "--output", help="Archive; build/kiwicha-sdk-CONFIG.tar.gz by default."),
    ] = None,
) -> None:
    """Write an archive of C that needs a RISC-V compiler and make, and no Python.

    It has the runtime, the kernels and a model, headers, LiteX's CSR map, start-up code, linker
    scripts and Makefiles: those of the board's system, without --board of the simulated one.
    """
    from kiwicha import compiler, library
    from kiwicha.boards.memories import memory_of
    from kiwicha.commands import console
    from kiwicha.contract.configs import find_config
    from kiwicha.sim.verilator.simulator import system_headers
    from kiwicha.zoo import models as zoo

    hardware = find_config(config).with_memory(memory_of(board))
    folder = f"kiwicha-sdk-{config}" + (f"-{board}" if board else "")
    path = output or Path("build") / f"{folder}.tar.gz"
    if output is None:
        path.parent.mkdir(exist_ok=True)
    console.require_writable(path)
    name, source, _ = zoo.resolve(model)
    with console.display() as show:
        show.stage(f"compiling {name}")
        raw = console.read_file(source, "model file")
        files = library.library(name, compiler.compile_stages(raw, hardware), raw)
        if board is None:
            headers = system_headers(hardware, lambda: show.stage("generating the system on chip"))
        else:
            from kiwicha.boards.board import load
            from kiwicha.boards.flow.system import board_headers

            target = load(board)
            headers = board_headers(
                target,
                hardware,
                sys_clk_hz=target.sys_clk_hz,
                on_build=lambda: show.stage("generating the system on chip"),
            )
    console.write_file(path, library.pack(library.sdk(name, hardware, files, headers), folder))
    console.stdout().print(f"{path}: make -C {folder}/system")
