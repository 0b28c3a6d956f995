"""Digilent Arty A7-100T."""

from kiwicha.boards.arty_a7 import arty

__all__ = ["BOARD"]

BOARD = arty(size="100", part="xc7a100tcsg324-1")
