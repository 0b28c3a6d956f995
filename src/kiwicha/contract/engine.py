"""The engine's part of the contract: jobs, transfers, instructions, error codes and limits.

The CPU hands over a list in DRAM: compute jobs, then transfers, each in order of execution. Jobs
read and write the scratchpad; transfers move bytes between DRAM and the scratchpad. Both run at the
same time; `wait_transfers` and `wait_jobs` say what must be complete before one may start. The
weights of a job are fetched while earlier jobs compute.

Tensors in the scratchpad are int8 NHWC with a pitch per pixel; what a job writes has a pitch that
is a multiple of `OUTPUT_BYTES`.
"""

import enum
from dataclasses import dataclass

from kiwicha.contract.floats import FLOAT_BYTES
from kiwicha.contract.layout import Ref, Struct, i8, i16, i32, ref, u8, u16, u32

__all__ = [
    "BLOCK_KINDS",
    "COMPUTE_KINDS",
    "ELEMENT_KINDS",
    "PAIR_KINDS",
    "SHORT_FLAGS",
    "TABLE_KINDS",
    "TABLE_STREAM_KINDS",
    "ComputedListCall",
    "EngineCall",
    "EngineError",
    "EngineJob",
    "EngineOp",
    "EngineTransfer",
    "JobFlag",
    "JobKind",
    "SumFlag",
    "TransferFlag",
    "has_gathered",
    "has_packed",
    "input_lanes_of",
    "job_kinds",
    "last_unit_of",
    "outputs_of",
]

INPUT_LANES = 8
"""Bytes of a segment that one cycle of a convolution consumes, but see `input_lanes_of`; a weight
word serves one cycle."""
OUTPUT_BYTES = 8
"""What the pitch of a job's results is a multiple of."""
DEEP_MACS = 256
"""Products per cycle of the engine whose packed jobs consume 2 x `INPUT_LANES` bytes per cycle."""
PACKED_MACS = (128, DEEP_MACS)
"""Products per cycle of the engines whose multipliers do two each, in jobs with
`JobFlag.PACKED`."""
GATHERING_MACS = (64, 128)
"""Products per cycle of the engines that have jobs with `JobFlag.GATHERED`."""
CARRIED_LANES = 4
"""Bytes of the kernel row before that a word of such a job can begin with, at most."""
PACKED_WEIGHT_LIMIT = 127
"""Largest size of the second weight of a multiplier in such a job: of an output in the second half
of its group."""
PACKED_WEIGHTS_LIMIT = 1023
"""Largest sum of the sizes of `INPUT_LANES` first weights: 18 bits have their sum of products."""
READ_BYTES = 16
"""Bytes that one scratchpad read gives, at any alignment."""
LINE_BYTES = 16
"""Bytes of a line of the scratchpad, and of a word of the DRAM port."""
TRANSFER_FLAG = 1 << 31
"""In `EngineTransfer.dram_offset`: the Program's range. In its `bytes`: scratchpad to DRAM."""
TRANSFER_ERROR = 1 << 15
"""In the number of an error that `EngineOp.WAIT` answers: it is a transfer's."""
GROUP_WORDS = 256
"""Weight words of a group, at most: half of the weight buffer, whose other half is being filled."""
DEEP_GROUP_WORDS = 128
"""The same of words for twice `INPUT_LANES` bytes."""
GROUP_PARAMETER_BYTES = 12
"""Stream bytes of one channel's bias, multiplier and shift, int32 each."""
MAX_U8 = 2**8 - 1
"""Largest value of a field of 8 bits, such as a stride or the rows of a kernel."""
MAX_U16 = 2**16 - 1
"""Largest value of a field of 16 bits, such as the bytes of an input row."""
MAX_LEFT_BYTES = 2**15
"""Bytes of padding left of a row, at most: `EngineJob.first_offset` is int16."""
MAX_TOP_BYTES = 2**18
"""Bytes of padding above an image, at most."""
SUM_BITS = 25
"""Signed bits of sums in the array: 128 products of any 9-bit numbers fit. One pass of the
requantizer takes so many, and all sums of depthwise jobs must have them."""
SQUARE_BITS = 16
"""Signed bits of sums that the requantizer squares."""
SQUARE_INTERVAL = 3
"""`EngineJob.interval` of such jobs: a pass for the square, and two to scale it."""
MAX_KERNEL_ROWS = MAX_U8
MAX_DEPTHWISE_COLUMNS = 8
MAX_INPUT_ZERO_POINT = -128
"""Of a MAX job: bytes less it are 0 or more, and 0 is what counts outside the image."""
MAX_POSITIONS = 256
"""Bytes of a window of which a MAX job gives positions, at most, and what a position counts in its
sum."""
TABLE_ENTRIES = 256
TABLE_ENTRY_BYTES = 8
"""An int32 of each of two tables."""
FUSED_BITS = 26
"""Signed bits of the terms that a job with `JobFlag.FUSED` adds, and of their sum."""
FUSED_FRACTION_BITS = 14
"""Those of them behind the binary point."""
PAUSED_FLAG = 1 << 30
"""In what `EngineOp.WAIT` and STATUS answer: the list has stopped between jobs, to go on later. No
list stops between jobs of which one leaves sums or tables for the other."""
ENGINE_WATCHDOG_CYCLES = 200_000_000
"""What the firmware allows a list to take: two seconds."""
MAX_KEPT_SUMS = 4096
"""Sums of the memory of sums: what a job with `SumFlag` adds to, or leaves for the next one."""
MAX_SOFTMAX_DEPTH = 4095
"""Elements of a row of a SOFTMAX job, at most: the sum of their exponentials fits an int32."""
MAX_JOBS = 1024
"""Jobs of one list whose end times are kept for `EngineOp.JOB_END`."""


class EngineOp(enum.IntEnum):
    """Ops of `Group.ENGINE`."""

    RANGE = 0
    """index 0: the Program, read only; 1: the arena. inputs_0: first byte, inputs_1: size, both
    multiples of 16. Answers 0, or 1 and no effect while the engine runs."""
    START = 1
    """inputs_0: offset of the list in the Program, a multiple of 16; inputs_1: number of jobs (low
    half) and transfers (high half). Answers 0, or 1 and no effect while the engine runs. index 1,
    on an engine with `Config.is_preemptible`: the list that is started next goes on behind as many
    jobs and transfers as inputs_0 says, in the halves of a word. Answers likewise."""
    WAIT = 2
    """Answers when the engine has stopped: 0, or `EngineError` * 65536 + the number of the job, or
    `TRANSFER_ERROR` + that of the transfer."""
    STATUS = 3
    """Answers at once: bit 31 while the engine runs, the rest as for WAIT. On an engine with
    `Config.is_preemptible` index 1 asks it to stop before the next job as well. A list that has
    stopped so ends with `PAUSED_FLAG` and the number of that job. index 2: answers how many jobs
    (low half) and transfers (high half) of the list are complete."""
    WATCHDOG = 4
    """inputs_0: cycles that a list may take, 1 or more; after a reset 2**32 - 1. Answers 0."""
    COUNTER = 5
    """index: `EngineCounter`. Answers its value for the last list."""
    JOB_END = 6
    """inputs_0: job number. Answers the cycle, counted from START, in which its last result was
    written."""
    PEEK = 7
    """inputs_0: byte address in the scratchpad, a multiple of 4. index 0: answers the word there.
    index 1: the word becomes inputs_1; answers 0. Only while the engine is stopped."""


class EngineCounter(enum.IntEnum):
    """What `EngineOp.COUNTER` counts, in cycles of the last list."""

    TOTAL = 0
    BUSY = 1
    """Operations issued to the array or the tables."""
    WAIT_WEIGHTS = 2
    """Compute waited for its weights."""
    WAIT_TRANSFERS = 3
    """Compute waited for a transfer."""
    WAIT_REQUANTIZER = 4
    """Compute waited for the requantizer (`interval`)."""


class EngineError(enum.IntEnum):
    """Why the engine stopped."""

    NONE = 0
    WATCHDOG = 1
    BAD_KIND = 2
    BAD_FIELD = 3
    """A field is outside its range."""
    OUTSIDE_RANGE = 4
    """A DRAM address lies outside the ranges."""
    OUTSIDE_SCRATCHPAD = 5
    BAD_STREAM = 6
    """A weight stream is truncated, has bytes left over, or is coded with a wrong check sum."""


ENGINE_ERROR_TEXT = {
    EngineError.NONE: "no error",
    EngineError.WATCHDOG: "the list has taken longer than the watchdog allows",
    EngineError.BAD_KIND: "a job is of a kind that this engine does not have",
    EngineError.BAD_FIELD: "a field of a job is outside its range",
    EngineError.OUTSIDE_RANGE: "an address in memory is outside Program and arena",
    EngineError.OUTSIDE_SCRATCHPAD: "an address is outside the scratchpad",
    EngineError.BAD_STREAM: "a weight stream is cut short, too long, or has a wrong check sum",
}


class JobKind(enum.IntEnum):
    """What a job computes."""

    CONV = 1
    """Sums over windows of all input channels."""
    DEPTHWISE = 2
    """Sums over windows of each channel; with ONES, pooling."""
    ADD = 3
    """Two tensors through a table of int32 each, and their sum requantized."""
    TABLE = 4
    """One tensor through a table of int32, requantized: by 2**30 and shift 1, one of int8."""
    MAX = 5
    """Largest byte over windows of each channel, less the zero point, requantized."""
    MUL = 6
    """Products of two tensors, requantized."""
    MOVE = 7
    """Bytes from place to place, as an `EngineMove` says."""
    SOFTMAX = 8
    """Probabilities of the bytes of each row, or their logarithms, by tables; on an engine with
    `Config.has_softmax`, which others refuse with `EngineError.BAD_KIND`."""
    DEPTHWISE_UNIT = 9
    """Sums over windows of each channel by the unit beside the array; on an engine with
    `Config.has_depthwise`, which others refuse likewise."""
    RECURRENT = 10
    """A step of an LSTM, as an `EngineRecurrence` says; on an engine with `Config.has_recurrent`,
    which others refuse likewise."""
    SHORT_ELEMENTS = 11
    """Operators of int16 number by number, and largest numbers of windows, as an
    `EngineShortElements` says; on an engine with `Config.has_short_elements`, which others
    refuse likewise."""


TABLE_KINDS = frozenset({JobKind.ADD, JobKind.TABLE})
"""Jobs of tables."""
TABLE_STREAM_KINDS = TABLE_KINDS | {JobKind.SOFTMAX}
"""Jobs whose weight stream has tables."""
BLOCK_KINDS = frozenset({JobKind.CONV, JobKind.DEPTHWISE})
"""Jobs whose streams are coded on an engine with `Config.has_blocks`; others refuse the flag."""
COMPUTE_KINDS = frozenset(JobKind) - {JobKind.MOVE, JobKind.RECURRENT, JobKind.SHORT_ELEMENTS}
"""Jobs with a weight stream: those of an `EngineJob`."""
ELEMENT_KINDS = TABLE_KINDS | {JobKind.MUL}
"""Jobs of bytes, each on its own, or with that of a second tensor."""
PAIR_KINDS = ELEMENT_KINDS - {JobKind.TABLE}
"""Jobs of two tensors."""


def job_kinds(
    *,
    has_softmax: bool,
    has_depthwise: bool = False,
    has_recurrent: bool = False,
    has_elements: bool = False,
) -> list[JobKind]:
    """Return the kinds of jobs that an engine has."""
    missing = set() if has_softmax else {JobKind.SOFTMAX}
    missing |= set() if has_depthwise else {JobKind.DEPTHWISE_UNIT}
    missing |= set() if has_recurrent else {JobKind.RECURRENT}
    missing |= set() if has_elements else {JobKind.SHORT_ELEMENTS}
    return [kind for kind in JobKind if kind not in missing]


class JobFlag(enum.IntFlag):
    """Bits of `EngineJob.flags`."""

    WIDE = 1
    """Accumulators need more than 25 bits after the left shift; interval counts for 2."""
    TAPS_8 = 2
    """DEPTHWISE: up to 8 taps wide, half as many channels per group; with `DEEP_MACS` no effect:
    all jobs are so."""
    ONES = 4
    """DEPTHWISE: word 0 serves every kernel row and phase. For sums: its weights are the same. MAX:
    word 0 serves everything."""
    CODED = 8
    """The words of the weight stream are coded, its parameters not; see `program.codec.streams`. On
    an engine with `Config.has_blocks` see `program.codec.blocks`: weights are then what is decoded,
    less the weight zero point, modulo 256, as int8, whether they are UNSIGNED or not."""
    UNSIGNED = 16
    """Weight bytes are uint8: the weight zero point is subtracted from 0 to 255."""
    PACKED = 32
    """CONV on an engine of `PACKED_MACS`: two products per multiplier, a group of 16 channels.
    Weights are -127 to 127. Inputs are not reduced by the zero point: it is what they have outside
    the image, and the bias contains its product with all weights. Interval counts for 2, but not
    with `DEEP_MACS`, where a word has 16 inputs instead."""
    CHANNELS = 64
    """ADD, TABLE, MUL: a group is a beat of channels of all pixels; the second tensor has one."""
    LOGARITHMS = 128
    """SOFTMAX: results are logarithms of the probabilities."""
    GATHERED = 512
    """CONV on an engine of `GATHERING_MACS`: a word begins where the segment of the kernel row
    before ends, so that only the last word of a window has bytes of no weight. Kernel rows outside
    the input are not skipped."""
    FUSED = 1024
    """ADD: there are no results; its tables are kept for CONV jobs with this flag. CONV: to each
    result, once it is written, a byte of a second tensor is added by the last tables kept. An
    engine with a depthwise unit refuses it."""
    SHORT = 256
    """CONV, DEPTHWISE, SHORT_ELEMENTS, with WIDE, on an engine with `Config.has_int16`: results are
    int16. Upper
    bytes go where results go, and are limited by the clamp. Lower ones go input_2_address, modulo
    2**32, behind these; where the clamp has changed the upper one they are 0 or 255. The output's
    zero point is 0. Not with FUSED."""
    SQUARE = 2048
    """ADD, TABLE, with WIDE: not the sum is requantized, but its square. Sums have `SQUARE_BITS`
    signed bits, interval is `SQUARE_INTERVAL`, and all channels have one multiplier and shift."""
    SHARED = 4096
    """Groups from the third on have biases only in the weight stream. Multipliers and shifts are
    those of the group two before."""
    HELD = 8192
    """CONV, DEPTHWISE, on an engine with `Config.resident_words`: the words of group g are those
    that it keeps from ``resident_word + g * group_words`` on, modulo their number. Without LOADS
    the stream has parameters only, and is not CODED."""
    LOADS = 16384
    """With HELD: the stream has the words as well, which are written there. Nothing else does."""
    LOWER = 32768
    """CONV, DEPTHWISE, on an engine with `Config.has_int16`: input bytes have no sign, as lower
    bytes of int16. 128 is subtracted from each that is inside, before the zero point is."""


class SumFlag(enum.IntFlag):
    """Bits of `EngineJob.sums`: what results have to do with the memory of sums.

    It holds int32 in the order in which results come, beat by beat, of a job of windows, or an
    element-wise one, with up to `MAX_KEPT_SUMS` of them; beats that are dropped do not count. A job
    that continues comes after one that has kept as many.
    """

    NONE = 0
    """Nothing."""
    KEEP = 1
    """Sums are kept there, instead of being requantized and written."""
    CONTINUE = 2
    """What is there is added to the sums, instead of the bias."""
    SHIFTED = 4
    """On an engine with `Config.has_int16`: sums of the array count 256 times, as those of upper
    bytes of int16."""


class TransferFlag(enum.IntFlag):
    """Bits of `EngineTransfer.flags`, one at most."""

    FLOAT = 1
    """The DRAM side is float32, the scratchpad's int8: a load quantizes, a store dequantizes, as
    the last TABLE says. Offset and address are multiples of 16. `bytes` are those of the DRAM side,
    a multiple of 4; what follows up to the next multiple of 16 there, and of 4 in the scratchpad,
    may be overwritten."""
    TABLE = 2
    """A load, not to the scratchpad but to the converter of FLOAT; the address is 0. The bytes are
    a table of `kiwicha.contract.floats`."""


SHORT_FLAGS = JobFlag.SHORT | JobFlag.LOWER
"""Flags of jobs of int16."""
TABLE_TRANSFER = TransferFlag.TABLE.value
"""That flag, for C."""


def has_packed(macs: int) -> bool:
    """Return whether the multipliers of an engine do two products each, where a job asks for it."""
    return macs in PACKED_MACS


def has_gathered(macs: int) -> bool:
    """Return whether words of an engine can have bytes of two kernel rows."""
    return macs in GATHERING_MACS


def outputs_of(macs: int) -> int:
    """Return the results of one beat: one for every 8 multipliers of an engine."""
    multipliers = macs // 2 if has_packed(macs) else macs
    return multipliers // INPUT_LANES


def input_lanes_of(macs: int, flags: JobFlag) -> int:
    """Return the bytes of a segment that a weight word of a CONV job is for."""
    is_deep = macs == DEEP_MACS and bool(flags & JobFlag.PACKED)
    return 2 * INPUT_LANES if is_deep else INPUT_LANES


def last_unit_of(macs: int) -> int:
    """Return how many results one of `EngineJob.last_beats` is: a beat, `OUTPUT_BYTES` at most."""
    return min(outputs_of(macs), OUTPUT_BYTES)


@dataclass(frozen=True)
class EngineJob(Struct):
    """One compute job, 96 bytes. Products of strides and pitches are the compiler's work.

    CONV: for each group, output row and column, in this order, the sum over kernel_rows rows of
    segments segments of segment_words words of 8 bytes. Row first_row starts at first_address; the
    first window starts at its byte first_offset. Bytes outside 0 to row_span - 1 of a row, and rows
    outside 0 to input_rows - 1, count as the zero point. A segment is a whole kernel row (segments
    1), or one pixel of it where columns are dilated. With GATHERED segments is 1, segment_words the
    whole words of a segment, 1 or more, and segment_step what its last word lacks, 1 to 7 bytes.
    Kernel rows begin in lanes up to `CARRIED_LANES`, and behind the last whole words of a window
    there is one more: group_words in all.

    A beat is what the array gives at once: 4 channels with 32 products per cycle, 16 with 256, else
    8. An engine whose requantizer has half as many lanes keeps twice the interval. With 256 all
    groups are of a beat, and of the last one half can be left out: last_beats counts halves of it,
    also where the following does not say so. In element-wise jobs with a group_output_step of 0
    that is half of the last result.

    DEPTHWISE: for each group and output row, the input columns from 0 on, kernel_rows inputs each;
    columns from row_span on count as the zero point. Column x has phase ``(x + first_phase) %
    stride_columns``. A result comes with the last row of each column of phase stride_columns - 1;
    the first skip_results of a row are dropped.

    MAX: as CONV of one byte per channel, with a segment for each kernel column: segment_words
    is 1, row_words is segments. A group is a beat of channels. The input's zero point is
    `MAX_INPUT_ZERO_POINT`, so that reduced bytes are 0 to 255, and those outside 0; the result is
    the largest of a window. Flag ONES; the group's only weight word is 0, because the result is
    added to it. With gives_positions 256 times the position of the largest is added: the number of
    its byte in the window, kernel row by kernel row. Of equal bytes the first one counts. Such
    windows have up to 256 bytes, and all of their rows are in the input.

    ADD, TABLE and MUL: result n of group g is a beat of bytes, of which the first tensor's are at
    ``first_address + g * group_input_step + n * column_step``. Those of the second one are as far
    from input_2_address; with CHANNELS n does not count there. A group has segment_words results.

    ADD and TABLE: ``bias + table_1[x1] + table_2[x2]``, requantized, or without the second one;
    with SQUARE the square of that. A byte is taken as unsigned index. The weight stream of a group
    has the parameters of a beat of channels, then for each index int32 table_1 and int32 table_2,
    2048 bytes in all. Zero points of inputs and weights are 0.

    With FUSED an ADD reads and writes nothing of account, and has one group. A CONV behind it, in
    the same list, does not KEEP its sums. To each of its results it adds the byte that is
    input_2_address, modulo 2**32, behind it: the result becomes ``(table_1[x1] + table_2[x2]) >>
    FUSED_FRACTION_BITS``, saturated to int8. That sum has `FUSED_BITS`, as have terms. From one
    result of the CONV to the next there are ``beats * FUSED_BEAT_CYCLES`` cycles or more, by its
    operations or its interval: beats of up to 8 bytes, that is, of the requantizer's lanes. The
    second tensor is not where results go.

    MUL: ``bias + (x1 - input_zero_point) * (x2 - weight_zero_point)``, requantized. The weight
    words of a group have no effect.

    SOFTMAX: output_rows rows of segment_words contiguous elements each, 1 to `MAX_SOFTMAX_DEPTH`.
    Row r is at ``first_address + r * row_step``, and its result at ``output_address + r *
    output_row_step``; all four are any number of bytes. The result is that of TFLite Micro, to
    which output_zero_point is added: -128, or 0 for bytes without a sign; its scale is 1/256. There
    is one group, whose stream is that of a TABLE: any parameters, and as table_1 the exponential of
    each difference to a row's maximum, int32 Q0.31 from 0 to 255, the first of them 2**31 - 1; any
    table_2. interval is 1, flags are CODED and LOGARITHMS; other fields have no effect. Rows do not
    overlap; a result can replace its row.

    With LOGARITHMS the result is that of LOG_SOFTMAX: its scale is 1/16, output_zero_point is 127,
    or -1 for bytes without a sign, and table_2 is the distance from the maximum of each difference,
    int32 Q5.26, 0 to 16.

    DEPTHWISE_UNIT: for each group of 8 channels and output row, the sums over windows of
    kernel_rows rows and segments columns, at most 7 each. Column x of input row y is at
    ``first_address + (y - first_row) * kernel_row_step + x * column_step``; a row has row_words
    columns, at most 256, as an output row has. Row first_row and skip_results columns left of
    column 0 begin the first window; what lies outside counts as the zero point. A group reads
    first_index rows, ``(output_rows - 1) * stride_rows + kernel_rows``; both groups of a pair do so
    together, and give each output row one after the other. group_input_step and group_output_step
    are 8. A group's stream has the
    parameters of 8 channels, then for each of group_words passes (of three kernel rows and three
    kernel columns, row by row) 9 words of 8 weights and one of 0. segment_words is `pass_columns`.
    dilation_rows is 1, weights and sums are those of narrow jobs.

    Jobs of kind DEPTHWISE_UNIT go to the unit, others to the array; each of the two takes its jobs
    in the order of the list, and beside each other. A job waits for rows of the other unit, counted
    from the start of the list: an output row of each group of a job of windows, of each pair of
    groups of one of the unit, counts when it is written, any other job counts once. What waits for
    jobs waits for all that stand before in the list. Weights come in the order of the list: a job
    of the unit may stand before that whose results it reads, if its groups have at most
    `PASS_PLACES` passes and are at most `PARAMETER_PLACES`, together with those of earlier jobs
    that wait for the same.

    Results of group g go to ``output_address + g * group_output_step`` and behind it: each is
    output_pixel_bytes behind the one before it, the first one of an output row output_row_step.
    With `SumFlag.KEEP` nothing is written.
    """

    kind: int = u8("JobKind")
    interval: int = u8("cycles between two results, at least: 1 to 8")
    flags: int = u16("JobFlag")
    wait_transfers: int = u16("transfers that must be complete")
    groups: int = u16("groups of output channels")
    first_address: int = i32("scratchpad address of column 0 of row first_row; can be negative")
    output_address: int = u32("scratchpad byte address, a multiple of 8; SOFTMAX: any")
    first_offset: int = i16("-pad_left * pixel pitch; DEPTHWISE: 0")
    row_span: int = u16("input_columns * pixel pitch")
    first_row: int = i16("-pad_top")
    input_rows: int = u16("rows there are")
    output_rows: int = u16("rows to compute; SOFTMAX: rows")
    output_columns: int = u16("columns to compute")
    row_step: int = u32("stride_rows * row pitch; SOFTMAX: row pitch")
    kernel_row_step: int = u32("dilation_rows * row pitch")
    column_step: int = u16(
        "CONV, MAX: stride_columns * pixel pitch. DEPTHWISE: pixel pitch; a beat"
    )
    segment_step: int = u16(
        "dilation_columns * pixel pitch; GATHERED: bytes from a segment's end to that of a word"
    )
    segment_words: int = u16(
        "CONV: words per segment; MAX: 1. ADD, TABLE, MUL: results of a group. SOFTMAX: elements of"
        " a row"
    )
    row_words: int = u16("CONV, MAX: segments * segment_words")
    output_pixel_bytes: int = u16("pitch of an output pixel, a multiple of 8; a beat")
    group_words: int = u16("weight words of one group")
    stride_rows: int = u8("1 or more")
    dilation_rows: int = u8("1 or more")
    kernel_rows: int = u8("1 to 255")
    segments: int = u8(
        "CONV, MAX: segments per kernel row. DEPTHWISE: taps used, ceil(columns / stride)"
    )
    input_zero_point: int = i8("subtracted from every input byte")
    output_zero_point: int = i8("added to every output")
    activation_min: int = i8("clamp")
    activation_max: int = i8("clamp")
    weights_offset: int = u32("weight stream in the Program's range, a multiple of 16")
    weights_bytes: int = u32("its size, a multiple of 16")
    stride_columns: int = u8("DEPTHWISE")
    first_phase: int = u8("DEPTHWISE: pad_left % stride_columns")
    skip_results: int = u8("DEPTHWISE: results of a row to be dropped")
    last_beats: int = u8("DEPTHWISE, PACKED, 256: beats (256: of 8) of the last group, 1 or 2")
    group_input_step: int = u16("channels of a group; CONV: 0")
    group_output_step: int = u16("channels of a group")
    input_2_address: int = u32(
        "ADD, MUL: second tensor. CONV, FUSED: from a result to its byte, a multiple of 8. SHORT:"
        " from upper bytes to lower ones, likewise"
    )
    weight_zero_point: int = i16("subtracted from weight bytes, see UNSIGNED; MUL: from x2, int8")
    first_index: int = u16("DEPTHWISE: first_phase * kernel_rows")
    sums: int = u8("SumFlag")
    gives_positions: int = u8("MAX: 1 if sums have the position of the largest byte, else 0")
    wait_rows: int = u16(
        "with a depthwise unit: rows of the other unit that must be complete before the first input"
        " row is read, modulo 65536; else 0"
    )
    output_row_step: int = u32(
        "windows: from the last output of a row to the first one of the next, a multiple of 8."
        " SOFTMAX: from a row to the next"
    )
    wait_group_step: int = u16(
        "DEPTHWISE_UNIT: as many more for each further group, so for a pair if it has a second one;"
        " else 0"
    )
    wait_row_step: int = u8(
        "0 or 1: as many more for each further input row; CONV: for each further output row of the"
        " first group; else 0"
    )
    waits_in_pairs: int = u8(
        "DEPTHWISE_UNIT: 1 if wait_group_step is for each further pair of groups; else 0"
    )
    layer: int = u8("for reports: number of its layer, counted from that of the step")
    reserved_1: int = u8("0")
    resident_word: int = u16("HELD: where the words of the first group are kept; else 0")


@dataclass(frozen=True)
class EngineTransfer(Struct):
    """One transfer of contiguous bytes, 16 bytes long.

    It can begin at any byte, as far behind a multiple of 16 in DRAM as in the scratchpad, and
    writes its own bytes only.
    """

    dram_offset: int = u32("first byte; in the Program's range if bit 31 is set, else arena's")
    scratchpad_address: int = u32("first byte, equal to dram_offset modulo 16")
    bytes: int = u32("1 or more; bit 31 set: from scratchpad to DRAM")
    wait_jobs: int = u16("jobs that must be complete")
    flags: int = u16("TransferFlag")

    @property
    def is_store(self) -> bool:
        """Whether it goes from the scratchpad to DRAM."""
        return bool(self.bytes & TRANSFER_FLAG)

    @property
    def moved_bytes(self) -> int:
        """How many bytes of DRAM it moves."""
        return self.bytes & ~TRANSFER_FLAG

    @property
    def scratchpad_bytes(self) -> int:
        """How many bytes of the scratchpad it moves."""
        if self.flags & TransferFlag.TABLE:
            return 0
        return self.moved_bytes // (FLOAT_BYTES if self.flags & TransferFlag.FLOAT else 1)

    @property
    def is_in_program(self) -> bool:
        """Whether its DRAM side is the Program's range, not the arena's."""
        return bool(self.dram_offset & TRANSFER_FLAG)

    @property
    def range_offset(self) -> int:
        """First byte in that range."""
        return self.dram_offset & ~TRANSFER_FLAG


@dataclass(frozen=True)
class EngineCall(Struct):
    """A list for the engine.

    Its image is the Program's range: offsets in its jobs and transfers count from there, and the
    list is at its start. The arena's range is the arena. A list that goes on begins with what the
    list before it has left in the scratchpad; no converter's table and no sums are left.

    Weights that it keeps are there from its end on, until another list that keeps weights is
    started, another Program is opened, or a list ends with an error.
    """

    image: Ref = ref("jobs, transfers, weight streams; size and offset are multiples of 16")
    job_count: int = u32("EngineJobs, 1 to MAX_JOBS")
    transfer_count: int = u32("EngineTransfers behind them")
    macs: int = u32("products per cycle of the engine it is for: order of the weights")
    scratchpad_bytes: int = u32("bytes of the scratchpad that it may use")
    overlapped_steps: int = u32("steps of the CPU behind this one that run while the engine works")
    goes_on: int = u16("1 if it goes on where the list before it has ended, else 0")
    is_resident: int = u16(
        "1 if behind it is a list of as many jobs and transfers that takes its place while the"
        " weights which it keeps are there, else 0"
    )


@dataclass(frozen=True)
class ComputedListCall(EngineCall):
    """A list for the engine that lies in the arena, because it multiplies by computed matrices.

    The Program's range of such a list is `computed`. Lists before it have brought there what
    `image` holds, and behind that the weight streams with the matrices.
    """

    computed: Ref = ref("image and computed streams in the arena; size and offset as the image's")
