"""Digilent Arty A7-100T."""

from kiwicha.boards.arty_a7 import arty

__all__ = ["BOARD"]

BOARD = arty(
    size="100",
    part="xc7a100tcsg324-1",
    capacity={"LUT": 63_400, "FF": 126_800, "BRAM36": 135, "DSP48E1": 240},
)
