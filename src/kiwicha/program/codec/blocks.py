"""Weight streams in blocks, for a decoder that is faster than the memory: encoder and reference.

The groups of a stream are those of `kiwicha.program.codec.streams`. Bodies become *blocks*:

- A *step* is 32 bytes. A *quad* is 4 of them, 8 apart: quad q has bytes q, q + 8, q + 16, q + 24,
  in a convolution four weights of one output channel. It is stored in *planes* of a bit of each of
  its bytes, a nibble: the sign, then bits 0, 1 and so on, as many as its *width*, 0 to 8. Bits
  above are like the sign. A width of 0 stands for four zeros.
- A *block* is quads n and n + 4 of a step: a nibble that names the pair of their widths, the planes
  of the first and those of the second. The table of a stream has 16 pairs.
- The blocks n of all steps are the bit stream of *lane* n, least significant bit first, cut in
  beats. A lane holds two beats and asks for another when the first is used up: by step, then by
  lane. Beats 0 of all lanes come first, then beats 1. The last beat of each lane has nothing; at
  the end of a stream such beats are not stored.

Where groups from the third on have biases only (`JobFlag.SHARED`), these are the first steps of
their bodies.

Order of the beats of a stream: the table, a byte per pair with the first width in bits 0 to 3; a
beat whose first 4 bytes make the check sum of all beats zero, the others are 0; then beats of lanes
and heads. A head comes when all beats asked for until then have been taken.

The bytes are not the weights of the uncoded stream, but what the array multiplies with, plus the
job's weight zero point, modulo 256: so the zero point can bring them close to 0.

Why this code: planes are shifted by whole nibbles, so a decoder for 8 weights per cycle needs few
more LUT than one for a single weight with a code of bits, and 4 bits name the widths of 8 weights.
It is within 0.3 bits of the entropy of trained weights.
"""

import numpy as np
from numpy.typing import NDArray

from kiwicha.contract.codec import (
    BEAT_BYTES,
    BLOCK_BYTES,
    BLOCK_HEADER_BITS,
    BLOCK_LANES,
    BLOCK_STEP_BYTES,
    CHECK_BITS,
    CHECK_START,
    FIRST_GROUPS,
    MAX_WIDTH,
    NIBBLE_BITS,
    QUADS,
    WIDTH_BITS,
    WIDTH_PAIRS,
)
from kiwicha.program.codec.streams import CodecError, Shape, check_sum, split
from kiwicha.program.codec.widths import best_pairs, pair_of_widths, widths_of

__all__ = [
    "decode",
    "encode",
    "in_steps",
    "joined",
    "moved",
    "split",
    "weights_of",
    "with_weights",
]

_HEADER_BEATS = 2
"""Table and check sum."""
_BEAT_NIBBLES = 8 * BEAT_BYTES // NIBBLE_BITS
_TOO_SHORT = "a coded stream must not end before its last weight"
_MAX_NIBBLES = 1 + QUADS * MAX_WIDTH
Bytes = NDArray[np.uint8]
Ints = NDArray[np.int64]


def in_steps(shape: Shape) -> tuple[Ints, Ints]:
    """Return the beats of each group of a stream that are not coded, and the steps of what is.

    Raises
    ------
    ValueError
        If these are not whole.
    """
    has_biases = shape.later_head not in (None, shape.head)
    coded = np.full(shape.groups, shape.body)
    heads = np.array(shape.heads)
    if has_biases:
        coded[FIRST_GROUPS:] += heads[FIRST_GROUPS:]
        heads[FIRST_GROUPS:] = 0
    steps, rest = np.divmod(coded * BEAT_BYTES, BLOCK_STEP_BYTES)
    if rest.any():
        raise ValueError(f"what is coded of {shape} must be steps of {BLOCK_STEP_BYTES} bytes")
    return heads, steps


def _divided(raw: bytes, heads: Ints, steps: Ints) -> tuple[Bytes, Bytes]:
    """Return the beats of a stream that are not coded, and those that are."""
    beats = np.frombuffer(raw, np.uint8).reshape(-1, BEAT_BYTES)
    coded = steps * (BLOCK_STEP_BYTES // BEAT_BYTES)
    is_head = np.repeat(np.tile([True, False], len(heads)), np.stack([heads, coded], 1).ravel())
    return beats[is_head], beats[~is_head]


def encode(raw: bytes, shape: Shape) -> bytes:
    """Return the coded form of a stream; it may be the longer one.

    Raises
    ------
    ValueError
        If ``raw`` has not the size of ``shape``, or its groups no whole steps.
    """
    if len(raw) != shape.raw_bytes:
        raise ValueError(f"a stream of {shape} must have {shape.raw_bytes} bytes, not {len(raw)}")
    heads, steps_of_groups = in_steps(shape)
    plain, bodies = _divided(raw, heads, steps_of_groups)
    quads = bodies.view(np.int8).reshape(-1, NIBBLE_BITS, QUADS * BLOCK_LANES).transpose(0, 2, 1)
    widths = widths_of(quads).max(axis=2)
    first, second = widths[:, :BLOCK_LANES], widths[:, BLOCK_LANES:]
    pairs = best_pairs(first.ravel(), second.ravel())
    names = pair_of_widths(pairs, first, second)
    beats, steps = [], []
    for lane in range(BLOCK_LANES):
        nibbles, lengths = _blocks(quads[:, lane::BLOCK_LANES], names[:, lane], pairs)
        ends = np.cumsum(lengths)
        asked = int(ends[-1]) // _BEAT_NIBBLES
        padded = np.zeros((asked + 2) * _BEAT_NIBBLES, np.uint8)
        padded[: len(nibbles)] = nibbles
        beats.append((padded[::2] | padded[1::2] << NIBBLE_BITS).reshape(-1, BEAT_BYTES))
        crossings = np.searchsorted(ends, _BEAT_NIBBLES * np.arange(1, asked + 1))
        steps.append(np.concatenate([[-2, -1], crossings]))
    asked_in = np.concatenate(steps)
    order = np.lexsort((np.repeat(np.arange(BLOCK_LANES), [len(s) for s in steps]), asked_in))
    is_last = np.concatenate([np.arange(len(s)) == len(s) - 1 for s in steps])[order]
    data = np.concatenate([np.concatenate(beats)[order], plain])
    is_needed = np.concatenate([~is_last, np.ones(len(plain), np.bool_)])
    # A beat that is asked for in a group comes before the head of the next one.
    keys = np.concatenate([
        2 * np.searchsorted(np.cumsum(steps_of_groups), asked_in[order], side="right")
        + 2 * (asked_in[order] >= 0),
        np.repeat(2 * np.arange(shape.groups) + 1, heads),
    ])
    table = np.array([[a | b << WIDTH_BITS for a, b in pairs]], np.uint8)
    check = np.zeros((1, BEAT_BYTES), np.uint8)
    sequence = np.argsort(keys, kind="stable")
    sequence = sequence[: 1 + np.flatnonzero(is_needed[sequence])[-1]]
    ordered = np.concatenate([table, check, data[sequence]])
    _set_check(ordered)
    return ordered.tobytes()


def _blocks(
    quads: NDArray[np.int8], names: Ints, pairs: list[tuple[int, int]]
) -> tuple[Bytes, Ints]:
    """Return the nibbles of a lane's blocks, and how many each has.

    Parameters
    ----------
    quads : int8 [steps, 2, 4]
        Bytes.
    names : int [steps]
        Number of the pair.
    pairs : list of tuple of int
        Widths.
    """
    values = quads.view(np.uint8)
    bits = np.unpackbits(values[..., None], axis=-1, bitorder="little")
    # Sign first: [steps, 2, planes, 4].
    planes = np.roll(bits, 1, axis=-1).swapaxes(2, 3)
    nibbles = np.packbits(planes, axis=-1, bitorder="little")[..., 0]
    widths = np.array(pairs)[names]
    is_stored = np.arange(MAX_WIDTH) < widths[..., None]
    all_nibbles = np.concatenate([names[:, None], nibbles.reshape(len(names), -1)], axis=1)
    flags = np.concatenate(
        [np.ones((len(names), 1), np.bool_), is_stored.reshape(len(names), -1)], axis=1
    )
    return all_nibbles[flags].astype(np.uint8), 1 + widths.sum(axis=1)


def _set_check(beats: Bytes) -> None:
    """Set the first word of the second beat so that the check sum is 0."""
    rest = check_sum(beats)
    back = (len(beats) - _HEADER_BEATS) % CHECK_BITS
    word = (rest >> back | rest << CHECK_BITS - back) & CHECK_START
    beats[1, : CHECK_BITS // 8] = np.frombuffer(word.to_bytes(CHECK_BITS // 8, "little"), np.uint8)


def weights_of(
    raw: bytes, shape: Shape, zero_point: int, *, is_unsigned: bool
) -> NDArray[np.int8] | None:
    """Return what the array multiplies with, int8 [beats, 16]; None if it needs nine bits.

    Parameters
    ----------
    raw : bytes
        A stream that is not coded.
    shape : Shape
        Its shape.
    zero_point : int
        The job's weight zero point.
    is_unsigned : bool
        Weight bytes are uint8.
    """
    _, bodies = split(raw, shape)
    weights = (bodies if is_unsigned else bodies.view(np.int8)).astype(np.int64) - zero_point
    narrow = weights.astype(np.int8)
    return narrow if np.array_equal(narrow, weights) else None


def moved(raw: bytes, shape: Shape, weights: NDArray[np.int8], zero_point: int) -> bytes:
    """Return a stream to be coded: the heads of a stream, and weights plus a zero point."""
    heads, _ = split(raw, shape)
    bodies = weights.view(np.uint8) + np.uint8(zero_point % 256)
    return joined(heads, bodies, shape)


def with_weights(raw: bytes, shape: Shape, zero_point: int) -> bytes:
    """Return a decoded stream with weights less the job's weight zero point, modulo 256."""
    heads, bodies = split(raw, shape)
    return joined(heads, bodies - np.uint8(zero_point % 256), shape)


def joined(heads: Bytes, bodies: Bytes, shape: Shape) -> bytes:
    """Return the stream of which these are the beats."""
    keys = np.concatenate([
        np.repeat(2 * np.arange(shape.groups), shape.heads),
        np.repeat(2 * np.arange(shape.groups) + 1, shape.body),
    ])
    return np.concatenate([heads, bodies])[np.argsort(keys, kind="stable")].tobytes()


def decode(coded: bytes, shape: Shape) -> bytes:
    """Return the stream that `encode` was given.

    Raises
    ------
    CodecError
        If the stream is truncated or corrupt.
    ValueError
        If the groups of ``shape`` have no whole steps.
    """
    heads, steps_of_groups = in_steps(shape)
    if len(coded) % BEAT_BYTES or len(coded) < _HEADER_BEATS * BEAT_BYTES:
        raise CodecError(f"a coded stream must be whole beats with a table, not {len(coded)} bytes")
    beats = np.frombuffer(coded, np.uint8).reshape(-1, BEAT_BYTES)
    if check_sum(beats):
        raise CodecError("the check sum of a coded stream must be 0")
    pairs = [(entry & 15, entry >> WIDTH_BITS) for entry in coded[:WIDTH_PAIRS]]
    if any(max(pair) > MAX_WIDTH for pair in pairs):
        raise CodecError(f"the table of a coded stream must have widths of 0 to {MAX_WIDTH}")
    reader = _Reader(coded)
    lanes = [_Lane() for _ in range(BLOCK_LANES)]
    for lane in lanes:
        lane.load(reader.beat())
    for lane in lanes:
        lane.load(reader.beat_if_any())
    decoded = bytearray()
    for head, steps in zip(heads, steps_of_groups, strict=True):
        for _ in range(head):
            decoded += reader.beat()
        for _ in range(steps):
            step = bytearray(BLOCK_STEP_BYTES)
            for number, lane in enumerate(lanes):
                for quad, values in enumerate(lane.block(pairs)):
                    step[number + quad * BLOCK_LANES :: BLOCK_BYTES] = values
                if lane.wants_beat:
                    lane.load(reader.beat_if_any())
            decoded += step
    reader.end()
    return bytes(decoded)


class _Lane:
    """The bit stream of a lane: two beats, of which the first is used.

    At the end of the stream the second one may not be there.
    """

    def __init__(self) -> None:
        self._bits = 0
        self._offset = 0
        self._beats = 0
        self._is_over = False

    @property
    def wants_beat(self) -> bool:
        """Whether one of two beats was used up."""
        return self._beats < 2 and not self._is_over

    def load(self, beat: bytes) -> None:
        """Take a beat, behind that which is there; an empty one if there is none any more."""
        if not beat:
            self._is_over = True
            return
        self._bits |= int.from_bytes(beat, "little") << 8 * BEAT_BYTES * self._beats
        self._beats += 1

    def block(self, pairs: list[tuple[int, int]]) -> list[bytes]:
        """Return the bytes of both quads of the next block."""
        bits = self._bits >> self._offset
        quads = []
        length = BLOCK_HEADER_BITS
        for width in pairs[bits & (1 << BLOCK_HEADER_BITS) - 1]:
            quads.append(_quad(bits >> length, width))
            length += width * NIBBLE_BITS
        self._offset += length
        if self._offset >= 8 * BEAT_BYTES:
            if self._is_over:
                raise CodecError(_TOO_SHORT)
            self._offset -= 8 * BEAT_BYTES
            self._bits >>= 8 * BEAT_BYTES
            self._beats -= 1
        return quads


def _quad(bits: int, width: int) -> bytes:
    """Return four bytes from their planes."""
    planes = [bits >> NIBBLE_BITS * plane & (1 << NIBBLE_BITS) - 1 for plane in range(width)]
    sign = planes[0] if width else 0
    planes = planes[1:] + [sign] * (MAX_WIDTH - max(width - 1, 0))
    return bytes(
        sum((plane >> place & 1) << bit for bit, plane in enumerate(planes))
        for place in range(NIBBLE_BITS)
    )


class _Reader:
    """Takes beats off a stream, behind its table."""

    def __init__(self, coded: bytes) -> None:
        self._coded = coded
        self._next = _HEADER_BEATS * BEAT_BYTES

    def beat(self) -> bytes:
        """Return the next beat."""
        beat = self.beat_if_any()
        if not beat:
            raise CodecError(_TOO_SHORT)
        return beat

    def beat_if_any(self) -> bytes:
        """Return the next beat; an empty one behind the last."""
        beat = self._coded[self._next : self._next + BEAT_BYTES]
        self._next += len(beat)
        return beat

    def end(self) -> None:
        """Check that nothing is left."""
        if self._next != len(self._coded):
            raise CodecError("a coded stream must end with its last weight")
