"""From bytes to the level of a serial line."""

from amaranth import Cat, Const, Module, Signal
from amaranth.lib import stream, wiring
from amaranth.lib.wiring import In, Out

from kiwicha.gateware.bringup.bit_time import bit_cycles

__all__ = ["UartTransmitter"]

_FRAME_BITS = 10


class UartTransmitter(wiring.Component):
    """Send bytes: a start bit, 8 data bits, least significant first, and a stop bit.

    Throughput: a byte in 10 bits and one cycle.

    Parameters
    ----------
    clock_hz : int
        Frequency of the clock.
    baud : int
        Bits per second.

    Members
    -------
    i : ``In(stream.Signature(8))``
        Bytes; ready when the line is free.
    tx : ``Out(1)``
        The line, from a register; high when idle.

    Raises
    ------
    ValueError
        If a bit has too few cycles.
    """

    def __init__(self, *, clock_hz: int, baud: int) -> None:
        self.bit_cycles = bit_cycles(clock_hz, baud)
        super().__init__({"i": In(stream.Signature(8)), "tx": Out(1, init=1)})

    def elaborate(self, platform: object) -> Module:
        """Build the shift register and its timer."""
        m = Module()
        bits = Signal(_FRAME_BITS - 1, init=-1)
        bits_left = Signal(range(_FRAME_BITS + 1))
        cycle = Signal(range(self.bit_cycles))
        m.d.comb += self.i.ready.eq(bits_left == 0)
        with m.If(self.i.ready):
            m.d.sync += cycle.eq(0)
            with m.If(self.i.valid):
                m.d.sync += [
                    self.tx.eq(0),
                    bits.eq(Cat(self.i.payload, Const(1, 1))),
                    bits_left.eq(_FRAME_BITS),
                ]
        with m.Elif(cycle == self.bit_cycles - 1):
            m.d.sync += [
                cycle.eq(0),
                bits_left.eq(bits_left - 1),
                self.tx.eq(bits[0]),
                bits.eq(Cat(bits[1:], Const(1, 1))),
            ]
        with m.Else():
            m.d.sync += cycle.eq(cycle + 1)
        return m
