"""What the ECP5 boards share."""

import dataclasses
from collections.abc import Callable

from litedram.core.controller import ControllerSettings

from kiwicha.boards.board import Board, Family, Parts
from kiwicha.boards.capacity import CAPACITY

__all__ = ["TOOLCHAIN", "ecp5"]

TOOLCHAIN = "trellis"
"""LiteX's name for Yosys and nextpnr-ecp5."""


def ecp5(
    *,
    name: str,
    title: str,
    part: str,
    sys_clk_hz: int,
    dram_bytes: int,
    loader: str,
    parts: Callable[[int], Parts],
) -> Board:
    """Return a board with an ECP5; arguments as for `Board`.

    Parameters
    ----------
    parts : callable
        Takes the frequency of the system in hertz; returns the `Parts` without settings of the
        memory's controller.
    """

    def with_controller(sys_clk_hz: int, _: str) -> Parts:
        # A command leaves the queue through a register, and is not compared with the one behind it:
        # a row stays open until another is wanted. The controller's longest paths are shorter so.
        settings = ControllerSettings(cmd_buffer_buffered=True, with_auto_precharge=False)
        return dataclasses.replace(parts(sys_clk_hz), controller_settings=settings)

    return Board(
        name=name,
        title=title,
        family=Family.ECP5,
        part=part,
        sys_clk_hz=sys_clk_hz,
        dram_bytes=dram_bytes,
        capacity=CAPACITY[name],
        toolchains=(TOOLCHAIN,),
        loader=loader,
        parts=with_controller,
    )
