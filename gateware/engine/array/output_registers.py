"""Sums of the array's operations, held while the next ones are summed."""

from amaranth import Const, Module, Mux, Signal, Value, signed
from amaranth.lib import data, stream, wiring
from amaranth.lib.wiring import In, Out

from kiwicha.gateware.engine.array.interfaces import sums_layout
from kiwicha.gateware.engine.array.mac_cell import PACKED_SHIFT, PACKED_SUM_BITS, SUM_BITS

__all__ = ["OutputRegisters"]

_PACKED_SUM_BITS = PACKED_SUM_BITS - PACKED_SHIFT + 1


class OutputRegisters(wiring.Component):
    """Accumulators of 32 bits, and an output register for each, from which results go out.

    The last of the operations that make up a result clears the accumulators and copies the sums,
    itself included, to the output registers. One cycle later they begin to go out, ``lanes`` sums
    in a beat and a beat per cycle, in two with ``is_wide``, in three with ``is_square``.

    Parameters
    ----------
    outputs : int
        Sums of a result, or of each half of one that has two.
    lanes : int
        Sums of a beat: ``outputs``, or a divisor of it.
    has_halves : bool
        There are results of two halves. Else there is none of what follows for them, and the
        result is ``addends``.
    has_packed : bool
        Sums of packed weights are accumulated as well, if there are halves.
    tag_bits : int
        Width of ``tag``.

    Members
    -------
    arrived, last, tag
        An operation's sums are here, it is the last one of a result, its tag.
    is_summing : ``In(1)``
        It is added to those before; else accumulators are 0.
    is_joined : ``In(1)``
        Only with ``has_halves``, as all that goes by halves: the result is ``addends``; else
        ``lowers``, and ``uppers`` as second half.
    has_second_half : ``In(1)``
        There is one: ``uppers``, or the sums of ``packed_addends`` if ``is_joined``.
    is_wide : ``In(1)``
        Beats are two cycles apart.
    is_square : ``In(1)``
        They are three cycles apart; ``is_wide`` too. Not with as many ``lanes`` as ``outputs``,
        where such results have one beat.
    addends : ``In(ArrayLayout(signed(32), outputs))``
        What an operation adds.
    lowers, uppers : ``In(ArrayLayout(signed(25), outputs))``
        Sums of the depthwise chains.
    maxima : ``In(ArrayLayout(unsigned(16), outputs))``
        Joined with the first beat by OR: either these or the sums are 0.
    packed_addends : ``In(ArrayLayout(signed(20), outputs))``
        Only with ``has_packed``: what an operation adds to those sums.
    results : ``Out(stream.Signature(StructLayout(sums, beat, tag), always_ready=True))``
        As of the `MacArray`.
    """

    def __init__(
        self, *, outputs: int, lanes: int, has_halves: bool, has_packed: bool, tag_bits: int
    ) -> None:
        self.outputs = outputs
        self.lanes = lanes
        self.has_halves = has_halves
        self.has_packed = has_packed and has_halves
        chains = data.ArrayLayout(signed(SUM_BITS), outputs)
        packed = {"packed_addends": In(data.ArrayLayout(signed(_PACKED_SUM_BITS), outputs))}
        result = sums_layout(outputs=outputs, lanes=lanes, tag_bits=tag_bits)
        halves = {
            "is_joined": In(1),
            "has_second_half": In(1),
            "lowers": In(chains),
            "uppers": In(chains),
        }
        super().__init__({
            **(packed if self.has_packed else {}),
            **(halves if has_halves else {}),
            "arrived": In(1),
            "last": In(1),
            "tag": In(tag_bits),
            "is_summing": In(1),
            "is_wide": In(1),
            "is_square": In(1),
            "addends": In(data.ArrayLayout(signed(32), outputs)),
            "maxima": In(data.ArrayLayout(16, outputs)),
            "results": Out(stream.Signature(result, always_ready=True)),
        })

    def elaborate(self, platform: object) -> Module:
        """Build the controls of the beats, then accumulators and output registers."""
        m = Module()
        result = self.results.payload
        loads = Signal()
        advances = Signal()
        is_paused = Signal()
        is_paused_again = Signal()
        half = self.outputs // self.lanes
        pause: Value = is_paused
        if half > 1:
            pause = Mux(self.is_square, is_paused_again, is_paused)
        last_beat: Value = Const(half - 1)
        if self.has_halves:
            last_beat = Mux(self.has_second_half, 2 * half - 1, half - 1)
        m.d.comb += [
            loads.eq(self.arrived & self.last),
            advances.eq(Mux(self.is_wide, pause, self.results.valid)),
        ]
        m.d.sync += [
            self.results.valid.eq(loads),
            is_paused.eq(self.results.valid),
            is_paused_again.eq(is_paused),
        ]
        with m.If(loads):
            m.d.sync += [result.tag.eq(self.tag), result.beat.eq(0)]
        with m.Elif(advances & (result.beat != last_beat)):
            m.d.sync += [self.results.valid.eq(1), result.beat.eq(result.beat + 1)]
        registers, upper_registers = [], []
        for number in range(self.outputs):
            total = self._accumulated(m, f"_{number}", self.addends[number], loads)
            register = Signal(signed(32), name=f"register_{number}", reset_less=True)
            registers.append(register)
            if not self.has_halves:
                with m.If(loads):
                    m.d.sync += register.eq(total | self.maxima[number])
                continue
            upper: Value = self.uppers[number]
            if self.has_packed:
                packed = self._accumulated(
                    m, f"_packed_{number}", self.packed_addends[number], loads
                )
                upper = Mux(self.is_joined, packed, upper)
            upper_register = Signal(upper.shape(), name=f"upper_register_{number}", reset_less=True)
            with m.If(loads):
                # The accumulator is 0 in DEPTHWISE, and the total then the sum of the last cell.
                m.d.sync += [
                    register.eq(
                        Mux(self.is_joined, total, self.lowers[number]) | self.maxima[number]
                    ),
                    upper_register.eq(upper),
                ]
            upper_registers.append(upper_register)
        # Behind a beat, everything moves down by one.
        following = [*registers, *upper_registers][self.lanes :]
        with m.If(advances & ~loads):
            m.d.sync += [
                place.eq(value)
                for place, value in zip([*registers, *upper_registers], following, strict=False)
            ]
        m.d.comb += [
            total.eq(register) for total, register in zip(result.sums, registers, strict=False)
        ]
        return m

    def _accumulated(self, m: Module, name: str, addend: Value, clears: Signal) -> Signal:
        """Return the sum of what has come since the last result, and of what comes now."""
        accumulator = Signal(signed(32), name=f"accumulator{name}")
        total = Signal(signed(32), name=f"total{name}")
        # In this order the choice of addend costs no LUT of its own.
        m.d.comb += total.eq(accumulator + addend)
        with m.If(clears):
            m.d.sync += accumulator.eq(0)
        with m.Elif(self.arrived & self.is_summing):
            m.d.sync += accumulator.eq(total)
        return total
