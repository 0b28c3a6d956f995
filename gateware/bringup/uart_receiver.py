"""From the level of a serial line to bytes."""

from amaranth import Cat, Module, Signal
from amaranth.lib import stream, wiring
from amaranth.lib.cdc import FFSynchronizer
from amaranth.lib.wiring import In, Out

from kiwicha.gateware.bringup.bit_time import bit_cycles

__all__ = ["UartReceiver"]

_DATA_BITS = 8
_STOP_BIT = _DATA_BITS + 1


class UartReceiver(wiring.Component):
    """Receive bytes: a start bit, 8 data bits, least significant first, and a stop bit.

    The line passes a synchroniser. A bit is the majority of three samples, an eighth of a bit
    apart, around its middle: shorter spikes do no harm, and a start bit that they make up is
    dropped. A byte comes after the middle of its stop bit, so that the next may begin early. If
    the stop bit is low the byte is an error, and the line must be high before another begins.

    Senders may be off by `kiwicha.gateware.bringup.bit_time.BAUD_TOLERANCE`.

    Parameters
    ----------
    clock_hz : int
        Frequency of the clock.
    baud : int
        Bits per second.

    Members
    -------
    rx : ``In(1)``
        The line, asynchronous; high when idle.
    o : ``Out(stream.Signature(8, always_ready=True))``
        Bytes.
    has_error : ``Out(1)``
        High for one cycle in place of a byte without a stop bit.

    Raises
    ------
    ValueError
        If a bit has too few cycles.
    """

    def __init__(self, *, clock_hz: int, baud: int) -> None:
        self.bit_cycles = bit_cycles(clock_hz, baud)
        super().__init__({
            "rx": In(1, init=1),
            "o": Out(stream.Signature(8, always_ready=True)),
            "has_error": Out(1),
        })

    def elaborate(self, platform: object) -> Module:
        """Build the timer and the samples."""
        m = Module()
        line = Signal(init=1)
        m.submodules.synchronizer = FFSynchronizer(self.rx, line, init=1)
        cycle = Signal(range(self.bit_cycles))
        bit = Signal(range(_STOP_BIT + 1))
        highs = Signal(range(4))
        byte = Signal(_DATA_BITS)
        # The cycle that finds the line low is the bit's first; the timer starts in the next.
        middle, apart = self.bit_cycles // 2 - 1, self.bit_cycles // 8
        is_sampled = Cat(cycle == middle + k * apart for k in (-1, 0, 1)).any()
        is_high = highs[1]

        m.d.sync += [self.o.valid.eq(0), self.has_error.eq(0)]
        with m.FSM():
            with m.State("IDLE"):
                m.d.sync += [cycle.eq(0), bit.eq(0), highs.eq(0)]
                with m.If(~line):
                    m.next = "BITS"
            with m.State("BITS"):
                m.d.sync += cycle.eq(cycle + 1)
                with m.If(cycle == self.bit_cycles - 1):
                    m.d.sync += [cycle.eq(0), bit.eq(bit + 1)]
                with m.If(is_sampled):
                    m.d.sync += highs.eq(highs + line)
                with m.Elif(cycle == middle + apart + 1):
                    m.d.sync += highs.eq(0)
                    with m.If((bit != 0) & (bit != _STOP_BIT)):
                        m.d.sync += byte.eq(Cat(byte[1:], is_high))
                    with m.Elif(bit == _STOP_BIT):
                        m.d.sync += [self.o.valid.eq(is_high), self.o.payload.eq(byte)]
                        m.d.sync += self.has_error.eq(~is_high)
                        # A fast sender's next start bit may be there at once.
                        m.next = "IDLE"
                        with m.If(~is_high):
                            m.next = "BREAK"
                    with m.Elif(is_high):
                        m.next = "IDLE"
            with m.State("BREAK"):
                with m.If(line):
                    m.next = "IDLE"
        return m
