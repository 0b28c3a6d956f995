"""The unit for frames of sound: what its instructions do."""

from typing import Any

from amaranth import Module, Mux, Signal, Value
from amaranth.lib import data, wiring
from amaranth.lib.memory import Memory
from amaranth.lib.wiring import In, Out

from kiwicha.contract.signal import (
    LEAST_HALF_BITS,
    MOST_HALF_BITS,
    SignalBand,
    SignalOp,
    SignalPoint,
    SignalRoot,
)
from kiwicha.gateware.signal.interfaces import NUMBER, PLACE_BITS
from kiwicha.gateware.signal.places import HALF_BITS, FirstPlace
from kiwicha.gateware.signal.products import Products
from kiwicha.gateware.signal.samples import TaperedPoint
from kiwicha.gateware.signal.square_root import SquareRoot
from kiwicha.gateware.signal.transform import Transform

__all__ = ["SIGNAL_COMMAND", "SignalUnit"]

SIGNAL_COMMAND = data.StructLayout({"op": 3, "index": 4, "inputs_0": 32, "inputs_1": 32})
_TAPER_CYCLES = 3
"""From a command with samples until their point is written, and the next command is taken."""
_FOUND, _SUMMED, _STEPS = 2, 5, 6
"""Steps on the way to a frequency: its number comes from the memory, and its energy is summed."""
_SUM_BITS = 64


class SignalUnit(wiring.Component):
    """Execute the instructions of `kiwicha.contract.signal.SignalOp`.

    Cycles from a command to the next one: 1; 3 behind TAPER; 6 behind POINT, and BAND of index 0;
    behind TRANSFORM as `Transform` says, and 7 more. ROOT of index 2 answers when the root is
    there.

    Members
    -------
    start : ``In(1)``
        Execute ``command``; only while not ``is_busy``.
    command : ``In(SIGNAL_COMMAND)``
        Need not be stable without ``start``.
    answer : ``Out(32)``
        Answer to ``command``, in the same cycle; 0 where it has none.
    waits : ``Out(1)``
        The answer to ``command``, if it is started, comes later.
    is_busy : ``Out(1)``
        No instruction of the unit can be started.
    has_answer : ``Out(1)``
        ``late_answer`` is there; for one cycle, while an instruction waits.
    late_answer : ``Out(32)``
        See ``has_answer``.
    """

    def __init__(self) -> None:
        super().__init__({
            "start": In(1),
            "command": In(SIGNAL_COMMAND),
            "answer": Out(32),
            "waits": Out(1),
            "is_busy": Out(1),
            "has_answer": Out(1),
            "late_answer": Out(32),
        })

    def elaborate(self, platform: object) -> Module:
        """Build the memory of points, and what works on it."""
        m = Module()
        m.submodules.points = points = Memory(shape=NUMBER, depth=1 << PLACE_BITS, init=[])
        m.submodules.products = products = Products()
        m.submodules.transform = transform = Transform()
        read, write = points.read_port(), points.write_port()
        is_op = {op: Signal(name=f"is_{op.name.lower()}") for op in SignalOp}
        for op, flag in is_op.items():
            m.d.comb += flag.eq(self.start & (self.command.op == op))
        half_bits = Signal(HALF_BITS, init=LEAST_HALF_BITS)
        magnitude = Signal(16)
        energy, number = Signal(32, reset_less=True), Signal(NUMBER, reset_less=True)
        step = Signal(range(_STEPS))
        taper = Signal(range(_TAPER_CYCLES))
        was_running = Signal()

        m.d.comb += [
            transform.start.eq(is_op[SignalOp.TRANSFORM]),
            transform.half_bits.eq(half_bits),
            transform.number.eq(read.data),
            transform.products.eq(products.o),
            self.is_busy.eq(transform.is_running | was_running | step.any() | taper.any()),
        ]
        m.d.sync += was_running.eq(transform.is_running)
        scale = Signal(5)
        m.d.comb += transform.scale.eq(scale)
        with m.If(transform.start):
            m.d.sync += scale.eq(self.command.inputs_0)

        self._taper(m, is_op, half_bits, magnitude, taper, transform, products, write)
        self._stand(
            m, is_op, half_bits, energy, number, step, was_running, transform, products, read
        )
        sums = self._add(m, is_op, step, products)
        self._find_root(m, is_op, sums)
        self._multiply(m, is_op, energy, step, transform, products, number)

        is_number = self.command.index == SignalPoint.NUMBER
        is_energy = self.command.index == SignalPoint.ENERGY
        point = Mux(is_number, Value.cast(number), Mux(is_energy, energy, 0))
        answers = {
            SignalOp.MAGNITUDE: magnitude,
            SignalOp.POINT: point,
            SignalOp.BITS: _bit_length(self.command.inputs_0),
        }
        with m.Switch(self.command.op):
            for op, value in answers.items():
                with m.Case(op):
                    m.d.comb += self.answer.eq(value)
        return m

    def _taper(
        self,
        m: Module,
        is_op: dict[SignalOp, Signal],
        half_bits: Signal,
        magnitude: Signal,
        taper: Signal,
        transform: Transform,
        products: Products,
        write: Any,
    ) -> None:
        """Build what writes points: samples times weights, and those of a transform."""
        m.submodules.place = place = FirstPlace()
        m.submodules.tapered = tapered = TaperedPoint()
        count = Signal(PLACE_BITS)
        shift = Signal(5)
        bits = self.command.inputs_0[: len(half_bits)]
        is_known = (bits >= LEAST_HALF_BITS) & (bits <= MOST_HALF_BITS)
        with m.If(is_op[SignalOp.BEGIN]):
            m.d.sync += [
                half_bits.eq(Mux(is_known, bits, MOST_HALF_BITS)),
                shift.eq(self.command.inputs_1),
                count.eq(0),
                magnitude.eq(0),
            ]
        is_last = taper == _TAPER_CYCLES - 1
        with m.If(is_op[SignalOp.TAPER]):
            m.d.sync += taper.eq(1)
        with m.Elif(is_last):
            m.d.sync += taper.eq(0)
        with m.Elif(taper.any()):
            m.d.sync += taper.eq(taper + 1)
        with m.If(is_last):
            m.d.sync += [count.eq(count + 1), magnitude.eq(magnitude | tapered.magnitude)]
        m.d.comb += [
            tapered.products.eq(products.o),
            tapered.shift.eq(shift),
            place.number.eq(count),
            place.half_bits.eq(half_bits),
            write.en.eq(transform.write_enable | is_last),
            write.addr.eq(Mux(is_last, place.place, transform.write_place)),
            write.data.eq(Mux(is_last, tapered.number, transform.write_number)),
        ]

    def _stand(
        self,
        m: Module,
        is_op: dict[SignalOp, Signal],
        half_bits: Signal,
        energy: Signal,
        number: data.View,
        step: Signal,
        was_running: Signal,
        transform: Transform,
        products: Products,
        read: Any,
    ) -> None:
        """Build the frequency, its number and its energy."""
        frequency = Signal(PLACE_BITS + 1)
        index = self.command.index
        adds = is_op[SignalOp.BAND] & (index == SignalBand.ADD)
        is_moved = is_op[SignalOp.POINT] | adds
        is_done = was_running & ~transform.is_running
        is_sought = is_op[SignalOp.POINT] & (index == SignalPoint.SEEK)
        with m.If(is_done):
            m.d.sync += frequency.eq(0)
        with m.Elif(is_moved):
            m.d.sync += frequency.eq(Mux(is_sought, self.command.inputs_0, frequency + 1))
        with m.If(is_done | is_moved):
            m.d.sync += step.eq(1)
        with m.Elif(step == _STEPS - 1):
            m.d.sync += step.eq(0)
        with m.Elif(step.any()):
            m.d.sync += step.eq(step + 1)
        m.d.comb += read.addr.eq(Mux(transform.is_running, transform.read_place, frequency))
        with m.If(step == _FOUND):
            is_last = (frequency >> half_bits)[0]
            m.d.sync += [
                number.re.eq(Mux(is_last, transform.last, read.data.re)),
                number.im.eq(Mux(is_last, 0, read.data.im)),
            ]
        with m.If(step == _SUMMED):
            m.d.sync += energy.eq(products.o[0] + products.o[1])

    def _add(
        self, m: Module, is_op: dict[SignalOp, Signal], step: Signal, products: Products
    ) -> list[Signal]:
        """Build the sums of a band and of the next one."""
        sums = [Signal(_SUM_BITS, name=f"band_{k}") for k in range(2)]
        index = self.command.index
        is_band, is_root = is_op[SignalOp.BAND], is_op[SignalOp.ROOT]
        goes_on = (is_band & (index == SignalBand.NEXT)) | (is_root & (index == SignalRoot.OF_BAND))
        is_added = Signal()
        with m.If(is_band & (index == SignalBand.ADD)):
            m.d.sync += is_added.eq(1)
        with m.Elif(step == _FOUND):
            m.d.sync += is_added.eq(0)
        with m.If(is_added & (step == _FOUND)):
            for k, total in enumerate(sums):
                low, high = products.o[2 * k], products.o[2 * k + 1]
                m.d.sync += total.eq(total + low + (high << 16))
        with m.Elif(goes_on):
            m.d.sync += [sums[0].eq(sums[1]), sums[1].eq(0)]
        with m.Elif(is_band & (index == SignalBand.CLEAR)):
            m.d.sync += [total.eq(0) for total in sums]
        return sums

    def _find_root(self, m: Module, is_op: dict[SignalOp, Signal], sums: list[Signal]) -> None:
        """Build the search for roots."""
        m.submodules.square_root = root = SquareRoot()
        command = self.command
        is_waiting = Signal()
        is_band = command.index == SignalRoot.OF_BAND
        is_result = command.index == SignalRoot.RESULT
        number = Mux(is_band, sums[0], (command.inputs_1 << 32) | command.inputs_0)
        m.d.comb += [
            root.start.eq(is_op[SignalOp.ROOT] & ~is_result),
            root.number.eq(number),
            self.waits.eq((command.op == SignalOp.ROOT) & is_result),
            self.has_answer.eq(is_waiting & ~root.is_busy),
            self.late_answer.eq(root.root),
        ]
        with m.If(is_op[SignalOp.ROOT] & is_result):
            m.d.sync += is_waiting.eq(1)
        with m.Elif(self.has_answer):
            m.d.sync += is_waiting.eq(0)

    def _multiply(
        self,
        m: Module,
        is_op: dict[SignalOp, Signal],
        energy: Signal,
        step: Signal,
        transform: Transform,
        products: Products,
        number: data.View,
    ) -> None:
        """Build the choice of what is multiplied."""
        samples = data.View(NUMBER, self.command.inputs_0)
        weights = data.View(NUMBER, self.command.inputs_1)
        band = (self.command.inputs_0[:16], self.command.inputs_1[:16])
        left, right = products.left, products.right
        with m.If(is_op[SignalOp.TAPER]):
            m.d.comb += [
                left[0].eq(samples.re),
                left[1].eq(samples.im),
                right[0].eq(weights.re),
                right[1].eq(weights.im),
            ]
        with m.Elif(is_op[SignalOp.BAND]):
            for k in range(2):
                m.d.comb += [
                    left[2 * k].eq(energy[:16]),
                    left[2 * k + 1].eq(energy[16:]),
                    right[2 * k].eq(band[k]),
                    right[2 * k + 1].eq(band[k]),
                ]
        with m.Elif(transform.is_running):
            m.d.comb += [left.eq(transform.left), right.eq(transform.right)]
        with m.Else():
            m.d.comb += [
                left[0].eq(number.re),
                left[1].eq(number.im),
                right[0].eq(number.re),
                right[1].eq(number.im),
            ]


def _bit_length(word: Value) -> Value:
    """Return how many bits a word has, up to the highest one that is set."""
    if len(word) == 1:
        return word[0]
    middle = len(word) // 2
    low, high = word[:middle], word[middle:]
    has_high = high.any()
    return Mux(has_high, _bit_length(high) + middle, _bit_length(low))
