"""The logistic function or tanh of a beat of arguments, some numbers at a time."""

from amaranth import Array, Cat, Module, Mux, Signal, signed
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from kiwicha.contract.latencies import SHORT_FUNCTION_CYCLES, SHORT_FUNCTIONS
from kiwicha.contract.short_elements import MAX_FUNCTION_ARGUMENT
from kiwicha.gateware.engine.recurrent.activation import ARGUMENT_BITS, Activation
from kiwicha.gateware.engine.short_elements.interfaces import NUMBERS, SHORT_BITS, WORDS

__all__ = ["FunctionLine"]


class FunctionLine(wiring.Component):
    """Bring the arguments of a beat through `SHORT_FUNCTIONS` of an `Activation`, by turns.

    Latency: `SHORT_LINE_CYCLES` less `SHORT_PASS_CYCLES` from ``start`` to all values, which are
    there for a cycle. Throughput: a beat in `SHORT_FUNCTION_CYCLES`.

    Members
    -------
    start : ``In(1)``
        Arguments are there from the next cycle on.
    arguments : ``In(WORDS)``
        In 1/12,288; stable for `SHORT_FUNCTION_CYCLES`.
    is_tanh : ``In(1)``
        The function is tanh; stable.
    values : ``Out(NUMBERS)``
        In Q0.15.
    """

    def __init__(self) -> None:
        super().__init__({
            "start": In(1),
            "arguments": In(WORDS),
            "is_tanh": In(1),
            "values": Out(NUMBERS),
        })

    def elaborate(self, platform: object) -> Module:
        """Build the counter of turns, and each part of a beat."""
        m = Module()
        turn = Signal(range(SHORT_FUNCTION_CYCLES))
        m.d.sync += turn.eq(Mux(self.start, 0, turn + 1))
        for number in range(SHORT_FUNCTIONS):
            self._part(m, number, turn)
        return m

    def _part(self, m: Module, number: int, turn: Signal) -> None:
        """Build the choice of an argument of a part of the beat, its limits, and its values."""
        m.submodules[f"activation_{number}"] = activation = Activation()
        lanes = range(number * SHORT_FUNCTION_CYCLES, (number + 1) * SHORT_FUNCTION_CYCLES)
        arguments = Array(self.arguments[lane] for lane in lanes)
        chosen = Signal(signed(32), name=f"chosen_{number}", reset_less=True)
        limited = Signal(signed(ARGUMENT_BITS), name=f"limited_{number}", reset_less=True)
        value = Signal(SHORT_BITS, name=f"value_{number}", reset_less=True)
        values = Signal(len(lanes) * SHORT_BITS, name=f"values_{number}", reset_less=True)
        is_above, is_below = chosen > MAX_FUNCTION_ARGUMENT, chosen < -MAX_FUNCTION_ARGUMENT
        upper = Mux(is_above, MAX_FUNCTION_ARGUMENT, chosen[:ARGUMENT_BITS].as_signed())
        m.d.sync += [
            chosen.eq(arguments[turn]),
            limited.eq(Mux(is_below, -MAX_FUNCTION_ARGUMENT, upper)),
            value.eq(activation.value),
            values.eq(values[SHORT_BITS:] | value << (len(lanes) - 1) * SHORT_BITS),
        ]
        m.d.comb += [
            activation.argument.eq(limited),
            activation.is_tanh.eq(self.is_tanh),
            Cat(self.values[lane] for lane in lanes).eq(values),
        ]
