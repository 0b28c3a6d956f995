"""Logistic function and tanh of the gates of LSTMs, by the lines between points of one table."""

import itertools

from amaranth import Cat, Const, Module, Mux, Signal, signed
from amaranth.lib import wiring
from amaranth.lib.memory import Memory
from amaranth.lib.wiring import In, Out

from kiwicha.contract.latencies import RECURRENT_FUNCTION_CYCLES
from kiwicha.contract.recurrences import POINTS, function_points
from kiwicha.gateware.delay import delayed
from kiwicha.gateware.engine.recurrent.interfaces import SHORT_BITS

__all__ = ["ARGUMENT_BITS", "Activation"]

ARGUMENT_BITS = 18
"""Of an argument in 1/12,288."""
_PART_BITS = 9
"""Of an argument between two points of the logistic function; for tanh there is one bit less."""
_POINT_BITS = 15
_STEP_BITS = 10
"""Of the difference of two points."""
_HALF = 1 << 24
"""Of the logistic function, which the points lack, on a line."""


class Activation(wiring.Component):
    """The logistic function or tanh of an argument, in Q0.15.

    Latency: `RECURRENT_FUNCTION_CYCLES`. Throughput: one per cycle.

    Members
    -------
    argument : ``In(signed(ARGUMENT_BITS))``
        In 1/12,288: three times an int16, or limited to one bit less.
    is_tanh : ``In(1)``
        The function is tanh.
    value : ``Out(signed(16))``
        As `kiwicha.numerics.short_activations.short_logistic` or ``short_tanh``.
    """

    def __init__(self) -> None:
        super().__init__({
            "argument": In(signed(ARGUMENT_BITS)),
            "is_tanh": In(1),
            "value": Out(signed(SHORT_BITS)),
        })

    def elaborate(self, platform: object) -> Module:
        """Build the size of the argument, its points, and the line between them."""
        m = Module()
        m.submodules.memory = memory = Memory(
            shape=_POINT_BITS + _STEP_BITS,
            depth=POINTS - 1,
            init=[
                low | (high - low) << _POINT_BITS
                for low, high in itertools.pairwise(function_points())
            ],
        )
        port = memory.read_port()
        sign = self.argument[-1]
        size = Signal(ARGUMENT_BITS - 1)
        # Behind the last point tanh does not change; there is no such argument of the other one.
        is_behind = size[-1] & self.is_tanh
        clamped = size | is_behind.replicate(len(size))
        first = Mux(self.is_tanh, clamped[_PART_BITS - 1 :], size[_PART_BITS:])
        of_tanh = Cat(Const(0, 1), clamped[: _PART_BITS - 1])
        index = Signal(range(POINTS - 1), reset_less=True)
        part = Signal(_PART_BITS, reset_less=True)
        m.d.comb += [size.eq(Mux(sign, -self.argument, self.argument)), port.addr.eq(index)]
        m.d.sync += [
            index.eq(first),
            part.eq(Mux(self.is_tanh, of_tanh, size[:_PART_BITS])),
        ]
        read = delayed(m, part, 1, "part")
        product = Signal(_PART_BITS + _STEP_BITS, reset_less=True)
        m.d.sync += product.eq(port.data[_POINT_BITS:] * read)
        low = delayed(m, port.data[:_POINT_BITS], 1, "low")
        flags = delayed(m, Cat(sign, self.is_tanh), RECURRENT_FUNCTION_CYCLES - 1, "flags")
        is_negative, is_tanh = flags
        # Tanh counts twice: its arguments have one bit less between points.
        line = Signal(_POINT_BITS + _PART_BITS)
        m.d.comb += line.eq(Cat(Const(0, _PART_BITS), low) + product)
        signed_line = Cat(line ^ is_negative.replicate(len(line)), is_negative).as_signed()
        rounded = Signal(signed(len(line) + 2))
        shift = _PART_BITS + 1
        m.d.comb += rounded.eq(signed_line + Mux(is_tanh, 1 << shift - 2, _HALF + (1 << shift - 1)))
        m.d.sync += self.value.eq(Mux(is_tanh, rounded >> shift - 1, rounded >> shift))
        return m
