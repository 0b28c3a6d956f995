"""What a job keeps busy: cycles of what its descriptor describes."""

import math
from dataclasses import dataclass
from functools import lru_cache

from kiwicha.compiler.engine.cost.move_work import move_cycles, move_lines
from kiwicha.contract.codec import BEAT_BYTES, CHUNK_BITS, LANES
from kiwicha.contract.engine import (
    ELEMENT_KINDS,
    OUTPUT_BYTES,
    PAIR_KINDS,
    TABLE_STREAM_KINDS,
    EngineJob,
    JobFlag,
    JobKind,
    SumFlag,
    outputs_of,
)
from kiwicha.contract.latencies import (
    ADDRESS_START_CYCLES,
    BLOCK_GROUP_CYCLES,
    BLOCK_STREAM_CYCLES,
    DECODER_GROUP_CYCLES,
    DECODER_STREAM_CYCLES,
    ELEMENT_START_CYCLES,
    FUSED_BEAT_CYCLES,
    FUSED_SUM_CYCLES,
    MOVE_DRAIN_CYCLES,
    MOVE_START_CYCLES,
    RECURRENT_DRAIN_CYCLES,
    RECURRENT_SHORT_CYCLES,
    RECURRENT_START_CYCLES,
    RECURRENT_UNIT_CYCLES,
    RECURRENT_WRITES,
    ROW_START_CYCLES,
    SHORT_DRAIN_CYCLES,
    SHORT_FINAL_CYCLES,
    SHORT_START_CYCLES,
    SOFTMAX_DRAIN_CYCLES,
    SOFTMAX_LOGARITHM_CYCLES,
    SOFTMAX_MAXIMUM_CYCLES,
    SOFTMAX_RECIPROCAL_CYCLES,
    SOFTMAX_SCAN_BYTES,
    SOFTMAX_START_CYCLES,
    SOFTMAX_WRITE_BYTES,
    drain_cycles,
    short_beat_cycles,
)
from kiwicha.contract.moves import TILE_ROWS, AnyJob, EngineMove
from kiwicha.contract.recurrences import EngineRecurrence
from kiwicha.contract.short_elements import EngineShortElements, ShortForm, ShortOperator
from kiwicha.program.codec.blocks import in_steps
from kiwicha.program.codec.streams import Shape
from kiwicha.program.weight_streams import channels_per_group, stream_shape

__all__ = [
    "JOB_CYCLES",
    "Work",
    "block_decoder_cycles",
    "decoder_cycles",
    "job_work",
    "mean_fill_cycles",
    "result_cycles",
]

JOB_CYCLES = 60.0
"""Estimate of what a job takes besides its work, and some more: few stripes are better than many.
`timeline` says more exactly what a list takes."""
CHUNK_MEETING = 1 / 20
"""Cycles that the lanes of the decoder lose for a chunk, because others ask at the same time."""

BEAT_MEETING = 1 / 20
"""The same for the lanes of the decoder of blocks, for a beat."""
SHORT_WRITES = 2
"""Writes of a beat of results of int16."""


@dataclass(frozen=True)
class Work:
    """What one group of a job keeps busy, in cycles.

    Parameters
    ----------
    operations : int
        Cycles in which the array or the tables work.
    held : int
        Cycles in which the requantizer holds operations back.
    late : int
        Pauses between rows that are too short.
    start : int
        From weights and address generator being ready to the first operation.
    last_row : int
        Of all that, the last output row, beside which the next group starts.
    groups : int
        Groups of the job.
    fill_bytes : float
        Weight stream of a group, as stored; on average.
    fill_cycles : int
        What decoding it and the weight buffer need, at least.
    first_fill_cycles : int
        What the first group of a job needs more.
    writes, last_writes : float
        Cycles in which results, and no transfer, have the scratchpad's line port: of each group
        but the last, and of the last one, which may leave beats out.
    burst, last_burst : int
        How many of them follow each other, likewise.
    drain : int
        From the last operation of the job to its end.
    """

    operations: int
    held: int
    late: int
    start: int
    last_row: int
    groups: int
    fill_bytes: float
    fill_cycles: int
    first_fill_cycles: int
    writes: float
    last_writes: float
    burst: int
    last_burst: int
    drain: int

    @property
    def cycles(self) -> int:
        """From the first operation to the last."""
        return self.operations + self.held + self.late

    @property
    def mean_writes(self) -> float:
        """Of `writes` and `last_writes`, the average of all groups."""
        return self.writes - (self.writes - self.last_writes) / self.groups


@lru_cache(maxsize=1 << 14)
def job_work(job: AnyJob, macs: int, requantizer_cycles: int = 1, has_blocks: bool = False) -> Work:
    """Return what a job does, from its descriptor.

    Parameters
    ----------
    job : EngineJob, EngineMove, EngineRecurrence or EngineShortElements
        The job.
    macs : int
        Products per cycle.
    requantizer_cycles : int
        As `Config.requantizer_cycles`.
    has_blocks : bool
        As `Config.has_blocks`.
    """
    if not isinstance(job, EngineJob):
        return _weightless_work(job)
    kind = JobKind(job.kind)
    if kind is JobKind.DEPTHWISE_UNIT:
        # Its rows are `unit_work`'s; here are its weights.
        return Work(0, 0, 0, 0, 0, job.groups, *_fills(job, macs, has_blocks), 0, 0, 1, 1, 0)
    interval = job.interval * requantizer_cycles
    fills = _fills(job, macs, has_blocks)
    drain = drain_cycles(macs, outputs_of(macs) // requantizer_cycles)
    if kind in ELEMENT_KINDS:
        reads = 2 if kind in PAIR_KINDS else 1
        operations = reads * job.segment_words
        held = max(interval - reads, 0) * job.segment_words
        start = ELEMENT_START_CYCLES
        has_results = not (job.sums & SumFlag.KEEP or job.flags & JobFlag.FUSED)
        lines = job.segment_words * requantizer_cycles if has_results else 0
        # The next group starts behind the last one.
        burst = requantizer_cycles
        writes = lines, lines, burst, burst
        return Work(operations, held, 0, start, 0, job.groups, *fills, *writes, drain)
    if kind is JobKind.SOFTMAX:
        return _softmax_work(job, fills)
    total = held = late = previous = 0
    start = ADDRESS_START_CYCLES
    known: dict[int, tuple[int, int, int]] = {}
    for row in range(job.output_rows):
        above, inside = _kernel_rows(job, row)
        if inside not in known:
            known[inside] = _row(job, kind, inside, interval)
        operations, waits, first_wait = known[inside]
        needed = ROW_START_CYCLES + above
        if row == 0:
            start += above
            # The first result of a group has nothing to keep its distance from.
            waits -= first_wait
        else:
            late += max(needed - previous, 0)
        previous = operations + waits
        total, held = total + operations, held + waits
    # Where a beat has two halves, leaving one out leaves none of its cycles free.
    beats = channels_per_group(macs, kind, JobFlag(job.flags)) // outputs_of(macs)
    results = job.output_rows * job.output_columns * requantizer_cycles
    if job.sums & SumFlag.KEEP:
        results = 0
    if job.flags & JobFlag.FUSED:
        # Of each beat both lines are read, and sums are written by words.
        octets = outputs_of(macs) // requantizer_cycles
        parts = max(octets // OUTPUT_BYTES, 1)
        results *= 1 + parts * (2 + min(octets, OUTPUT_BYTES) // TILE_ROWS)
        drain += FUSED_SUM_CYCLES + (parts * requantizer_cycles * beats - 1) * FUSED_BEAT_CYCLES
    last_beats = min(job.last_beats, beats)
    # The beats of a result follow each other, and lower bytes of int16 the upper ones.
    each = SHORT_WRITES if job.flags & JobFlag.SHORT else 1
    bursts = each * requantizer_cycles * beats, each * requantizer_cycles * last_beats
    writes = each * results * beats, each * results * last_beats, *bursts
    return Work(total, held, late, start, previous, job.groups, *fills, *writes, drain)


def _weightless_work(job: EngineMove | EngineRecurrence | EngineShortElements) -> Work:
    """Return the work of a job without a weight stream."""
    if isinstance(job, EngineMove):
        return _move_work(job)
    return _recurrent_work(job) if isinstance(job, EngineRecurrence) else _short_work(job)


def _move_work(move: EngineMove) -> Work:
    cycles, lines = move_cycles(move), move_lines(move)
    start, drain = MOVE_START_CYCLES, MOVE_DRAIN_CYCLES
    return Work(cycles, 0, 0, start, 0, 1, 0, 0, 0, lines, lines, 1, 1, drain)


def _recurrent_work(job: EngineRecurrence) -> Work:
    more = RECURRENT_SHORT_CYCLES if job.flags & JobFlag.SHORT else 0
    cycles, writes = job.units * RECURRENT_UNIT_CYCLES, job.units * (RECURRENT_WRITES + more)
    start, drain = RECURRENT_START_CYCLES, RECURRENT_DRAIN_CYCLES + more
    return Work(cycles, 0, 0, start, 0, 1, 0, 0, 0, writes, writes, 1, 1, drain)


def _short_work(job: EngineShortElements) -> Work:
    beats, cycles = job.blocks * job.rows * job.columns, short_beat_cycles(job)
    burst = 1 if job.form == ShortForm.WHOLE else SHORT_WRITES
    writes = beats * burst
    start = SHORT_START_CYCLES
    drain = SHORT_DRAIN_CYCLES + SHORT_FINAL_CYCLES[ShortOperator(job.operator)]
    counts = beats * cycles, 0, 0, start, 0, 1, 0, 0, 0
    return Work(*counts, writes, writes, burst, burst, drain)


def _softmax_work(job: EngineJob, fills: tuple[float, int, int]) -> Work:
    depth, rows = job.segment_words, job.output_rows
    scan = -(-depth // SOFTMAX_SCAN_BYTES)
    has_logarithms = bool(job.flags & JobFlag.LOGARITHMS)
    after_sum = SOFTMAX_LOGARITHM_CYCLES if has_logarithms else SOFTMAX_RECIPROCAL_CYCLES
    pauses = SOFTMAX_MAXIMUM_CYCLES + after_sum - 2
    cycles = rows * (scan + 2 * depth + pauses)
    # Words are written, of which the first and the last of a row may be no whole ones.
    writes = rows * (depth / SOFTMAX_WRITE_BYTES + 1)
    start, drain = SOFTMAX_START_CYCLES, SOFTMAX_DRAIN_CYCLES
    return Work(cycles, 0, 0, start, 0, job.groups, *fills, writes, writes, 1, 1, drain)


def _fills(job: EngineJob, macs: int, has_blocks: bool) -> tuple[float, int, int]:
    """Return `Work.fill_bytes`, `Work.fill_cycles` and `Work.first_fill_cycles`."""
    shape = stream_shape(job, macs)
    taken = math.ceil(_taken(shape, job, macs))
    if not job.flags & JobFlag.CODED:
        return shape.raw_bytes / job.groups, taken, 0
    stored = job.weights_bytes / job.groups
    if has_blocks:
        return stored, block_decoder_cycles(shape, job.weights_bytes), BLOCK_STREAM_CYCLES
    return stored, max(decoder_cycles(shape, job.weights_bytes), taken), DECODER_STREAM_CYCLES


def mean_fill_cycles(job: EngineJob, macs: int, has_blocks: bool = False) -> float:
    """Return `Work.fill_cycles` as the average that it is, not rounded up.

    The first groups have all parameters, with SHARED later ones a part of them, and groups differ
    in what their decoder takes. A cycle more for each is much where there are many short ones, as
    in a pool.

    Parameters
    ----------
    job : EngineJob
        The job.
    macs : int
        Products per cycle.
    has_blocks : bool
        As `Config.has_blocks`.
    """
    shape = stream_shape(job, macs)
    taken = _taken(shape, job, macs)
    if not job.flags & JobFlag.CODED:
        return taken
    if has_blocks:
        # What was measured is nearer to what is rounded up: `BEAT_MEETING` is low.
        return block_decoder_cycles(shape, job.weights_bytes)
    return max(_decoder_cycles(shape, job.weights_bytes), taken)


def _taken(shape: Shape, job: EngineJob, macs: int) -> float:
    """Return the cycles that the weight buffer needs for a group that is not coded, on average."""
    # A word of a table goes to as many outputs at a time as there are.
    beats = BEAT_BYTES // outputs_of(macs) if job.kind in TABLE_STREAM_KINDS else 1
    return _head(shape) + shape.body * beats


def _head(shape: Shape) -> float:
    """Return the beats of parameters of a group, on average."""
    return sum(shape.heads) / shape.groups


def block_decoder_cycles(shape: Shape, coded_bytes: int) -> int:
    """Return the cycles that the decoder of blocks needs for a group of a stream, on average."""
    heads, steps = in_steps(shape)
    beats = coded_bytes / BEAT_BYTES - heads.sum()
    gaps = BLOCK_GROUP_CYCLES * (heads > 0)
    decoded = max(steps.sum(), beats) + beats * BEAT_MEETING
    return math.ceil(float(decoded + heads.sum() + gaps.sum()) / shape.groups)


def decoder_cycles(shape: Shape, coded_bytes: int) -> int:
    """Return the cycles that the decoder needs for a group of a coded stream, rounded up."""
    return math.ceil(_decoder_cycles(shape, coded_bytes))


def _decoder_cycles(shape: Shape, coded_bytes: int) -> float:
    """Return the same on average."""
    steps = shape.body * BEAT_BYTES // LANES
    head = _head(shape)
    chunks = (coded_bytes / shape.groups - BEAT_BYTES * head) * 8 / CHUNK_BITS
    decoded = max(steps, chunks) + chunks * CHUNK_MEETING
    return head + decoded + DECODER_GROUP_CYCLES


def _kernel_rows(job: EngineJob, row: int) -> tuple[int, int]:
    """Return the kernel rows above the input that are skipped, and those that are visited."""
    if job.flags & (JobFlag.PACKED | JobFlag.GATHERED):
        return 0, job.kernel_rows
    first = job.first_row + row * job.stride_rows
    above = min(max(math.ceil(-first / job.dilation_rows), 0), job.kernel_rows - 1)
    left = job.kernel_rows - above
    start = first + above * job.dilation_rows
    below = math.ceil((job.input_rows - start) / job.dilation_rows)
    return above, max(min(left, below), 1)


def _row(job: EngineJob, kind: JobKind, inside: int, interval: int) -> tuple[int, int, int]:
    """Return the operations of an output row, its waits for the requantizer, and the first wait.

    Parameters
    ----------
    job : EngineJob
        The job.
    kind : JobKind
        Its kind.
    inside : int
        Kernel rows that are visited.
    interval : int
        Cycles from one result to the next, at least.
    """
    if kind is not JobKind.DEPTHWISE:
        # Words of a gathered window are not those of its rows.
        count = job.group_words if job.flags & JobFlag.GATHERED else inside * job.row_words
        wait = max(interval - count, 0)
        return job.output_columns * count, job.output_columns * wait, wait
    counts = _depthwise_results(job, inside)
    waits = [max(interval - count, 0) for count in counts]
    return sum(counts), sum(waits), waits[0]


def _depthwise_results(job: EngineJob, inside: int) -> list[int]:
    """Return the operations of each step to a result, dropped ones included."""
    steps = job.skip_results + job.output_columns
    columns = -(-job.row_span // job.column_step)
    counts = []
    column = 0
    for step in range(steps):
        phases = job.stride_columns - (job.first_phase if step == 0 else 0)
        within = min(max(columns - column, 0), phases)
        counts.append(within * inside + phases - within)
        column += phases
    return counts


def result_cycles(job: EngineJob, requantizer_cycles: int = 1) -> tuple[int, int]:
    """Return the fewest and the most operations of a result of a CONV job.

    Parameters
    ----------
    job : EngineJob
        The job.
    requantizer_cycles : int
        As `Config.requantizer_cycles`: of so many they count as one.
    """
    visited = {_kernel_rows(job, row)[1] for row in range(job.output_rows)}
    counts = [_row(job, JobKind.CONV, inside, 1)[0] // job.output_columns for inside in visited]
    return min(counts) // requantizer_cycles, max(counts) // requantizer_cycles
