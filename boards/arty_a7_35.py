"""Digilent Arty A7-35T."""

from kiwicha.boards.arty_a7 import arty

__all__ = ["BOARD"]

BOARD = arty(size="35", part="xc7a35ticsg324-1L")
