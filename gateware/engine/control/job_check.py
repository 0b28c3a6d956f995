"""Rules for the fields of a compute job."""

import math
from typing import Any

from amaranth import Cat, Module, Mux, Signal, Value
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from kiwicha.contract.depthwise import (
    LINE_COLUMNS,
    MAX_PASS_COLUMNS,
    MAX_UNIT_KERNEL,
    UNIT_TAPS,
    passes_of,
)
from kiwicha.contract.engine import (
    BLOCK_KINDS,
    DEEP_GROUP_WORDS,
    DEEP_MACS,
    ELEMENT_KINDS,
    GROUP_WORDS,
    LINE_BYTES,
    MAX_DEPTHWISE_COLUMNS,
    MAX_SOFTMAX_DEPTH,
    MAX_U8,
    MAX_U16,
    OUTPUT_BYTES,
    SHORT_FLAGS,
    TABLE_KINDS,
    EngineError,
    JobFlag,
    JobKind,
    SumFlag,
    has_gathered,
    has_packed,
    job_kinds,
)
from kiwicha.contract.moves import MoveFlag
from kiwicha.contract.short_elements import has_short_elements
from kiwicha.gateware.engine.control.interfaces import ERROR_BITS
from kiwicha.gateware.engine.descriptors import JOB, MOVE

__all__ = ["JOB_WORDS", "JobCheck", "field_of", "word_index_of"]

JOB_WORDS = JOB.size // (8 * LINE_BYTES)
"""Words of DRAM that a descriptor occupies."""

_MAX_INTERVAL = 8
_ALL_FLAGS = (1 << JOB["flags"].width) - 1
_ZERO_POINT_BITS = 9
_MOVE_WORDS = int(MOVE["reserved"].offset) // (8 * LINE_BYTES)
"""Words in which a MOVE, RECURRENT or SHORT_ELEMENTS job has other fields than the first ones of a
job, or nothing."""


def word_index_of(name: str) -> int:
    """Return the number of the word that holds a field of the descriptor."""
    return int(JOB[name].offset) // (8 * LINE_BYTES)


def field_of(word: Value, name: str) -> Any:
    """Return a field of the descriptor from the word that holds it."""
    field = JOB[name]
    first = field.offset % (8 * LINE_BYTES)
    value = word[first : first + field.width]
    return value.as_signed() if field.shape.signed else value


class JobCheck(wiring.Component):
    """Refuse jobs that would hang the address generators, or that the weight buffer cannot hold.

    Addresses in the scratchpad wrap at its size: of them, only the first output is checked.

    Latency: 1 cycle from a word to ``error``, which stays.

    Parameters
    ----------
    scratchpad_bytes : int
        Its size.
    macs : int
        Products per cycle of the array: PACKED needs 128 or 256.
    has_codec : bool
        Weights can be CODED.
    has_blocks : bool
        Only those of `BLOCK_KINDS` can.
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
    takes : ``In(1)``
        A word of a descriptor is here.
    index : ``In(range(JOB_WORDS))``
        Which one.
    word : ``In(128)``
    transfers : ``In(16)``
        Transfers in the list.
    error : ``Out(EngineError)``
        What is wrong, or 0.
    """

    def __init__(
        self,
        *,
        scratchpad_bytes: int,
        macs: int,
        has_codec: bool = True,
        has_blocks: bool = False,
        is_resident: bool = False,
        has_softmax: bool = False,
        has_depthwise: bool = False,
        has_int16: bool = False,
        has_recurrent: bool = False,
    ) -> None:
        self.scratchpad_bytes = scratchpad_bytes
        self.macs = macs
        self.is_deep = macs == DEEP_MACS
        self.has_codec = has_codec
        self.has_blocks = has_blocks
        self.is_resident = is_resident
        self.has_softmax = has_softmax
        self.has_depthwise = has_depthwise
        self.has_int16 = has_int16
        self.has_elements = has_short_elements(macs, has_int16=has_int16)
        self.has_recurrent = has_recurrent
        super().__init__({
            "takes": In(1),
            "index": In(range(JOB_WORDS)),
            "word": In(8 * LINE_BYTES),
            "transfers": In(16),
            "error": Out(ERROR_BITS),
        })

    def elaborate(self, platform: object) -> Module:
        """Build the rules of each word."""
        m = Module()
        windowless = ELEMENT_KINDS | {JobKind.MOVE}
        if self.has_softmax:
            windowless |= {JobKind.SOFTMAX}
        if self.has_recurrent:
            windowless |= {JobKind.RECURRENT}
        if self.has_elements:
            windowless |= {JobKind.SHORT_ELEMENTS}
        kinds = job_kinds(
            has_softmax=self.has_softmax,
            has_depthwise=self.has_depthwise,
            has_recurrent=self.has_recurrent,
            has_elements=self.has_elements,
        )
        kind, flags = field_of(self.word, "kind"), field_of(self.word, "flags")
        is_depthwise = Signal()
        has_windows = Signal()
        has_8_taps = Signal()
        has_beats = Signal()
        is_move = Signal()
        is_max = Signal()
        is_softmax = Signal()
        is_deep = Signal()
        is_unit = Signal()
        is_packed = (flags & self._packed_flag).any()
        with m.If(self.takes & (self.index == word_index_of("kind"))):
            m.d.sync += [
                is_depthwise.eq(kind == JobKind.DEPTHWISE),
                has_windows.eq(~Cat(kind == known for known in windowless).any()),
                is_softmax.eq(kind == JobKind.SOFTMAX),
                is_unit.eq((kind == JobKind.DEPTHWISE_UNIT) if self.has_depthwise else 0),
                is_move.eq(self._has_own_fields(kind)),
                is_max.eq(kind == JobKind.MAX),
                has_8_taps.eq((flags & JobFlag.TAPS_8).any()),
                has_beats.eq((kind == JobKind.DEPTHWISE) | is_packed),
            ]
        if self.is_deep:
            with m.If(self.takes & (self.index == word_index_of("kind"))):
                m.d.sync += [has_8_taps.eq(1), is_deep.eq(is_packed)]
        output_address = field_of(self.word, "output_address")
        rules = {
            EngineError.OUTSIDE_SCRATCHPAD: {
                "output_address": output_address >= self.scratchpad_bytes
            },
            EngineError.BAD_FIELD: self._bad_fields(
                is_depthwise,
                has_windows,
                has_8_taps,
                has_beats,
                is_max,
                is_move,
                is_softmax,
                is_deep,
                is_unit,
            ),
            EngineError.BAD_KIND: {"kind": ~Cat(kind == known for known in kinds).any()},
        }
        with m.If(self.takes & (self.error == EngineError.NONE)):
            # Later rules win.
            for error, fields in rules.items():
                for index in range(JOB_WORDS):
                    broken = [rule for name, rule in fields.items() if word_index_of(name) == index]
                    # All values of the fields of moves and their like are legal.
                    is_checked = ~is_move if 0 < index < _MOVE_WORDS else 1
                    with m.If((self.index == index) & Cat(*broken).any() & is_checked):
                        m.d.sync += self.error.eq(error)
        return m

    @property
    def _packed_flag(self) -> JobFlag:
        return JobFlag.PACKED if has_packed(self.macs) else JobFlag(0)

    def _has_own_fields(self, kind: Value) -> Value:
        """Return whether a job has other fields than most, to be written anywhere."""
        found = kind == JobKind.MOVE
        if self.has_recurrent:
            found |= kind == JobKind.RECURRENT
        if self.has_elements:
            found |= kind == JobKind.SHORT_ELEMENTS
        return found

    def _bad_flags(self, kind: Value, flags: Value) -> Value:
        """Return whether flags are unknown, or those of another kind of job."""
        known = JobFlag(sum(JobFlag)) & ~JobFlag.PACKED | self._packed_flag
        known &= ~JobFlag(0) if self.has_codec else ~JobFlag.CODED
        known &= ~JobFlag(0) if self.has_softmax else ~JobFlag.LOGARITHMS
        known &= ~JobFlag(0) if has_gathered(self.macs) else ~JobFlag.GATHERED
        known &= ~JobFlag.FUSED if self.has_depthwise else ~JobFlag(0)
        known &= ~JobFlag(0) if self.is_resident else ~(JobFlag.HELD | JobFlag.LOADS)
        known &= ~JobFlag(0) if self.has_int16 else ~SHORT_FLAGS
        bad = (flags & ~int(known) & _ALL_FLAGS).any()
        is_for_conv = (flags & int(known & (JobFlag.PACKED | JobFlag.GATHERED))).any()
        bad |= is_for_conv & (kind != JobKind.CONV)
        is_sum = (kind == JobKind.ADD) | (kind == JobKind.CONV)
        is_fused = (flags & JobFlag.FUSED).any()
        is_square = (flags & JobFlag.SQUARE).any()
        bad |= is_fused & (~is_sum | is_square)
        bad |= is_square & ~Cat(kind == known for known in TABLE_KINDS).any()
        if self.has_int16:
            has_sums = Cat(kind == known for known in sorted(BLOCK_KINDS)).any()
            is_short, is_wide = ((flags & bit).any() for bit in (JobFlag.SHORT, JobFlag.WIDE))
            if self.has_elements:
                is_elements = kind == JobKind.SHORT_ELEMENTS
                bad |= is_elements & (flags != int(JobFlag.WIDE | JobFlag.SHORT))
                has_sums |= is_elements
            bad |= (flags & int(SHORT_FLAGS)).any() & ~has_sums
            bad |= is_short & (is_fused | ~is_wide)
        if self.has_blocks:
            has_block = Cat(kind == known for known in sorted(BLOCK_KINDS)).any()
            bad |= (flags & JobFlag.CODED).any() & ~has_block
            is_held, loads = ((flags & bit).any() for bit in (JobFlag.HELD, JobFlag.LOADS))
            bad |= is_held & (~has_block | ((flags & JobFlag.CODED).any() & ~loads))
            bad |= loads & ~is_held
        if self.has_softmax:
            bad |= (flags & JobFlag.LOGARITHMS).any() & (kind != JobKind.SOFTMAX)
        if self.has_recurrent:
            others = (flags & (_ALL_FLAGS & ~int(JobFlag.SHORT))).any()
            bad = Mux(kind == JobKind.RECURRENT, others, bad)
        bad_move = ~Cat(flags == known for known in (0, *MoveFlag)).any()
        return Mux(kind == JobKind.MOVE, bad_move, bad)

    def _bad_fields(
        self,
        is_depthwise: Signal,
        has_windows: Signal,
        has_8_taps: Signal,
        has_beats: Signal,
        is_max: Signal,
        is_move_job: Signal,
        is_softmax: Signal,
        is_deep: Signal,
        is_unit: Signal,
    ) -> dict[str, Value]:
        """Return for each field with a rule whether it breaks it."""
        counts = (
            "input_rows",
            "output_rows",
            "output_columns",
            "stride_rows",
            "dilation_rows",
            "kernel_rows",
            "segments",
        )

        def field(name: str) -> Any:
            return field_of(self.word, name)

        rules: dict[str, Value] = {name: has_windows & (field(name) == 0) for name in counts}
        rules["groups"] = field("groups") == 0
        rules["group_words"] = (field("group_words") == 0) | (field("group_words") > GROUP_WORDS)
        if self.is_deep:
            rules["group_words"] |= is_deep & (field("group_words") > DEEP_GROUP_WORDS)
        is_move = self._has_own_fields(field("kind"))
        rules["flags"] = self._bad_flags(field("kind"), field("flags"))
        rules["interval"] = (field("interval") == 0) | (field("interval") > _MAX_INTERVAL)
        rules["wait_transfers"] = field("wait_transfers") > self.transfers
        goes_anywhere = is_move
        if self.has_elements:
            goes_anywhere &= field("kind") != JobKind.SHORT_ELEMENTS
        if self.has_softmax:
            goes_anywhere |= field("kind") == JobKind.SOFTMAX
        rules["output_address"] = ~goes_anywhere & (field("output_address") % OUTPUT_BYTES).any()
        for name in ("output_pixel_bytes", "output_row_step"):
            rules[name] = has_windows & (field(name) % OUTPUT_BYTES).any()
        known_sums = SumFlag(sum(SumFlag))
        known_sums &= ~SumFlag(0) if self.has_int16 else ~SumFlag.SHIFTED
        unknown = Mux(is_move_job | is_softmax, 0xFF, 0xFF & ~int(known_sums))
        rules["sums"] = (field("sums") & unknown).any()
        rules["gives_positions"] = (field("gives_positions") & Mux(is_max, 0xFE, 0xFF)).any()
        reserved = ["reserved_1"] if self.is_resident else ["reserved_1", "resident_word"]
        if self.has_depthwise:
            rules["wait_group_step"] = ~is_unit & field("wait_group_step").any()
            rules["wait_row_step"] = field("wait_row_step")[1:].any()
            rules["waits_in_pairs"] = (field("waits_in_pairs") & Mux(is_unit, 0xFE, 0xFF)).any()
        else:
            reserved += ["wait_rows", "wait_group_step", "wait_row_step", "waits_in_pairs"]
        for name in reserved:
            rules[name] = field(name).any()
        for name in ("weights_offset", "weights_bytes"):
            rules[name] = (field(name) % LINE_BYTES).any()
        rules["segment_words"] = ~is_depthwise & (field("segment_words") == 0)
        if self.has_softmax:
            rules["output_rows"] |= is_softmax & (field("output_rows") == 0)
            rules["segment_words"] |= is_softmax & (field("segment_words") > MAX_SOFTMAX_DEPTH)
        rules["row_words"] = ~is_depthwise & has_windows & (field("row_words") == 0)
        for taps, limit in ((0, MAX_DEPTHWISE_COLUMNS // 2), (1, MAX_DEPTHWISE_COLUMNS)):
            rules["segments"] |= is_depthwise & (has_8_taps == taps) & (field("segments") > limit)
        rules["first_phase"] = is_depthwise & (field("first_phase") >= field("stride_columns"))
        if self.has_depthwise:
            self._add_unit_rules(rules, is_unit)
        is_known = Cat(field("last_beats") == beats for beats in (1, 2)).any()
        rules["last_beats"] = has_beats & ~is_known
        high = field("weight_zero_point")[_ZERO_POINT_BITS - 1 :]
        rules["weight_zero_point"] = high.any() & ~high.all()
        if self.has_elements:
            # Of a window of numbers it is the step between its rows.
            rules["weight_zero_point"] &= ~is_move_job
        return rules

    def _add_unit_rules(self, rules: dict[str, Value], is_unit: Signal) -> None:
        """Add the rules of the depthwise unit's jobs."""
        passes = math.prod(passes_of(MAX_UNIT_KERNEL, MAX_UNIT_KERNEL))
        limits = {
            "kernel_rows": (1, MAX_UNIT_KERNEL),
            "segments": (1, MAX_UNIT_KERNEL),
            "row_words": (1, LINE_COLUMNS),
            "output_columns": (1, LINE_COLUMNS),
            "segment_words": (UNIT_TAPS + 1, MAX_PASS_COLUMNS),
            "stride_columns": (1, MAX_U8),
            "group_words": (1, passes),
            "skip_results": (0, MAX_UNIT_KERNEL - 1),
            "first_index": (1, MAX_U16),
            "sums": (0, 0),
            "dilation_rows": (1, 1),
        }
        for name, (low, high) in limits.items():
            value = field_of(self.word, name)
            broken = is_unit & ((value < low) | (value > high))
            rules[name] = rules[name] | broken if name in rules else broken
        flags, kind = field_of(self.word, "flags"), field_of(self.word, "kind")
        others = _ALL_FLAGS & ~int(JobFlag.CODED | JobFlag.UNSIGNED)
        rules["flags"] |= (kind == JobKind.DEPTHWISE_UNIT) & (flags & others).any()
