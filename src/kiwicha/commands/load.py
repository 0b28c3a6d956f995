"""``kiwicha load``: a bitstream into a board's FPGA."""

import shutil
from pathlib import Path
from typing import Annotated

import typer

from kiwicha.commands.options import BuiltBoard
from kiwicha.errors import ToolError, UsageError

__all__ = ["load"]

_LOADER = "openFPGALoader"
_BRING_UP = "bringup"
"""In place of a configuration: the design of `kiwicha bringup --build`."""


def load(
    board: BuiltBoard,
    config: Annotated[str, typer.Option(help="A configuration that was built, or bringup.")] = "64",
    bitstream: Annotated[
        Path | None, typer.Option(help="Another file than build/BOARD-CONFIG/soc.bit.")
    ] = None,
    flash: Annotated[
        bool,
        typer.Option(
            "--flash", help="Into the board's flash memory, for every power-up, and verify it."
        ),
    ] = False,
    erase: Annotated[
        bool, typer.Option("--erase", help="Erase the board's flash memory, and load nothing.")
    ] = False,
) -> None:
    """Load a bitstream that `kiwicha build` made, with openFPGALoader."""
    from kiwicha import tools
    from kiwicha.boards import board as boards
    from kiwicha.boards.flow.system import check_board
    from kiwicha.commands import console
    from kiwicha.contract.configs import find_config

    target = boards.load(board)
    if erase and (flash or bitstream is not None):
        raise UsageError("--erase must be given without --flash and --bitstream: it loads nothing")
    if erase:
        _require_loader()
        with console.display() as show:
            show.stage(f"erasing the flash memory of {target.title}: minutes")
            tools.run([_LOADER, "-b", target.loader, "--bulk-erase"], name=_LOADER)
        return
    if config != _BRING_UP:
        check_board(target, find_config(config))
    path = bitstream or Path("build") / f"{board}-{config}" / "soc.bit"
    if not path.is_file():
        command = f"bringup {board} --build" if config == _BRING_UP else f"build {board}"
        command += "" if config == _BRING_UP else f" --config {config}"
        raise UsageError(f"bitstream must be a file, not {path}; make it with: kiwicha {command}")
    _require_loader()
    with console.display() as show:
        where = "the flash memory of " if flash else ""
        show.stage(f"loading {path} into {where}{target.title}")
        words = ["--write-flash", "--verify"] if flash else []
        tools.run([_LOADER, "-b", target.loader, *words, str(path)], name=_LOADER)


def _require_loader() -> None:
    from kiwicha.doctor import install_command

    if shutil.which(_LOADER) is None:
        raise ToolError(f"{_LOADER} must be installed; get it with: {install_command(_LOADER)}")
