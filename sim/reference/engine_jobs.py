"""Jobs of the engine in numpy: what the hardware reads, computes and writes, from descriptors only.

Every function follows the walk of the gateware by arithmetic on indices: the same addresses, weight
words and results, in arrays instead of cycles.
"""

import dataclasses
import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from kiwicha.contract.codec import BEAT_BYTES
from kiwicha.contract.depthwise import (
    LINE_COLUMNS,
    MAX_UNIT_KERNEL,
    UNIT_CHANNELS,
    pass_columns,
    passes_of,
)
from kiwicha.contract.engine import (
    BLOCK_KINDS,
    CARRIED_LANES,
    COMPUTE_KINDS,
    DEEP_GROUP_WORDS,
    DEEP_MACS,
    ELEMENT_KINDS,
    GATHERING_MACS,
    GROUP_WORDS,
    INPUT_LANES,
    MAX_INPUT_ZERO_POINT,
    MAX_POSITIONS,
    OUTPUT_BYTES,
    PACKED_MACS,
    PACKED_WEIGHT_LIMIT,
    PACKED_WEIGHTS_LIMIT,
    PAIR_KINDS,
    SHORT_FLAGS,
    SQUARE_INTERVAL,
    TABLE_KINDS,
    EngineJob,
    JobFlag,
    JobKind,
    SumFlag,
    has_gathered,
    has_packed,
    input_lanes_of,
    last_unit_of,
    outputs_of,
)
from kiwicha.errors import ProgramError
from kiwicha.numerics.requantization import wrap_int32
from kiwicha.program.codec import blocks
from kiwicha.program.codec import streams as codec
from kiwicha.program.packed_weights import are_packable
from kiwicha.program.weight_streams import (
    BYTES_OF_PASS,
    Parameters,
    bytes_of_word,
    cells_of_channels,
    channels_per_group,
    stream_shape,
    unpack_conv_words,
    unpack_groups,
    unpack_unit_words,
    with_shared,
)
from kiwicha.sim.reference.engine_elements import (
    element_reads,
    element_write,
    elements,
    overwrites,
)
from kiwicha.sim.reference.engine_fused import (
    brings_tables,
    fused_sums,
    keep_tables,
    second_range,
)
from kiwicha.sim.reference.engine_softmax import (
    is_in_place,
    softmax,
    softmax_read,
    softmax_write,
)
from kiwicha.sim.reference.kept_weights import KeptWeights
from kiwicha.sim.reference.scratchpad import (
    SUM_LIMIT,
    Ints,
    Range,
    Scratchpad,
    requantized,
    requantized_to_shorts,
)

__all__ = ["check_kind", "execute_job", "read_ranges", "written_range"]

_PACKED = " or ".join(map(str, PACKED_MACS))
_GATHERING = " or ".join(map(str, GATHERING_MACS))


@dataclass(frozen=True, eq=False)
class _Rows:
    """Kernel rows of all output rows: address of column 0, and whether it is in the image."""

    addresses: Ints
    is_inside: NDArray[np.bool_]


def _rows(job: EngineJob) -> _Rows:
    outputs = np.arange(job.output_rows)[:, None]
    kernel = np.arange(job.kernel_rows)[None, :]
    row = job.first_row + outputs * job.stride_rows + kernel * job.dilation_rows
    is_unit = job.kind == JobKind.DEPTHWISE_UNIT
    row_step = job.stride_rows * job.kernel_row_step if is_unit else job.row_step
    addresses = job.first_address + outputs * row_step + kernel * job.kernel_row_step
    return _Rows(addresses, (row >= 0) & (row < job.input_rows))


def _results(job: EngineJob) -> Ints:
    """Return where the results of a group of windows go, from the first one on."""
    steps = np.full(job.output_rows * job.output_columns, job.output_pixel_bytes, np.int64)
    steps[:: job.output_columns] = job.output_row_step
    steps[0] = 0
    return steps.cumsum()


def check_kind(job: EngineJob, *, has_int16: bool = False) -> None:
    """Check that the job is one of those that are executed here, with nothing reserved.

    Parameters
    ----------
    job : EngineJob
        The job.
    has_int16 : bool
        The engine has jobs of int16.

    Raises
    ------
    ProgramError
        If not.
    """
    is_for_conv = bool(job.flags & (JobFlag.PACKED | JobFlag.GATHERED))
    is_by_channel = bool(job.flags & JobFlag.CHANNELS)
    is_square = bool(job.flags & JobFlag.SQUARE)
    is_fused = bool(job.flags & JobFlag.FUSED)
    if (
        job.kind not in COMPUTE_KINDS
        or (is_for_conv and job.kind != JobKind.CONV)
        or (is_by_channel and job.kind not in ELEMENT_KINDS)
        or (job.flags & JobFlag.LOGARITHMS and job.kind != JobKind.SOFTMAX)
        or (is_square and job.kind not in TABLE_KINDS)
        or (is_fused and (job.kind not in {JobKind.ADD, JobKind.CONV} or is_square))
        or (job.flags & SHORT_FLAGS and not has_int16)
    ):
        raise ProgramError(f"kind and flags must be known, not {job.kind} and {job.flags:#x}")
    if job.gives_positions > (job.kind == JobKind.MAX):
        raise ProgramError(f"only jobs of maxima must give positions ({job})")
    is_short = bool(job.flags & JobFlag.SHORT)
    is_wide = bool(job.flags & JobFlag.WIDE)
    if (job.flags & SHORT_FLAGS and job.kind not in BLOCK_KINDS) or (
        is_short and (is_fused or not is_wide or job.output_zero_point)
    ):
        raise ProgramError(f"results of 16 bits must be those of wide sums, without more ({job})")
    known = SumFlag(sum(SumFlag)) if job.kind != JobKind.SOFTMAX else SumFlag(0)
    if not has_int16 or job.kind not in BLOCK_KINDS:
        known &= ~SumFlag.SHIFTED
    is_held, loads = bool(job.flags & JobFlag.HELD), bool(job.flags & JobFlag.LOADS)
    if is_held < loads or (is_held and not loads and job.flags & JobFlag.CODED):
        raise ProgramError(f"a job must hold weights that it loads, and code no others ({job})")
    if job.sums & ~int(known) or job.reserved_1 or (job.resident_word and not is_held):
        raise ProgramError(f"sums must be known, and what is reserved 0 ({job})")


def read_ranges(job: EngineJob, macs: int) -> list[Range]:
    """Return first byte and end of what a job reads as data."""
    if job.kind in ELEMENT_KINDS:
        return [] if brings_tables(job) else element_reads(job, macs)
    if job.kind == JobKind.SOFTMAX:
        return [softmax_read(job)]
    rows = _rows(job)
    addresses = rows.addresses[rows.is_inside]
    span = job.row_span
    if job.kind == JobKind.DEPTHWISE_UNIT:
        span = (job.row_words - 1) * job.column_step + job.groups * UNIT_CHANNELS
    found = [(int(addresses.min()), int(addresses.max()) + span)] if addresses.size else []
    if job.flags & JobFlag.FUSED:
        found.append(second_range(job, written_range(job, macs)))
    return found


def written_range(job: EngineJob, macs: int) -> Range:
    """Return first byte and end of what a job writes."""
    if job.sums & SumFlag.KEEP or brings_tables(job):
        return 0, 0
    if job.kind in ELEMENT_KINDS:
        return element_write(job, macs)
    if job.kind == JobKind.SOFTMAX:
        return softmax_write(job)
    last = int(_results(job).max()) + (job.groups - 1) * job.group_output_step
    end = job.output_address + last + _last_channels(job, macs)
    lower = _lower_step(job)
    return job.output_address + min(lower, 0), end + max(lower, 0)


def _lower_step(job: EngineJob) -> int:
    """Return how far lower bytes of results lie behind upper ones; 0 if results are bytes."""
    if not job.flags & JobFlag.SHORT:
        return 0
    return (job.input_2_address + 2**31) % 2**32 - 2**31


def _last_channels(job: EngineJob, macs: int) -> int:
    """Return the channels of the last group of windows that are written."""
    if job.kind == JobKind.DEPTHWISE_UNIT:
        return UNIT_CHANNELS
    is_counted = job.kind == JobKind.DEPTHWISE or job.flags & JobFlag.PACKED or macs == DEEP_MACS
    return job.last_beats * last_unit_of(macs) if is_counted else outputs_of(macs)


def execute_job(
    job: EngineJob,
    stream: bytes,
    macs: int,
    scratchpad: Scratchpad,
    *,
    has_blocks: bool = False,
    kept: KeptWeights | None = None,
) -> None:
    """Execute a job.

    Parameters
    ----------
    job : EngineJob
        Descriptor.
    stream : bytes
        Its weight stream.
    macs : int
        Products per cycle.
    scratchpad : Scratchpad
        Read and written.
    has_blocks : bool
        Coded streams are in blocks.
    kept : KeptWeights or None
        Words that the engine keeps, if it keeps any.

    Raises
    ------
    ProgramError
        If the descriptor contradicts itself or the stream, or if a number does not fit the
        register it comes to.
    """
    _check(job, macs, len(scratchpad.bytes))
    try:
        original = job
        job, raw = _uncoded(job, stream, macs, has_blocks)
        if original.flags & JobFlag.HELD:
            job, raw = _with_kept(job, raw, macs, kept)
        execute = keep_tables if brings_tables(job) else _JOBS[JobKind(job.kind)]
        execute(job, raw, macs, scratchpad)
    except (ValueError, codec.CodecError) as error:
        raise ProgramError(str(error)) from error


def _uncoded(job: EngineJob, stream: bytes, macs: int, has_blocks: bool) -> tuple[EngineJob, bytes]:
    """Return a job and its stream, with all parameters, as if it were not coded."""
    shape = stream_shape(job, macs)
    if job.flags & JobFlag.CODED:
        if has_blocks and job.kind not in BLOCK_KINDS:
            raise ProgramError(f"a job with blocks must be one of convolutions ({job})")
        stream = _decoded(stream, shape, has_blocks)
        if has_blocks:
            stream = blocks.with_weights(stream, shape, job.weight_zero_point)
            flags = JobFlag(job.flags) & ~JobFlag.UNSIGNED
            job = dataclasses.replace(job, flags=flags, weight_zero_point=0)
    return job, with_shared(stream, shape)


def _with_kept(
    job: EngineJob, stream: bytes, macs: int, kept: KeptWeights | None
) -> tuple[EngineJob, bytes]:
    """Return a job whose words are kept, and its stream, as if they came with it."""
    if kept is None or not kept.size or job.kind not in BLOCK_KINDS:
        raise ProgramError(f"only convolutions of engines that keep weights can have them ({job})")
    shape = stream_shape(job, macs)
    whole = dataclasses.replace(shape, later_head=None)
    word_bytes = bytes_of_word(macs, JobFlag(job.flags))
    count = job.groups * job.group_words
    if job.flags & JobFlag.LOADS:
        weights = blocks.weights_of(
            stream, whole, job.weight_zero_point, is_unsigned=bool(job.flags & JobFlag.UNSIGNED)
        )
        if weights is None:
            raise ProgramError(f"weights that are kept must have eight bits ({job})")
        kept.write(job.resident_word, weights.reshape(count, word_bytes))
    words = kept.read(job.resident_word, count, word_bytes)
    heads, _ = codec.split(stream, whole)
    body = dataclasses.replace(whole, body=job.group_words * word_bytes // BEAT_BYTES)
    flags = JobFlag(job.flags) & ~JobFlag.UNSIGNED
    return (
        dataclasses.replace(job, flags=flags, weight_zero_point=0),
        blocks.joined(heads, words.view(np.uint8).reshape(-1, BEAT_BYTES), body),
    )


@lru_cache(maxsize=16)
def _decoded(stream: bytes, shape: codec.Shape, has_blocks: bool) -> bytes:
    """Return a stream as it was before it was coded; jobs of one layer have the same."""
    if has_blocks:
        return blocks.decode(stream, shape)
    return codec.decode(stream, shape)


def _check(job: EngineJob, macs: int, size: int) -> None:
    flags = JobFlag(job.flags)
    is_packed = bool(flags & JobFlag.PACKED)
    if is_packed and not has_packed(macs):
        raise ProgramError(f"a packed job must be for {_PACKED} products, not {macs}")
    if flags & JobFlag.GATHERED and not has_gathered(macs):
        raise ProgramError(f"a gathered job must be for {_GATHERING} products, not {macs}")
    has_windows = job.kind in {JobKind.CONV, JobKind.DEPTHWISE}
    channels = channels_per_group(macs, JobKind(job.kind), flags) if has_windows else 0
    least = (2 if channels > outputs_of(macs) or job.kind in PAIR_KINDS else 1) * (
        2 if flags & JobFlag.WIDE and job.kind not in PAIR_KINDS else 1
    )
    if not least <= job.interval <= 8:
        raise ProgramError(f"interval must be {least} to 8, not {job.interval}")
    if flags & JobFlag.SQUARE and (job.interval != SQUARE_INTERVAL or not flags & JobFlag.WIDE):
        found = f"{job.interval} and {job.flags:#x}"
        raise ProgramError(f"squares must be wide, {SQUARE_INTERVAL} cycles apart, not {found}")
    most = DEEP_GROUP_WORDS if is_packed and macs == DEEP_MACS else GROUP_WORDS
    if not 1 <= job.group_words <= most or not job.groups:
        raise ProgramError(f"a group must have 1 to {most} words, not {job.group_words}")
    unit = last_unit_of(macs) if job.kind in ELEMENT_KINDS else OUTPUT_BYTES
    is_softmax = job.kind == JobKind.SOFTMAX
    if not is_softmax and (job.output_address % OUTPUT_BYTES or job.output_pixel_bytes % unit):
        raise ProgramError(f"output must be aligned to {OUTPUT_BYTES} bytes ({job})")
    ranges = read_ranges(job, macs)
    written = written_range(job, macs)
    for start, end in (*ranges, written):
        if start < 0 or end > size:
            raise ProgramError(f"bytes {start} to {end} must lie in a scratchpad of {size}")
    for number, (start, end) in enumerate(ranges):
        stays = is_in_place(job) if is_softmax else overwrites(job, number)
        in_place = (start, end) == written and stays
        if start < written[1] and written[0] < end and not in_place:
            raise ProgramError(f"a job must not write what it reads, {start} to {end} ({job})")


def _require_written(scratchpad: Scratchpad, addresses: Ints, is_used: NDArray[np.bool_]) -> None:
    """Check that all bytes that are used were written before."""
    if scratchpad.is_written.all():
        return
    missing = is_used & ~scratchpad.is_written[addresses % len(scratchpad.bytes)]
    if missing.any():
        first = int(addresses[missing].min()) if addresses.shape == missing.shape else -1
        raise ProgramError(f"byte {first} must be written before it is read")


def _weights(job: EngineJob, stored: NDArray[np.int8]) -> Ints:
    raw = stored.view(np.uint8) if job.flags & JobFlag.UNSIGNED else stored
    return raw.astype(np.int64) - job.weight_zero_point


def _conv(job: EngineJob, stream: bytes, macs: int, scratchpad: Scratchpad) -> None:
    flags = JobFlag(job.flags)
    channels = channels_per_group(macs, JobKind.CONV, flags)
    if job.row_words != job.segments * job.segment_words:
        raise ProgramError(
            f"row_words must be {job.segments * job.segment_words}, not {job.row_words}"
        )
    row_bytes = _bytes_of_kernel_row(job, macs)
    if job.group_words != -(-job.kernel_rows * row_bytes // input_lanes_of(macs, flags)):
        raise ProgramError(f"a group must have all words of its kernel rows ({job})")
    parameters, words = unpack_groups(
        stream, job.groups, channels, job.group_words, bytes_of_word(macs, flags)
    )
    stored = unpack_conv_words(words, macs)
    weights = _weights(job, stored).reshape(len(stored), -1).T
    # Packed products are those of whole inputs, and the zero point lies outside the image.
    is_packed = bool(flags & JobFlag.PACKED)
    if is_packed and not are_packable(weights.T):
        raise ProgramError(
            f"weights of a packed job must be at most {PACKED_WEIGHT_LIMIT}, "
            f"{INPUT_LANES} of the first of two outputs at most {PACKED_WEIGHTS_LIMIT} together"
        )
    reduction, outside = (0, job.input_zero_point) if is_packed else (job.input_zero_point, 0)

    rows = _rows(job)
    columns = job.first_offset + np.arange(job.output_columns) * job.column_step
    segments = np.arange(job.segments) * job.segment_step
    lanes = np.arange(row_bytes // job.segments)
    offsets = columns[:, None, None] + segments[:, None] + lanes
    offsets = offsets.reshape(job.output_columns, 1, -1)
    in_row = (offsets >= 0) & (offsets < job.row_span)
    sums = np.empty((job.output_rows, job.output_columns, weights.shape[1]), np.int64)
    weights, behind = np.split(weights, [job.kernel_rows * row_bytes])
    if behind.any():
        raise ProgramError(f"what is behind a window must have no weight ({job})")
    is_used = (weights != 0).any(axis=1).reshape(job.kernel_rows, -1)
    for row in range(job.output_rows):
        addresses = rows.addresses[row][None, :, None] + offsets
        is_data = rows.is_inside[row][None, :, None] & in_row
        _require_written(scratchpad, addresses, is_data & is_used)
        x = np.where(is_data, _octets(job, scratchpad, addresses) - reduction, outside)
        sums[row] = _product(x.reshape(job.output_columns, -1), weights)
    _finish(job, sums, parameters, channels, macs, scratchpad)


def _bytes_of_kernel_row(job: EngineJob, macs: int) -> int:
    """Return the bytes that a window of a CONV job reads of a kernel row, all of its segments."""
    lanes = input_lanes_of(macs, JobFlag(job.flags))
    if not job.flags & JobFlag.GATHERED:
        return job.row_words * lanes
    size = (job.segment_words + 1) * lanes - job.segment_step
    places = [row * size % lanes for row in range(job.kernel_rows)]
    is_known = job.segments == 1 and job.segment_words and 0 < job.segment_step < lanes
    if not is_known or max(places) > CARRIED_LANES or places[-1] + size % lanes > lanes:
        raise ProgramError(
            f"kernel rows of a gathered job must begin in lanes 0 to {CARRIED_LANES}, and the last"
            f" one end in the word behind its whole ones ({job})"
        )
    return size


def _octets(job: EngineJob, scratchpad: Scratchpad, addresses: Ints) -> Ints:
    """Return the int8 that a job reads; of bytes without a sign, what is above 128."""
    found = scratchpad.gather(addresses)
    return (found & 0xFF) - 128 if job.flags & JobFlag.LOWER else found


def _product(x: Ints, weights: Ints) -> Ints:
    """Return the exact product of matrices of 9-bit numbers, which BLAS does in floating point."""
    kind = np.float32 if weights.shape[0] * 256 * 256 < 2**24 else np.float64
    product: Ints = (x.astype(kind) @ weights.astype(kind)).astype(np.int64)
    return product


def _max(job: EngineJob, stream: bytes, macs: int, scratchpad: Scratchpad) -> None:
    flags = JobFlag(job.flags)
    channels = channels_per_group(macs, JobKind.MAX, flags)
    if job.segment_words != 1 or job.row_words != job.segments:
        raise ProgramError(f"a segment of maxima must be one word, and a row the segments ({job})")
    if job.input_zero_point != MAX_INPUT_ZERO_POINT or not flags & JobFlag.ONES:
        raise ProgramError(
            f"maxima must have ONES and the zero point {MAX_INPUT_ZERO_POINT}, not"
            f" {flags!r} and {job.input_zero_point}"
        )
    word_bytes = bytes_of_word(macs, flags)
    parameters, stored = unpack_groups(stream, job.groups, channels, job.group_words, word_bytes)
    if _weights(job, stored[:, 0]).any():
        raise ProgramError("the first weight word of a job of maxima must be 0")
    rows = _rows(job)
    count = job.kernel_rows * job.segments
    if job.gives_positions and (count > MAX_POSITIONS or not rows.is_inside.all()):
        raise ProgramError(
            f"windows with positions must have up to {MAX_POSITIONS} bytes, in rows of the input"
        )
    columns = job.first_offset + np.arange(job.output_columns) * job.column_step
    offsets = columns[:, None, None] + np.arange(job.segments)[:, None] * job.segment_step
    # What lies in a row is a matter of the byte without the offset of its group.
    offsets = offsets + np.arange(channels)
    in_row = np.tile((offsets >= 0) & (offsets < job.row_span), job.groups)
    steps = np.repeat(np.arange(job.groups) * job.group_input_step, channels)
    addresses = np.tile(offsets, job.groups) + steps
    is_used = parameters.multiplier != 0
    sums = np.zeros((job.output_rows, job.output_columns, len(steps)), np.int64)
    for row, number in zip(*np.nonzero(rows.is_inside), strict=True):
        found = rows.addresses[row, number] + addresses
        _require_written(scratchpad, found, in_row & is_used)
        x = np.where(in_row, scratchpad.gather(found) - job.input_zero_point, 0)
        largest = x.max(axis=1)
        if job.gives_positions:
            found = x.argmax(axis=1) + number * job.segments
            is_more = largest > sums[row] % MAX_POSITIONS
            sums[row] = np.where(is_more, largest + MAX_POSITIONS * found, sums[row])
        else:
            sums[row] = np.maximum(sums[row], largest)
    _finish(job, sums, parameters, channels, macs, scratchpad)


def _depthwise(job: EngineJob, stream: bytes, macs: int, scratchpad: Scratchpad) -> None:
    channels = channels_per_group(macs, JobKind.DEPTHWISE, JobFlag(job.flags))
    stride, kernel = job.stride_columns, job.kernel_rows
    has_ones = bool(job.flags & JobFlag.ONES)
    if job.group_words < (1 if has_ones else stride * kernel):
        raise ProgramError(f"a group must have {stride * kernel} words, not {job.group_words}")
    if not 0 <= job.first_phase < stride or job.first_index != job.first_phase * kernel:
        raise ProgramError(f"first_phase and first_index must agree with the stride ({job})")
    cells = cells_of_channels(macs, channels)
    parameters, stored = unpack_groups(stream, job.groups, channels, job.group_words, cells.size)
    taps = cells.shape[1]
    # [words, taps, all channels]
    weights = _weights(job, stored)[:, :, cells].transpose(1, 3, 0, 2)
    weights = weights.reshape(job.group_words, taps, job.groups * channels)

    rows = _rows(job)
    steps = job.skip_results + job.output_columns
    column = np.arange(steps * stride) - job.first_phase
    is_column = (column >= 0) & (column * job.column_step < job.row_span)
    channel = np.arange(job.groups)[:, None] * job.group_input_step + np.arange(channels)
    offsets = (column * job.column_step)[:, None] + channel.reshape(1, -1)
    sums = np.zeros((job.output_rows, job.output_columns, channel.size), np.int64)
    is_used = (weights != 0).any(axis=(0, 1))
    for row in range(job.output_rows):
        for number in range(kernel):
            if not rows.is_inside[row, number]:
                continue
            addresses = rows.addresses[row, number] + offsets
            is_data = np.broadcast_to(is_column[:, None], addresses.shape)
            _require_written(scratchpad, addresses, is_data & is_used)
            x = _octets(job, scratchpad, addresses) - job.input_zero_point
            x = np.where(is_data, x, 0)
            phases = x.reshape(steps, stride, -1)
            for phase in range(stride):
                word = weights[0 if has_ones else phase * kernel + number]
                _add_taps(sums[row], phases[:, phase], word, job.skip_results)
    if np.abs(sums).max(initial=0) >= SUM_LIMIT:
        raise ProgramError("sums of a depthwise job must have 25 bits")
    _finish(job, sums, parameters, channels, macs, scratchpad)


def _depthwise_unit(job: EngineJob, stream: bytes, macs: int, scratchpad: Scratchpad) -> None:
    kernel_rows, kernel_columns = job.kernel_rows, job.segments
    passes = math.prod(passes_of(kernel_rows, kernel_columns))
    if max(kernel_rows, kernel_columns) > MAX_UNIT_KERNEL or job.group_words != passes:
        raise ProgramError(f"a group must have the {passes} passes of its kernel ({job})")
    if not max(job.row_words, job.output_columns) <= LINE_COLUMNS:
        raise ProgramError(f"rows must have up to {LINE_COLUMNS} columns ({job})")
    if (
        job.segment_words != pass_columns(job.output_columns, job.stride_columns)
        or job.first_index != (job.output_rows - 1) * job.stride_rows + kernel_rows
        or job.dilation_rows != 1
        or {job.group_input_step, job.group_output_step} != {UNIT_CHANNELS}
        or job.flags & ~int(JobFlag.CODED | JobFlag.UNSIGNED)
        or job.sums
    ):
        raise ProgramError(f"a job of the depthwise unit must agree with its rows ({job})")
    parameters, stored = unpack_groups(
        stream, job.groups, UNIT_CHANNELS, job.group_words, BYTES_OF_PASS
    )
    weights = unpack_unit_words(_weights(job, stored), kernel_rows, kernel_columns)
    rows = _rows(job)
    column = np.arange(job.output_columns)[:, None] * job.stride_columns - job.skip_results
    column = column + np.arange(kernel_columns)
    is_column = (column >= 0) & (column < job.row_words)
    channel = np.arange(job.groups)[:, None] * job.group_input_step + np.arange(UNIT_CHANNELS)
    offsets = column[:, :, None] * job.column_step + channel.reshape(-1)
    sums = np.zeros((job.output_rows, job.output_columns, channel.size), np.int64)
    for row, number in zip(*np.nonzero(rows.is_inside), strict=True):
        addresses = rows.addresses[row, number] + offsets
        is_data = np.broadcast_to(is_column[:, :, None], addresses.shape)
        _require_written(scratchpad, addresses, is_data & (weights != 0).any(axis=(0, 1)))
        x = np.where(is_data, scratchpad.gather(addresses) - job.input_zero_point, 0)
        sums[row] += (x * weights[number]).sum(axis=1)
    if np.abs(sums).max(initial=0) >= SUM_LIMIT:
        raise ProgramError("sums of a depthwise job must have 25 bits")
    _finish(job, sums, parameters, UNIT_CHANNELS, macs, scratchpad)


def _add_taps(sums: Ints, x: Ints, word: Ints, skipped: int) -> None:
    """Add what each tap contributes: the last one of the newest step, the others of older ones."""
    taps = len(word)
    count = len(sums)
    for age in range(taps):
        weights = word[taps - 1 - age]
        if not weights.any():
            continue
        first = skipped - age
        start = max(first, 0)
        if start < first + count:
            sums[start - first :] += x[start : first + count] * weights


def _finish(
    job: EngineJob,
    sums: Ints,
    parameters: Parameters,
    channels: int,
    macs: int,
    scratchpad: Scratchpad,
) -> None:
    """Requantize sums [rows, columns, all channels] and write them, or keep them as they are."""
    sums = sums.reshape(-1, sums.shape[2])
    if job.sums & SumFlag.SHIFTED:
        sums = sums << 8
    kept = (job.groups - 1) * channels + _last_channels(job, macs)
    # In the memory of sums groups come one after the other.
    cuts = range(channels, kept, channels)
    if job.sums & SumFlag.CONTINUE:
        earlier = np.split(scratchpad.kept(len(sums) * kept), [len(sums) * cut for cut in cuts])
        sums = sums.copy()
        sums[:, :kept] += np.hstack([part.reshape(len(sums), -1) for part in earlier])
    if job.sums & SumFlag.KEEP:
        biased = sums if job.sums & SumFlag.CONTINUE else sums + parameters.bias
        groups = np.split(wrap_int32(biased[:, :kept]), cuts, axis=1)
        scratchpad.keep(np.concatenate([group.reshape(-1) for group in groups]))
        return
    group = np.arange(job.groups)[:, None] * job.group_output_step + np.arange(channels)
    addresses = job.output_address + _results(job)[:, None] + group.reshape(1, -1)[:, :kept]
    if job.flags & JobFlag.SHORT:
        shorts = requantized_to_shorts(job, sums, parameters)[:, :kept]
        lowers = (shorts & 0xFF).astype(np.uint8).view(np.int8)
        scratchpad.write(addresses + _lower_step(job), lowers)
        kept_values = (shorts >> 8).astype(np.int8)
    else:
        kept_values = requantized(job, sums, parameters)[:, :kept]
    if job.flags & JobFlag.FUSED:
        kept_values = fused_sums(job, addresses, kept_values, macs, scratchpad)
    scratchpad.write(addresses, kept_values)


_JOBS: dict[JobKind, Callable[[EngineJob, bytes, int, Scratchpad], None]] = {
    JobKind.CONV: _conv,
    JobKind.DEPTHWISE: _depthwise,
    JobKind.DEPTHWISE_UNIT: _depthwise_unit,
    **dict.fromkeys(ELEMENT_KINDS, elements),
    JobKind.MAX: _max,
    JobKind.SOFTMAX: softmax,
}
