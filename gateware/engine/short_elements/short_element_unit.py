"""SHORT_ELEMENTS jobs: from reads of the scratchpad to passes of the requantizer."""

from amaranth import Cat, Const, Module, Mux, Signal, Value
from amaranth.lib import data, wiring
from amaranth.lib.wiring import In, Out

from kiwicha.contract.engine import LINE_BYTES
from kiwicha.contract.latencies import (
    LOWER_WRITE_CYCLES,
    PARAMETER_CYCLES,
    SCRATCHPAD_READ_CYCLES,
    SHORT_FINAL_CYCLES,
    SHORT_OPERANDS_CYCLES,
    SHORT_PASS_CYCLES,
    WIDE_REQUANTIZER_CYCLES,
)
from kiwicha.contract.short_elements import ELEMENT_LANES, ShortForm, ShortOperator
from kiwicha.gateware.delay import delayed
from kiwicha.gateware.engine.descriptors import ADDRESS_BITS, JOB, SHORT_ELEMENTS
from kiwicha.gateware.engine.requantize.interfaces import split_shift
from kiwicha.gateware.engine.requantize.requantizer import OPERAND_LEFT
from kiwicha.gateware.engine.short_elements.element_reader import ElementReader
from kiwicha.gateware.engine.short_elements.function_line import FunctionLine
from kiwicha.gateware.engine.short_elements.interfaces import (
    NUMBERS,
    SCALE,
    SHORT_BITS,
    WORDS,
)

__all__ = ["ShortElementUnit"]

_BYTE = 8
_OPERAND = 1
"""Cycles from a beat's numbers to the pass of the last one that has a scale of its own."""
_RESULT_CYCLES = PARAMETER_CYCLES + WIDE_REQUANTIZER_CYCLES + LOWER_WRITE_CYCLES


class ShortElementUnit(wiring.Component):
    """Compute with int16 number by number, by passes of the requantizer.

    ADD and SUB have a pass for each operand; what comes out are the total and, a pass earlier, the
    bias of two more, which scale the sum. MUL has one for the product, and two that scale it.
    LEAKY_RELU and MAX have these two only. LOGISTIC and TANH have one for the argument, and two for
    the value of the function. Passes of one beat are between those of others.

    Throughput: as the `ElementReader`. Latency: `SHORT_START_CYCLES` from ``start`` to the first
    read; ``done`` comes `SCRATCHPAD_READ_CYCLES` before the last write of a result.

    Members
    -------
    job : ``In(JOB)``
        An `EngineShortElements`, stable from ``start`` until the last write.
    start : ``In(1)``
        Begin; only while not ``is_busy``.
    is_busy : ``Out(1)``
        From the cycle after ``start`` to the one before ``done``.
    is_working : ``Out(1)``
        Beats are read.
    done : ``Out(1)``
        The last write comes in `SCRATCHPAD_READ_CYCLES` cycles.
    address : ``Out(ADDRESS_BITS)``
        What is read; unspecified while there is no job.
    read_data : ``In(128)``
        What was there `SCRATCHPAD_READ_CYCLES` ago.
    is_whole : ``Out(1)``
        Both bytes of results lie behind each other; stable, 0 without a job.
    is_difference : ``Out(1)``
        For the requantizer: results of first operands are one more.
    takes : ``Out(1)``
        There are ``totals`` for a pass, or for two, ...
    totals : ``Out(WORDS)``
    place : ``Out(ADDRESS_BITS)``
        ... and that is where the results of two go.
    has_scales : ``Out(1)``
        A cycle behind ``takes``: what follows is for the same pass.
    is_operand, is_product : ``Out(1)``
        It is one for an operand, or for a product.
    scales : ``Out(ArrayLayout(SCALE, ELEMENT_LANES))``
    biases : ``Out(WORDS)``
        What is added.
    others : ``Out(NUMBERS)``
        Second factors of a product.
    raised, products : ``In(WORDS)``
        What comes out of a pass for an operand `SHORT_PASS_CYCLES` behind its ``takes``, and of one
        for a product `SHORT_PRODUCT_CYCLES` behind it.
    """

    def __init__(self) -> None:
        super().__init__({
            "job": In(JOB),
            "start": In(1),
            "is_busy": Out(1),
            "is_working": Out(1),
            "done": Out(1),
            "address": Out(ADDRESS_BITS),
            "read_data": In(8 * LINE_BYTES),
            "is_whole": Out(1),
            "is_difference": Out(1),
            "takes": Out(1),
            "totals": Out(WORDS),
            "place": Out(ADDRESS_BITS),
            "has_scales": Out(1),
            "is_operand": Out(1),
            "is_product": Out(1),
            "scales": Out(data.ArrayLayout(SCALE, ELEMENT_LANES)),
            "biases": Out(WORDS),
            "others": Out(NUMBERS),
            "raised": In(WORDS),
            "products": In(WORDS),
        })
        self._adds = Signal(name="adds")

    def elaborate(self, platform: object) -> Module:
        """Build what keeps the numbers of a beat, and its passes."""
        m = Module()
        m.submodules.reader = reader = ElementReader()
        job = data.View(SHORT_ELEMENTS, self.job.as_value())
        m.d.comb += [
            reader.job.eq(self.job),
            reader.start.eq(self.start),
            self.address.eq(reader.address),
            self.is_working.eq(reader.is_reading),
            self.is_whole.eq(job.form == ShortForm.WHOLE),
            self.is_difference.eq(job.operator == ShortOperator.SUB),
        ]
        read = reader.read
        flags = Cat(read.completes, read.begins)
        completes, begins = delayed(m, flags, SHORT_OPERANDS_CYCLES, "numbers", is_reset=True)
        kept = self._keep(m, completes, begins)
        ends = delayed(
            m, Cat(read.ends, read.is_last), SHORT_OPERANDS_CYCLES, "ends", is_reset=True
        )
        place = delayed(m, read.place, SHORT_OPERANDS_CYCLES, "place")
        later = [ends]
        places = [place]
        for cycle in range(1, max(SHORT_FINAL_CYCLES.values()) + 1):
            following = Signal(2, name=f"ends_{cycle}")
            # What passes of an earlier job have left is not for those of this one.
            m.d.sync += following.eq(Mux(self.start, 0, later[-1]))
            later.append(following)
            places.append(delayed(m, places[-1], 1, f"place_{cycle}"))
        is_final, ends_job = Signal(), Signal()
        with m.Switch(job.operator):
            for operator, cycle in SHORT_FINAL_CYCLES.items():
                with m.Case(operator):
                    m.d.comb += [
                        # The next job's operator comes before its start.
                        Cat(is_final, ends_job).eq(Mux(self.is_busy, later[cycle], 0)),
                        self.place.eq(places[cycle]),
                    ]
        self._pass(m, job, kept, (later[0][0], later[_OPERAND][0], is_final))
        late = _RESULT_CYCLES - SCRATCHPAD_READ_CYCLES
        ends_early = delayed(m, ends_job, late - 1, "ends_early", is_reset=True)
        m.d.comb += self.done.eq(delayed(m, ends_early, 1, "ends_job", is_reset=True))
        with m.If(self.start):
            m.d.sync += self.is_busy.eq(1)
        with m.Elif(ends_early):
            m.d.sync += self.is_busy.eq(0)
        return m

    def _keep(self, m: Module, completes: Value, begins: Value) -> data.View:
        """Build what keeps numbers: the last ones, of a window the largest."""
        lowers = delayed(m, self.read_data[: _BYTE * ELEMENT_LANES], 1, "lowers")
        fresh, kept = (Signal(NUMBERS, name=name, reset_less=True) for name in ("fresh", "kept"))
        is_window = self.job_operator == ShortOperator.MAX
        for lane in range(ELEMENT_LANES):
            octets = [part.word_select(lane, _BYTE) for part in (lowers, self.read_data)]
            whole = self.read_data.word_select(lane, SHORT_BITS)
            m.d.sync += fresh[lane].eq(Mux(self.is_whole, whole, Cat(*octets)))
            takes = ~is_window | begins | (fresh[lane] > kept[lane])
            with m.If(completes & takes):
                m.d.sync += kept[lane].eq(fresh[lane])
        return kept

    @property
    def job_operator(self) -> Value:
        """The job's `ShortOperator`."""
        return data.View(SHORT_ELEMENTS, self.job.as_value()).operator

    def _pass(
        self, m: Module, job: data.View, kept: data.View, passes: tuple[Value, Value, Value]
    ) -> None:
        """Build the passes, given when the first, the second and the last ones of a beat are."""
        first, second, final = passes
        operator = job.operator
        is_sum = (operator == ShortOperator.ADD) | (operator == ShortOperator.SUB)
        is_product = operator == ShortOperator.MUL
        is_tanh = operator == ShortOperator.TANH
        is_function = (operator == ShortOperator.LOGISTIC) | is_tanh
        begins = Mux(is_sum, first, is_function & second)
        is_operand = begins | (is_sum & second)
        held = Signal(WORDS, reset_less=True)
        holds = delayed(m, begins, SHORT_PASS_CYCLES, "begins", is_reset=True)
        with m.If(holds):
            m.d.sync += held.eq(self.raised)
        m.submodules.functions = functions = FunctionLine()
        m.d.comb += [
            functions.start.eq(holds),
            functions.arguments.eq(held),
            functions.is_tanh.eq(is_tanh),
            self.takes.eq(is_operand | (is_product & first) | final),
            self.biases.eq(Mux(self._adds, held.as_value(), 0)),
            self.others.eq(kept),
        ]
        m.d.sync += [
            self.has_scales.eq(self.takes),
            self.is_operand.eq(is_operand),
            self.is_product.eq(is_product & first),
            self._adds.eq(final & is_sum),
        ]
        # A product comes when the second number of the next beat would.
        is_kept = Mux(is_product, first, second | (is_sum & first))
        is_leaky = operator == ShortOperator.LEAKY_RELU
        usual, others = (Signal(SCALE, name=name, reset_less=True) for name in ("usual", "others"))
        first_scale = Cat(job.multiplier_1[:31], Const(OPERAND_LEFT, 5), (-job.shift_1)[:5])
        second_scale = Cat(job.multiplier_2[:31], Const(OPERAND_LEFT, 5), (-job.shift_2)[:5])
        last_scale = Cat(job.output_multiplier[:31], split_shift(job.output_shift))
        # A product is not shifted.
        product_scale = Cat(job.multiplier_1[:31], Const(0, 10))
        chosen = Mux(begins, first_scale, Mux(is_operand, second_scale, last_scale))
        m.d.sync += [
            usual.eq(Mux(is_product & first, product_scale, chosen)),
            others.eq(Cat(job.multiplier_2[:31], split_shift(job.shift_2))),
        ]
        for lane in range(ELEMENT_LANES):
            raised = self.raised[lane] ^ self.is_difference.replicate(32)
            computed = Mux(
                is_product, self.products[lane], Mux(is_sum, raised, functions.values[lane])
            )
            total = self.totals[lane]
            m.d.comb += total.eq(Mux(is_kept, kept[lane], computed.as_signed()))
            is_negative = Signal(name=f"is_negative_{lane}")
            m.d.sync += is_negative.eq(is_leaky & total[-1])
            m.d.comb += self.scales[lane].eq(Mux(is_negative, others.as_value(), usual.as_value()))
