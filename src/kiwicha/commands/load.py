"""``kiwicha load``: a bitstream into a board's FPGA, or what it starts with into its flash memory.

What it starts with can also come from an SD card, of which this writes the image.
"""

import shlex
import shutil
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from kiwicha.commands.build import build_name
from kiwicha.commands.options import BuiltBoard
from kiwicha.contract.peripherals import Peripheral
from kiwicha.errors import BoardError, ToolError, UsageError

if TYPE_CHECKING:
    from kiwicha.boards.board import Board
    from kiwicha.boards.flash_image import Place
    from kiwicha.commands.console import Display

__all__ = ["load"]

_LOADER = "openFPGALoader"
_BRING_UP = "bringup"
"""In place of a configuration: the design of `kiwicha bringup --build`."""
_IMAGE = "flash.bin"


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
    sdcard: Annotated[
        Path | None,
        typer.Option(
            help="Write the image of an SD card to this file, for every power-up with that card,"
            " and load nothing."
        ),
    ] = None,
    model: Annotated[
        str | None,
        typer.Option(
            help="With --flash or --sdcard: firmware and Program of a model, as for kiwicha run,"
            " in memory at every power-up."
        ),
    ] = None,
    application: Annotated[
        Path | None,
        typer.Option(
            help="With --flash or --sdcard: application.bin of kiwicha sdk, which starts at every"
            " power-up."
        ),
    ] = None,
    erase: Annotated[
        bool, typer.Option("--erase", help="Erase the board's flash memory, and load nothing.")
    ] = False,
) -> None:
    """Load a bitstream that `kiwicha build` made, with openFPGALoader.

    A model or an application lies behind the bitstream in flash memory, and needs one that was
    built --with-flash; or on an SD card, and needs one that was built --with-sdcard.
    """
    from kiwicha import tools
    from kiwicha.boards import board as boards
    from kiwicha.boards.flash_image import FLASH_PLACE
    from kiwicha.boards.flow.system import check_board
    from kiwicha.commands import console
    from kiwicha.contract.configs import find_config
    from kiwicha.contract.flash import FLASH_IMAGE_OFFSET

    target = boards.load(board)
    behind = [name for name in (model, application) if name is not None]
    for option, is_given in (("--erase", erase), ("--sdcard", sdcard is not None)):
        if is_given and (flash or bitstream is not None):
            raise UsageError(
                f"{option} must be given without --flash and --bitstream: it loads nothing"
            )
    if erase and sdcard is not None:
        raise UsageError("--erase must be given without --sdcard: it is about flash memory")
    is_stored = flash or sdcard is not None
    if behind and (not is_stored or len(behind) > 1 or config == _BRING_UP):
        raise UsageError(
            "--model or --application must be given alone, with --flash or --sdcard, and with a"
            " configuration that has a CPU"
        )
    if sdcard is not None and not behind:
        raise UsageError("--sdcard must be given with --model or --application")
    if erase:
        _require_loader()
        with console.display() as show:
            show.stage(f"erasing the flash memory of {target.title}: minutes")
            tools.run([_LOADER, "-b", target.loader, "--bulk-erase"], name=_LOADER)
        return
    if config != _BRING_UP:
        check_board(target, find_config(config))
    if sdcard is not None:
        _write_card(target, config, model, application, sdcard)
        return
    folder = Path("build") / build_name(board, config, [Peripheral.FLASH] if behind else [])
    path = bitstream or folder / "soc.bit"
    if not path.is_file():
        command = f"bringup {board} --build" if config == _BRING_UP else f"build {board}"
        command += "" if config == _BRING_UP else f" --config {config}"
        command += " --with-flash" if behind else ""
        raise UsageError(f"bitstream must be a file, not {path}; make it with: kiwicha {command}")
    if behind and path.stat().st_size > FLASH_IMAGE_OFFSET:
        raise BoardError(
            f"bitstream must have at most {FLASH_IMAGE_OFFSET} bytes, not {path.stat().st_size}:"
            f" behind them lies what the loader reads ({path})"
        )
    _require_loader()
    with console.display() as show:
        where = "the flash memory of " if flash else ""
        show.stage(f"loading {path} into {where}{target.title}")
        words = ["--write-flash", "--verify"] if flash else []
        tools.run([_LOADER, "-b", target.loader, *words, str(path)], name=_LOADER)
        if behind:
            image = path.with_name(_IMAGE)
            raw = _image(target, config, model, application, FLASH_PLACE, show)
            console.write_file(image, raw)
            show.stage(f"loading {image} into {where}{target.title}")
            words += ["--offset", str(FLASH_IMAGE_OFFSET), "--file-type", "raw"]
            tools.run([_LOADER, "-b", target.loader, *words, str(image)], name=_LOADER)


def _write_card(
    target: "Board", config: str, model: str | None, application: Path | None, path: Path
) -> None:
    """Write the image of an SD card, and say how it comes there."""
    from kiwicha.boards.flash_image import SDCARD_PLACE
    from kiwicha.boards.flow.system import require_sdcard
    from kiwicha.commands import console

    require_sdcard(target)
    with console.display() as show:
        raw = _image(target, config, model, application, SDCARD_PLACE, show)
        console.write_file(path, raw)
    out = console.stdout()
    for line in (
        f"image of an SD card: {path}, {len(raw):,} bytes",
        "write it to the whole card, which loses what it holds; with /dev/sdX its device (lsblk):",
        f"sudo dd if={shlex.quote(str(path))} of=/dev/sdX bs=1M conv=fsync",
        f"for a bitstream of: kiwicha build {target.name} --config {config} --with-sdcard",
    ):
        out.print(line, soft_wrap=True)


def _image(
    target: "Board",
    config: str,
    model: str | None,
    application: Path | None,
    place: "Place",
    show: "Display",
) -> bytes:
    """Return what lies behind the bitstream, or on a card."""
    from kiwicha import compiler
    from kiwicha.boards.flash_image import application_image, program_image
    from kiwicha.boards.flow.system import system_files
    from kiwicha.commands import console
    from kiwicha.contract.cfu import DRAM_BYTES
    from kiwicha.contract.configs import find_config
    from kiwicha.contract.serial import LOADER_BYTES
    from kiwicha.firmware.build import build_firmware
    from kiwicha.zoo import models as zoo

    hardware = find_config(config).with_memory(target.memory)
    if application is not None:
        raw = console.read_file(application, "application")
        return application_image(hardware, raw, place=place)
    assert model is not None
    name, source, _ = zoo.resolve(model)
    show.stage(f"compiling {name}")
    program = compiler.compile_stages(console.read_file(source, "model file"), hardware).program
    files = system_files(target, hardware, sys_clk_hz=target.sys_clk_hz, on_build=show.stage)
    kernels = (step.kernel for step in program.steps)
    firmware = build_firmware(hardware, files.soc_header, kernels=kernels)
    usable = min(target.dram_bytes, DRAM_BYTES) - LOADER_BYTES
    return program_image(program, firmware, dram_bytes=usable, place=place)


def _require_loader() -> None:
    from kiwicha.doctor import install_command

    if shutil.which(_LOADER) is None:
        raise ToolError(f"{_LOADER} must be installed; get it with: {install_command(_LOADER)}")
