"""``kiwicha load``: a bitstream into a board's FPGA."""

import shutil
from pathlib import Path
from typing import Annotated

import typer

from kiwicha.boards.board import NAMES
from kiwicha.errors import ToolError, UsageError

__all__ = ["load"]

_LOADER = "openFPGALoader"


def load(
    board: Annotated[str, typer.Argument(help=f"One of {', '.join(NAMES)}.")],
    config: Annotated[str, typer.Option(help="A configuration that was built.")] = "64",
    bitstream: Annotated[
        Path | None, typer.Option(help="Another file than build/BOARD-CONFIG/soc.bit.")
    ] = None,
) -> None:
    """Load a bitstream that `kiwicha build` made, with openFPGALoader."""
    from kiwicha import tools
    from kiwicha.boards import board as boards
    from kiwicha.commands import console
    from kiwicha.doctor import install_command

    target = boards.load(board)
    path = bitstream or Path("build") / f"{board}-{config}" / "soc.bit"
    if not path.is_file():
        raise UsageError(
            f"bitstream must be a file, not {path}; make it with:"
            f" kiwicha build {board} --config {config}"
        )
    if shutil.which(_LOADER) is None:
        raise ToolError(f"{_LOADER} must be installed; get it with: {install_command(_LOADER)}")
    with console.display() as show:
        show.stage(f"loading {path} into {target.title}")
        tools.run([_LOADER, "-b", target.loader, str(path)], name=_LOADER)
