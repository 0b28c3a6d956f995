"""Descriptors of compute jobs: checked once, then handed to weight loader and sequencer."""

from amaranth import Cat, Const, Module, Signal, Value
from amaranth.lib import stream, wiring
from amaranth.lib.fifo import SyncFIFO
from amaranth.lib.wiring import In, Out

from kiwicha.contract.engine import (
    DEEP_MACS,
    LINE_BYTES,
    EngineError,
    JobFlag,
    JobKind,
    has_packed,
)
from kiwicha.contract.short_elements import has_short_elements
from kiwicha.gateware.engine.control.interfaces import ERROR_BITS
from kiwicha.gateware.engine.control.job_check import (
    JOB_WORDS,
    JobCheck,
    field_of,
    word_index_of,
)
from kiwicha.gateware.engine.descriptors import JOB
from kiwicha.gateware.engine.memory.interfaces import READ_BEAT
from kiwicha.gateware.engine.weights.interfaces import WEIGHTS_JOB

__all__ = ["JobFetcher"]

_QUEUE_WORDS = 32


class JobFetcher(wiring.Component):
    """Check descriptors and pass them on; after an error nothing more comes out.

    Throughput: a descriptor in `JOB_WORDS` cycles, once ``weights`` took the one before it. Up to 6
    wait behind ``jobs`` for their turn.

    Parameters
    ----------
    scratchpad_bytes : int
        Its size.
    macs : int
        Products per cycle of the array.
    has_codec : bool
        Weights can be coded.
    has_blocks : bool
        The code is that of blocks.
    is_resident : bool
        Words of weights can be kept.
    has_softmax : bool
        There are SOFTMAX jobs.
    has_depthwise : bool
        There are DEPTHWISE_UNIT jobs.
    has_int16 : bool
        There are jobs of int16.
    has_recurrent : bool
        There are RECURRENT jobs.

    Members
    -------
    beats : ``In(stream.Signature(READ_BEAT))``
        Descriptors, `JOB_WORDS` each.
    transfers : ``In(16)``
        Transfers in the list.
    weights : ``Out(stream.Signature(WEIGHTS_JOB))``
        Jobs in order.
    jobs : ``Out(stream.Signature(JOB))``
        Jobs in order.
    number : ``Out(16)``
        Jobs found good, of which the last is the one in ``weights``.
    error : ``Out(EngineError)``
        What is wrong with the next one, or 0.
    """

    def __init__(
        self,
        *,
        scratchpad_bytes: int,
        macs: int,
        has_codec: bool,
        has_blocks: bool = False,
        is_resident: bool = False,
        has_softmax: bool = False,
        has_depthwise: bool = False,
        has_int16: bool = False,
        has_recurrent: bool = False,
    ) -> None:
        self.check = JobCheck(
            scratchpad_bytes=scratchpad_bytes,
            macs=macs,
            has_codec=has_codec,
            has_blocks=has_blocks,
            is_resident=is_resident,
            has_softmax=has_softmax,
            has_depthwise=has_depthwise,
            has_int16=has_int16,
            has_recurrent=has_recurrent,
        )
        self.is_resident = is_resident
        self.has_softmax = has_softmax
        self.has_depthwise = has_depthwise
        self.has_recurrent = has_recurrent
        self.has_elements = has_short_elements(macs, has_int16=has_int16)
        self.has_packed = has_packed(macs)
        self.is_deep = macs == DEEP_MACS
        super().__init__({
            "beats": In(stream.Signature(READ_BEAT)),
            "transfers": In(16),
            "weights": Out(stream.Signature(WEIGHTS_JOB)),
            "jobs": Out(stream.Signature(JOB)),
            "number": Out(16),
            "error": Out(ERROR_BITS),
        })

    def elaborate(self, platform: object) -> Module:
        """Build the way of the words through the check into the queue."""
        m = Module()
        m.submodules.check = check = self.check
        m.submodules.queue = queue = SyncFIFO(width=8 * LINE_BYTES, depth=_QUEUE_WORDS)
        word = self.beats.payload.data
        index = Signal(range(JOB_WORDS))
        takes, ends, ends_s1, has_weights, is_good = (
            Signal(name=name) for name in ("takes", "ends", "ends_s1", "has_weights", "is_good")
        )
        m.d.comb += [
            check.takes.eq(takes),
            check.index.eq(index),
            check.word.eq(word),
            check.transfers.eq(self.transfers),
            self.error.eq(check.error),
            is_good.eq(check.error == EngineError.NONE),
            self.beats.ready.eq(queue.w_rdy & ~has_weights & is_good),
            takes.eq(self.beats.valid & self.beats.ready),
            ends.eq(takes & (index == JOB_WORDS - 1)),
            queue.w_en.eq(takes),
            queue.w_data.eq(word),
            self.weights.valid.eq(has_weights & is_good),
        ]
        m.d.sync += ends_s1.eq(ends)
        with m.If(takes):
            m.d.sync += index.eq(index + 1)
        with m.If(ends):
            m.d.sync += [index.eq(0), has_weights.eq(1)]
        with m.If(self.weights.valid & self.weights.ready):
            m.d.sync += has_weights.eq(0)
        with m.If(ends_s1 & is_good):
            m.d.sync += self.number.eq(self.number + 1)
        self._note_weights(m, takes, index, word)
        self._offer_jobs(m, queue, is_good)
        return m

    def _note_weights(self, m: Module, takes: Signal, index: Signal, word: Value) -> None:
        """Keep what the weights need while the words pass."""
        record = Signal(WEIGHTS_JOB, reset_less=True)
        m.d.comb += self.weights.payload.eq(record)
        flags = field_of(word, "flags")
        kind = field_of(word, "kind")
        is_depthwise = kind == JobKind.DEPTHWISE
        is_packed = (flags & JobFlag.PACKED).any() if self.has_packed else Const(0)
        has_table = (kind == JobKind.ADD) | (kind == JobKind.TABLE)
        if self.has_softmax:
            has_table |= kind == JobKind.SOFTMAX
        has_no_weights = kind == JobKind.MOVE
        if self.has_recurrent:
            has_no_weights |= kind == JobKind.RECURRENT
        if self.has_elements:
            has_no_weights |= kind == JobKind.SHORT_ELEMENTS
        fields = {
            "flags": [
                record.is_unsigned.eq((flags & JobFlag.UNSIGNED).any()),
                record.is_table.eq(has_table),
                record.is_fused.eq(
                    0
                    if self.has_depthwise
                    else (kind == JobKind.ADD) & (flags & JobFlag.FUSED).any()
                ),
                record.has_double_groups.eq(
                    0
                    if self.is_deep
                    else (is_depthwise & ~(flags & JobFlag.TAPS_8).any()) | is_packed
                ),
                record.is_packed.eq(is_packed),
                record.is_coded.eq((flags & JobFlag.CODED).any()),
                record.is_shared.eq((flags & JobFlag.SHARED).any()),
                record.is_move.eq(has_no_weights),
                record.is_held.eq((flags & JobFlag.HELD).any() if self.is_resident else 0),
                record.loads.eq((flags & JobFlag.LOADS).any() if self.is_resident else 0),
                record.is_unit.eq((kind == JobKind.DEPTHWISE_UNIT) if self.has_depthwise else 0),
            ],
            "groups": [record.groups.eq(field_of(word, "groups"))],
            "group_words": [record.group_words.eq(field_of(word, "group_words"))],
            "weights_offset": [record.offset.eq(field_of(word, "weights_offset") // LINE_BYTES)],
            "weights_bytes": [record.words.eq(field_of(word, "weights_bytes") // LINE_BYTES)],
            "weight_zero_point": [record.zero_point.eq(field_of(word, "weight_zero_point"))],
        }
        if self.is_resident:
            fields["resident_word"] = [record.resident_word.eq(field_of(word, "resident_word"))]
        for name, assignments in fields.items():
            with m.If(takes & (index == word_index_of(name))):
                m.d.sync += assignments

    def _offer_jobs(self, m: Module, queue: SyncFIFO, is_good: Signal) -> None:
        """Collect a whole descriptor from the queue; words are shifted in from above."""
        words = Signal(range(JOB_WORDS + 1))
        job = Signal(JOB, reset_less=True)
        is_whole = Signal()
        m.d.comb += [
            is_whole.eq(words == JOB_WORDS),
            self.jobs.payload.eq(job),
            self.jobs.valid.eq(is_whole & is_good),
            queue.r_en.eq(~is_whole),
        ]
        with m.If(queue.r_en & queue.r_rdy):
            m.d.sync += words.eq(words + 1)
            m.d.sync += job.eq(Cat(Value.cast(job)[8 * LINE_BYTES :], queue.r_data))
        with m.If(self.jobs.valid & self.jobs.ready):
            m.d.sync += words.eq(0)
