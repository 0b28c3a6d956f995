"""The line of a simulated SD card: its bytes, and the CRCs behind them."""

from functools import reduce
from operator import xor
from typing import Any

from litex.gen import LiteXModule
from migen import Cat, If, Signal

__all__ = ["IDLE", "ByteLine", "crc_with"]

IDLE = 0xFF
"""What the line carries while nobody speaks."""


def crc_with(crc: Any, byte: Any, polynomial: int) -> Any:
    """Return a CRC after one more byte.

    Parameters
    ----------
    crc, byte : Signal
        What it was, and the byte, whose upper bits come first.
    polynomial : int
        Without its highest term.
    """
    state = [{("crc", bit)} for bit in range(len(crc))]
    for bit in reversed(range(8)):
        feedback = state[-1] ^ {("byte", bit)}
        shifted = [set(), *state[:-1]]
        state = [one ^ feedback if polynomial >> at & 1 else one for at, one in enumerate(shifted)]
    signals = {"crc": crc, "byte": byte}
    return Cat(*(reduce(xor, [signals[name][bit] for name, bit in sorted(one)]) for one in state))


class ByteLine(LiteXModule):
    """The bytes of a line in SPI mode 0, while the card is selected.

    Parameters
    ----------
    pads : Record
        ``clk``, ``cs_n``, ``mosi`` and ``miso``.

    Members
    -------
    rises : Signal
        Its clock goes up.
    received : Signal
        ``byte`` is a new one. What is written to ``sent`` within a cycle is the next one that is
        sent; without that it is `IDLE`.
    """

    def __init__(self, pads: Any) -> None:
        self.rises, falls, was_high = Signal(), Signal(), Signal()
        self.received, self.byte = Signal(), Signal(8)
        self.sent = Signal(8, reset=IDLE)
        bit = Signal(3)
        self.sync += was_high.eq(pads.clk)
        self.comb += [self.rises.eq(pads.clk & ~was_high), falls.eq(~pads.clk & was_high)]
        self.sync += [
            self.received.eq(0),
            If(
                pads.cs_n,
                bit.eq(0),
                pads.miso.eq(1),
                self.sent.eq(IDLE),
            )
            .Elif(
                self.rises,
                self.byte.eq(Cat(pads.mosi, self.byte)),
                bit.eq(bit + 1),
                self.received.eq(bit == 7),
            )
            .Elif(
                falls,
                pads.miso.eq(self.sent[7]),
                self.sent.eq(Cat(1, self.sent)),
            ),
        ]
