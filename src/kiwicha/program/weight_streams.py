"""Order of a job's weight stream: the compiler packs, the reference executor unpacks.

A stream is a sequence of groups, 16 bytes aligned by construction. A group of CONV and DEPTHWISE is
parameters, then weight words:

- parameters, per 4 channels 48 bytes: 4 biases, 4 multipliers, 4 shifts, int32 each;
- words of ``8 * outputs`` bytes, byte ``lane * outputs + o``, with ``outputs = outputs_of(macs)``.
  With PACKED they are twice as long: a word for the first half of the group, one for the second.
  With `DEEP_MACS` such a word is for 16 inputs: ``o`` is output ``o % 8`` of the half, and input
  ``lane + 8 * (o // 8)``.

Every group is whole: channels beyond the last have zeros. A group of ADD and TABLE is the
parameters of ``outputs`` channels, then 256 entries of two int32, those of the first and of the
second tensor, in the order of the input byte taken as unsigned. One of MUL is the parameters and
any words.

A group of DEPTHWISE_UNIT is the parameters of 8 channels, then passes; see `pack_unit_words`.

With SHARED groups from the third on have only the biases of their channels, 16 bytes per 4. With
CODED the words, or the tables, are coded; see `kiwicha.program.codec`. With HELD, but not LOADS,
there are no words.
"""

from dataclasses import dataclass
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from kiwicha.contract.codec import BEAT_BYTES, FIRST_GROUPS
from kiwicha.contract.depthwise import PASS_BEATS, UNIT_CHANNELS, UNIT_TAPS, passes_of
from kiwicha.contract.engine import (
    DEEP_MACS,
    GROUP_PARAMETER_BYTES,
    INPUT_LANES,
    TABLE_ENTRIES,
    TABLE_ENTRY_BYTES,
    EngineJob,
    JobFlag,
    JobKind,
    input_lanes_of,
    outputs_of,
)
from kiwicha.program.codec.streams import Shape, split

__all__ = [
    "BYTES_OF_PASS",
    "Parameters",
    "bytes_of_word",
    "cells_of_channels",
    "channels_per_group",
    "pack_conv_words",
    "pack_depthwise_words",
    "pack_groups",
    "pack_tables",
    "pack_unit_words",
    "stream_shape",
    "unpack_conv_words",
    "unpack_groups",
    "unpack_tables",
    "unpack_unit_words",
    "with_shared",
    "without_shared",
]

Int8s = NDArray[np.int8]
BYTES_OF_PASS = PASS_BEATS * BEAT_BYTES
"""Size of the weights of a pass of a DEPTHWISE_UNIT job."""
W = TypeVar("W", np.int8, np.int16, np.int64)
_BLOCK = 4
"""Channels whose parameters come together."""
_FIELDS = 3


@dataclass(frozen=True, eq=False)
class Parameters:
    """Bias, multiplier and shift of channels, int32 [channels] each."""

    bias: NDArray[np.int32]
    multiplier: NDArray[np.int32]
    shift: NDArray[np.int32]


def channels_per_group(macs: int, kind: JobKind, flags: JobFlag) -> int:
    """Return the output channels of one group."""
    outputs = outputs_of(macs)
    if kind is JobKind.DEPTHWISE_UNIT:
        return UNIT_CHANNELS
    is_double = (
        not flags & JobFlag.TAPS_8 if kind is JobKind.DEPTHWISE else bool(flags & JobFlag.PACKED)
    )
    return 2 * outputs if is_double and macs != DEEP_MACS else outputs


def bytes_of_word(macs: int, flags: JobFlag) -> int:
    """Return the size of a weight word."""
    return INPUT_LANES * outputs_of(macs) * (2 if flags & JobFlag.PACKED else 1)


def stream_shape(job: EngineJob, macs: int) -> Shape:
    """Return how a job's stream is divided: what `JobFlag.CODED` codes, and what it leaves."""
    kind, flags = JobKind(job.kind), JobFlag(job.flags)
    head = channels_per_group(macs, kind, flags) * GROUP_PARAMETER_BYTES
    is_unit = kind is JobKind.DEPTHWISE_UNIT
    body = job.group_words * (BYTES_OF_PASS if is_unit else bytes_of_word(macs, flags))
    if flags & JobFlag.HELD and not flags & JobFlag.LOADS:
        body = 0
    beats = head // BEAT_BYTES
    later = beats // _FIELDS if flags & JobFlag.SHARED else beats
    return Shape(job.groups, beats, body // BEAT_BYTES, later)


def without_shared(raw: bytes, shape: Shape) -> bytes | None:
    """Return a stream with biases only from the third group on; None if it needs all parameters.

    Parameters
    ----------
    raw : bytes
        A stream with all parameters.
    shape : Shape
        Its shape.
    """
    groups = np.frombuffer(raw, np.uint8).reshape(shape.groups, -1, BEAT_BYTES)
    fields = groups[:, : shape.head].reshape(shape.groups, -1, _FIELDS, BEAT_BYTES)
    others, before = fields[FIRST_GROUPS:, :, 1:], fields[:-FIRST_GROUPS, :, 1:]
    if not len(others) or not np.array_equal(others, before):
        return None
    first = groups[:FIRST_GROUPS].tobytes()
    biases = fields[FIRST_GROUPS:, :, 0].reshape(len(others), -1, BEAT_BYTES)
    return first + np.concatenate([biases, groups[FIRST_GROUPS:, shape.head :]], axis=1).tobytes()


def with_shared(stream: bytes, shape: Shape) -> bytes:
    """Return the stream with all parameters, of the one of `without_shared`.

    Parameters
    ----------
    stream : bytes
        The stream, not coded.
    shape : Shape
        Its shape.

    Raises
    ------
    ValueError
        If the stream is not that long.
    """
    if shape.later_head in (None, shape.head):
        return stream
    _check_size(stream, shape.raw_bytes)
    heads, bodies = split(stream, shape)
    full = heads[: shape.head * min(shape.groups, FIRST_GROUPS)]
    full = full.reshape(-1, shape.head // _FIELDS, _FIELDS, BEAT_BYTES)
    biases = heads[full.size // BEAT_BYTES :].reshape(-1, shape.head // _FIELDS, BEAT_BYTES)
    fields = np.concatenate([full, full[np.arange(len(biases)) % FIRST_GROUPS]])
    fields[len(full) :, :, 0] = biases
    parts = [fields.reshape(shape.groups, -1), bodies.reshape(shape.groups, -1)]
    return np.concatenate(parts, axis=1).tobytes()


def cells_of_channels(macs: int, channels: int) -> NDArray[np.intp]:
    """Return, for DEPTHWISE, the bytes of a weight word that are the taps of each channel.

    Parameters
    ----------
    macs : int
        Products per cycle.
    channels : int
        Channels of a group: with ``2 * outputs`` of them each has 4 taps, else 8.

    Returns
    -------
    int [channels, taps]
        Byte ``lane * outputs + o``.
    """
    outputs = outputs_of(macs)
    taps = INPUT_LANES * outputs // channels
    channel = np.arange(channels)[:, None]
    lane = channel // outputs * taps + np.arange(taps)[None, :]
    return lane * outputs + channel % outputs


def pack_conv_words(weights: NDArray[W], macs: int, *, is_packed: bool = False) -> NDArray[W]:
    """Return the weight words of CONV.

    Parameters
    ----------
    weights : int8 or int16 [channels, words, lanes]
        Weight of each byte that a pixel of the output reads, in the order of reading, as
        many at a time as `input_lanes_of`.
    macs : int
        Products per cycle.
    is_packed : bool
        The job has `JobFlag.PACKED`.

    Returns
    -------
    [groups, words, `bytes_of_word`], of the weights' type
    """
    group, halves, depths = _conv_shape(macs, is_packed=is_packed)
    channels, words, lanes = weights.shape
    groups = -(-channels // group)
    padded = np.zeros((groups * group, words, lanes), weights.dtype)
    padded[:channels] = weights
    split = padded.reshape(groups, halves, group // halves, words, depths, INPUT_LANES)
    ordered = split.transpose(0, 3, 1, 5, 4, 2)
    return np.ascontiguousarray(ordered).reshape(groups, words, lanes * group)


def unpack_conv_words(words: Int8s, macs: int) -> Int8s:
    """Return the weights, int8 [channels, words, lanes], of the words of `pack_conv_words`."""
    groups, count, size = words.shape
    is_packed = size > INPUT_LANES * outputs_of(macs)
    group, halves, depths = _conv_shape(macs, is_packed=is_packed)
    split = words.reshape(groups, count, halves, INPUT_LANES, depths, group // halves)
    ordered = split.transpose(0, 2, 5, 1, 4, 3)
    return np.ascontiguousarray(ordered).reshape(-1, count, depths * INPUT_LANES)


def _conv_shape(macs: int, *, is_packed: bool) -> tuple[int, int, int]:
    """Return the channels of a group, the halves of a word, and its inputs by `INPUT_LANES`."""
    flags = JobFlag.PACKED if is_packed else JobFlag(0)
    depths = input_lanes_of(macs, flags) // INPUT_LANES
    return channels_per_group(macs, JobKind.CONV, flags), 1 + is_packed, depths


def pack_depthwise_words(weights: NDArray[W], macs: int, channels: int, stride: int) -> NDArray[W]:
    """Return the weight words of DEPTHWISE.

    Parameters
    ----------
    weights : int8 or int16 [H, W, C]
        As in TFLite.
    macs : int
        Products per cycle.
    channels : int
        Channels of a group.
    stride : int
        Columns from one output to the next.

    Returns
    -------
    [groups, stride * H, 8 * outputs], of the weights' type
        Word ``phase * H + ky`` holds, at tap ``taps - slots + s``, ``weights[ky, stride * s +
        phase]``; there are ``ceil(W / stride)`` slots s.
    """
    rows, columns, total = weights.shape
    groups = -(-total // channels)
    slots = -(-columns // stride)
    cells = cells_of_channels(macs, channels)
    padded = np.zeros((rows, slots * stride, groups * channels), weights.dtype)
    padded[:, :columns, :total] = weights
    # Now: phase, row, slot, group, channel.
    split = padded.reshape(rows, slots, stride, groups, channels).transpose(2, 0, 1, 3, 4)
    words = np.zeros((groups, stride * rows, cells.size), weights.dtype)
    taps = cells.shape[1]
    for slot in range(slots):
        values = split[:, :, slot].reshape(stride * rows, groups, channels)
        words[:, :, cells[:, taps - slots + slot]] = values.transpose(1, 0, 2)
    return words


def pack_unit_words(weights: NDArray[W]) -> NDArray[W]:
    """Return the passes of DEPTHWISE_UNIT.

    Parameters
    ----------
    weights : int8 or int16 [H, W, C]
        As in TFLite.

    Returns
    -------
    [groups, passes, `BYTES_OF_PASS`], of the weights' type
        Passes of three kernel rows and columns, row by row; of each, 9 words of 8 channels in the
        same order, and a word of zeros.
    """
    rows, columns, total = weights.shape
    down, right = passes_of(rows, columns)
    groups = -(-total // UNIT_CHANNELS)
    padded = np.zeros((down * UNIT_TAPS, right * UNIT_TAPS, groups * UNIT_CHANNELS), weights.dtype)
    padded[:rows, :columns, :total] = weights
    split = padded.reshape(down, UNIT_TAPS, right, UNIT_TAPS, groups, UNIT_CHANNELS)
    taps = split.transpose(4, 0, 2, 1, 3, 5).reshape(groups, down * right, -1)
    words = np.zeros((groups, down * right, BYTES_OF_PASS), weights.dtype)
    words[..., : taps.shape[2]] = taps
    return words


def unpack_unit_words(words: NDArray[W], kernel_rows: int, kernel_columns: int) -> NDArray[W]:
    """Return the weights [H, W, C] of the passes of `pack_unit_words`."""
    down, right = passes_of(kernel_rows, kernel_columns)
    taps = words[..., : UNIT_TAPS * UNIT_TAPS * UNIT_CHANNELS]
    split = taps.reshape(len(words), down, right, UNIT_TAPS, UNIT_TAPS, UNIT_CHANNELS)
    whole = split.transpose(1, 3, 2, 4, 0, 5).reshape(down * UNIT_TAPS, right * UNIT_TAPS, -1)
    return whole[:kernel_rows, :kernel_columns]


def pack_groups(parameters: Parameters, words: Int8s, channels: int) -> bytes:
    """Return the stream of a CONV or DEPTHWISE job.

    Parameters
    ----------
    parameters : Parameters
        Of all output channels.
    words : int8 [groups, words, bytes]
        Weight words.
    channels : int
        Channels of a group, a multiple of 4.
    """
    groups = len(words)
    fields = np.zeros((groups * channels, _FIELDS), "<i4")
    for column, values in enumerate((parameters.bias, parameters.multiplier, parameters.shift)):
        fields[: len(values), column] = values
    blocks = fields.reshape(groups, channels // _BLOCK, _BLOCK, _FIELDS).transpose(0, 1, 3, 2)
    head = np.ascontiguousarray(blocks).reshape(groups, -1).view(np.int8)
    return np.concatenate([head, words.reshape(groups, -1)], axis=1).tobytes()


def _check_size(stream: bytes, size: int) -> None:
    if len(stream) != size:
        raise ValueError(f"a stream must have {size} bytes, not {len(stream)}")


def unpack_groups(
    raw: bytes, groups: int, channels: int, words: int, word_bytes: int
) -> tuple[Parameters, Int8s]:
    """Return parameters [groups * channels] and words [groups, words, bytes] of a stream.

    Raises
    ------
    ValueError
        If the stream has another size.
    """
    head = channels * GROUP_PARAMETER_BYTES
    expected = groups * (head + words * word_bytes)
    _check_size(raw, expected)
    split = np.frombuffer(raw, np.int8).reshape(groups, -1)
    fields = np.ascontiguousarray(split[:, :head]).view("<i4")
    blocks = fields.reshape(groups, channels // _BLOCK, _FIELDS, _BLOCK).transpose(2, 0, 1, 3)
    bias, multiplier, shift = blocks.reshape(_FIELDS, -1).astype(np.int32)
    return Parameters(bias, multiplier, shift), split[:, head:].reshape(groups, words, word_bytes)


def pack_tables(tables: NDArray[np.int32], parameters: Parameters, macs: int) -> bytes:
    """Return the stream of an ADD or TABLE job.

    Parameters
    ----------
    tables : int32 [256, 2]
        What a byte of the first and of the second tensor contributes, by unsigned byte.
    parameters : Parameters
        Of the channels of all groups.
    macs : int
        Products per cycle.
    """
    groups = -(-len(parameters.bias) // outputs_of(macs))
    words = np.tile(np.frombuffer(tables.astype("<i4").tobytes(), np.int8), (groups, 1, 1))
    return pack_groups(parameters, words, outputs_of(macs))


def unpack_tables(raw: bytes, groups: int, macs: int) -> tuple[Parameters, NDArray[np.int64]]:
    """Return the parameters of all channels and the tables, int64 [groups, 256, 2].

    Raises
    ------
    ValueError
        If the stream has another size.
    """
    size = TABLE_ENTRIES * TABLE_ENTRY_BYTES
    parameters, words = unpack_groups(raw, groups, outputs_of(macs), 1, size)
    tables = np.ascontiguousarray(words).view("<i4")
    return parameters, tables.reshape(groups, TABLE_ENTRIES, 2).astype(np.int64)
