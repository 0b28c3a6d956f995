"""From the pins of a microphone with an I2S port to samples."""

import math

from amaranth import Cat, Module, Signal, signed
from amaranth.back import verilog as backend
from amaranth.lib import stream, wiring
from amaranth.lib.cdc import FFSynchronizer
from amaranth.lib.wiring import In, Out

__all__ = ["FRAME_BITS", "MODULE", "SAMPLE_BITS", "I2sReceiver", "bit_clock_edges", "verilog"]

MODULE = "I2sReceiver"
"""Name in Verilog."""
SAMPLE_BITS = 16
FRAME_BITS = 64
"""Bit clocks from one sample to the next: 32 for the left slot, then 32 for the right one."""
_LAST_BIT = FRAME_BITS - 1
_LEAST_CYCLES = 4
"""In half a bit. Two pass in the synchronizer and one in the register of the bit clock; in the rest
the microphone must give its bit."""


def bit_clock_edges(clock_hz: int, rate_hz: int) -> tuple[int, int]:
    """Return two numbers without a common divisor: edges of the bit clock, and in how many cycles.

    Parameters
    ----------
    clock_hz : int
        Frequency of the clock.
    rate_hz : int
        Samples per second.

    Raises
    ------
    ValueError
        If the clock is too slow.
    """
    edges_hz = 2 * FRAME_BITS * rate_hz
    if rate_hz <= 0 or clock_hz < _LEAST_CYCLES * edges_hz:
        raise ValueError(
            f"clock must have {_LEAST_CYCLES} cycles or more in half a bit, not {clock_hz} Hz"
            f" at {rate_hz} samples per second"
        )
    common = math.gcd(clock_hz, edges_hz)
    return edges_hz // common, clock_hz // common


class I2sReceiver(wiring.Component):
    """Give a microphone its clocks and receive the left slot of every frame.

    The word select goes low with a falling edge of the bit clock; from the next falling edge on the
    microphone gives its bits, the most significant one first, and each is taken at the rising edge.
    Words may have 16 bits or more: the first 16 are the sample.

    The clocks are divided from the system's by a fraction, so that the mean rate is exact. An edge
    comes with the first cycle that does not begin before its time: it is late by less than one
    cycle, and lateness does not add up.

    While it is not enabled the clocks stand still, both high. The first edge after that begins a
    frame.

    Parameters
    ----------
    clock_hz : int
        Frequency of the clock.
    rate_hz : int
        Samples per second.

    Members
    -------
    is_enabled : ``In(1)``
        Sound is received. When it goes low, the frame under way is given up.
    bclk, lrclk : ``Out(1)``
        Bit clock and word select, from registers; word select is low for the left slot.
    data : ``In(1)``
        The microphone's bits, asynchronous.
    o : ``Out(stream.Signature(signed(16), always_ready=True))``
        Samples; each comes in the middle of its frame's left slot.

    Raises
    ------
    ValueError
        If the clock is too slow.
    """

    def __init__(self, *, clock_hz: int, rate_hz: int) -> None:
        self.edges, self.cycles = bit_clock_edges(clock_hz, rate_hz)
        super().__init__({
            "is_enabled": In(1),
            "bclk": Out(1, init=1),
            "lrclk": Out(1, init=1),
            "data": In(1),
            "o": Out(stream.Signature(signed(SAMPLE_BITS), always_ready=True)),
        })

    def elaborate(self, platform: object) -> Module:
        """Build the divider, the clocks and the shift register."""
        m = Module()
        data = Signal()
        m.submodules.synchronizer = FFSynchronizer(self.data, data)
        phase, is_edge = Signal(range(self.cycles)), Signal()
        bit, next_bit = Signal(range(FRAME_BITS), init=_LAST_BIT), Signal(range(FRAME_BITS))
        # Of `edges` in so many `cycles` one is due whenever the phase has gone around.
        m.d.comb += [
            is_edge.eq(phase >= self.cycles - self.edges),
            next_bit.eq(bit + 1),
        ]
        m.d.sync += self.o.valid.eq(0)
        with m.If(~self.is_enabled):
            m.d.sync += [phase.eq(0), bit.eq(_LAST_BIT), self.bclk.eq(1), self.lrclk.eq(1)]
        with m.Elif(is_edge):
            m.d.sync += [phase.eq(phase + self.edges - self.cycles), self.bclk.eq(~self.bclk)]
            with m.If(self.bclk):
                m.d.sync += [bit.eq(next_bit), self.lrclk.eq(next_bit >= FRAME_BITS // 2)]
            # Bit 0 is the last one of the slot before.
            with m.Elif((bit > 0) & (bit <= SAMPLE_BITS)):
                m.d.sync += [
                    self.o.payload.eq(Cat(data, self.o.payload[: SAMPLE_BITS - 1])),
                    self.o.valid.eq(bit == SAMPLE_BITS),
                ]
        with m.Else():
            m.d.sync += phase.eq(phase + self.edges)
        return m


def verilog(*, clock_hz: int, rate_hz: int) -> str:
    """Return the Verilog of an `I2sReceiver`, module `MODULE`; parameters as there.

    Its ports are the members, those of the stream ``o_valid`` and ``o_payload``, and ``clk`` and
    ``rst``.
    """
    receiver = I2sReceiver(clock_hz=clock_hz, rate_hz=rate_hz)
    ports = {name: getattr(receiver, name) for name in ("is_enabled", "bclk", "lrclk", "data")}
    ports |= {"o_valid": receiver.o.valid, "o_payload": receiver.o.payload}
    return str(
        backend.convert(
            receiver,
            name=MODULE,
            ports={name: (signal, None) for name, signal in ports.items()},
            emit_src=False,
            strip_internal_attrs=True,
        )
    )
