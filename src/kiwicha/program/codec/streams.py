"""Lossless coding of weight streams: encoder and reference decoder.

A stream is groups of ``head`` beats (parameters, never coded) and ``body`` beats (weights); a beat
is 16 bytes. Coded, the bodies become variable-length codes:

- A *leaf* is an aligned range of 2**k byte values, k <= 7. Its code is a prefix of up to 5 bits and
  the low k bits of the value: Huffman codes of at most 32 leaves, which a trie of the layer's own
  histogram yields. The table has 32 entries, looked up by the next 5 bits.
- Byte i of a body belongs to *lane* i % 4; a *step* decodes one byte of each lane. Each lane has a
  bit stream of its own, least significant bit first, cut in chunks of 32 bits.
- Chunks are stored in the order in which the decoder asks for them. A lane holds two chunks and
  asks for another when the first is used up: by step, then by lane. Chunks 0 of all lanes come
  first, then chunks 1. Lane n does not use the first 8 * n bits of its chunk 0.

Order of the beats of a coded stream: 4 beats of table, beats of 4 chunks, and the heads. The
decoder always holds the next beat of chunks: a head comes when all chunks asked for until then
have been taken and the next beat of chunks too. So nothing is padded but the last beat.

A table entry has 16 bits: bits 0 to 7 the least value of the leaf, 8 to 11 the length of the code,
12 to 14 that of its prefix; bit 15 is one of 32 check bits which make the check sum of all beats
zero.

Why this code: with prefixes of up to 5 bits it is within 0.25 bits of the entropy of trained
weights, tables included. A table with an entry per value would come nearer on large layers, but
costs some 300 bytes a layer and block RAM, whose latency is then in the loop from one code to the
next. 32 entries are one LUT RAM, read in the cycle of the shift, one for each lane.
"""

from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from kiwicha.contract.codec import (
    BEAT_BYTES,
    CHECK_BITS,
    CHECK_START,
    CHUNK_BITS,
    FIRST_GROUPS,
    FIRST_OFFSETS,
    LANES,
    MAX_RANGE_BITS,
    PREFIX_BITS,
    TABLE_BEATS,
    TABLE_ENTRIES,
    WORD_ROTATION,
)
from kiwicha.errors import KiwichaError
from kiwicha.program.codec.code_table import Code, best_code

__all__ = ["CodecError", "Shape", "add_to_check", "check_sum", "decode", "encode", "split"]

_CHUNKS_PER_BEAT = 8 * BEAT_BYTES // CHUNK_BITS
_STEPS_PER_BEAT = BEAT_BYTES // LANES
_PEEK_BITS = PREFIX_BITS + MAX_RANGE_BITS
Bytes = NDArray[np.uint8]
Ints = NDArray[np.int64]


class CodecError(KiwichaError):
    """A coded stream is truncated or corrupt."""


@dataclass(frozen=True)
class Shape:
    """How a stream is divided.

    Parameters
    ----------
    groups : int
        Groups, 1 or more.
    head : int
        Beats of a group that are not coded, 1 or more.
    body : int
        Beats of a group that are; 0 if it has no weights.
    later_head : int or None
        As ``head``, of the groups from the third on; None: as many.
    """

    groups: int
    head: int
    body: int
    later_head: int | None = None

    def __post_init__(self) -> None:
        for name, least in (("groups", 1), ("head", 1), ("body", 0)):
            if getattr(self, name) < least:
                raise ValueError(f"{name} must be {least} or more, not {getattr(self, name)}")

    @property
    def heads(self) -> list[int]:
        """Beats of each group that are not coded."""
        later = self.head if self.later_head is None else self.later_head
        first = min(self.groups, FIRST_GROUPS)
        return [self.head] * first + [later] * (self.groups - first)

    @property
    def beats(self) -> int:
        """Beats of the stream that is not coded."""
        return sum(self.heads) + self.groups * self.body

    @property
    def raw_bytes(self) -> int:
        """Bytes of the stream that is not coded."""
        return self.beats * BEAT_BYTES

    @property
    def steps(self) -> int:
        """Steps of the decoder in a group."""
        return self.body * _STEPS_PER_BEAT


def encode(raw: bytes, shape: Shape) -> bytes:
    """Return the coded form of a stream; it may be the longer one.

    Raises
    ------
    ValueError
        If ``raw`` has not the size of ``shape``.
    """
    if len(raw) != shape.raw_bytes:
        raise ValueError(f"a stream of {shape} must have {shape.raw_bytes} bytes, not {len(raw)}")
    heads, bodies = split(raw, shape)
    values = bodies.reshape(-1, LANES)
    code = best_code(np.bincount(values.ravel(), minlength=256))
    chunks, steps = _chunks(values, code)
    beats = -(-(len(chunks) + 1) // _CHUNKS_PER_BEAT)
    padded = np.zeros(beats * _CHUNKS_PER_BEAT, f"<u{CHUNK_BITS // 8}")
    padded[: len(chunks)] = chunks
    table = code.entries.astype("<u2").view(np.uint8).reshape(-1, BEAT_BYTES)
    # A beat of chunks comes when the last chunk of the beat before was taken.
    last_step = np.concatenate([[-1], steps[_CHUNKS_PER_BEAT - 1 :: _CHUNKS_PER_BEAT]])[:beats]
    group = np.where(last_step < 0, 0, last_step // shape.steps + 1)
    keys = np.concatenate([2 * group, np.repeat(2 * np.arange(shape.groups) + 1, shape.heads)])
    data = np.concatenate([padded.view(np.uint8).reshape(-1, BEAT_BYTES), heads])
    ordered = np.concatenate([table, data[np.argsort(keys, kind="stable")]])
    _set_check_bits(ordered)
    return ordered.tobytes()


def split(raw: bytes, shape: Shape) -> tuple[Bytes, Bytes]:
    """Return the beats of a stream's heads and those of its bodies, uint8 [beats, 16]."""
    beats = np.frombuffer(raw, np.uint8).reshape(-1, BEAT_BYTES)
    kinds = [kind for head in shape.heads for kind in (head, shape.body)]
    is_head = np.repeat(np.arange(2 * shape.groups) % 2 == 0, kinds)
    return beats[is_head], beats[~is_head]


def _chunks(values: Bytes, code: Code) -> tuple[NDArray[np.uint64], Ints]:
    """Return all chunks in the order of asking, and the step that asks for each; -1: the start.

    Parameters
    ----------
    values : uint8 [steps, lanes]
        What is to be coded.
    code : Code
        The code.
    """
    all_chunks, all_steps, all_lanes = [], [], []
    for lane in range(LANES):
        lengths = code.lengths[values[:, lane]]
        bits = code.bits[values[:, lane]].astype(np.uint64)
        ends = np.cumsum(lengths) + FIRST_OFFSETS[lane]
        starts = ends - lengths
        asked = int(ends[-1]) // CHUNK_BITS
        words = np.zeros(asked + 3, np.uint64)
        offset = (starts % CHUNK_BITS).astype(np.uint64)
        low = bits << offset
        at = starts // CHUNK_BITS
        mask = np.uint64((1 << CHUNK_BITS) - 1)
        # Codes do not overlap: to add is to join.
        words[: asked + 1] += _sums(at, low & mask, asked + 1)
        words[1 : asked + 2] += _sums(at, low >> np.uint64(CHUNK_BITS), asked + 1)
        crossings = np.searchsorted(ends, CHUNK_BITS * np.arange(1, asked + 1))
        all_chunks.append(words[: asked + 2])
        all_steps.append(np.concatenate([[-2, -1], crossings]))
        all_lanes.append(np.full(asked + 2, lane))
    steps: Ints = np.concatenate(all_steps)
    order = np.lexsort((np.concatenate(all_lanes), steps))
    return np.concatenate(all_chunks)[order], steps[order]


def _sums(places: Ints, terms: NDArray[np.uint64], size: int) -> NDArray[np.uint64]:
    """Return, per place, the sum of its terms; places ascend."""
    totals = np.concatenate([[np.uint64(0)], np.cumsum(terms, dtype=np.uint64)])
    ends = np.searchsorted(places, np.arange(size + 1))
    return np.diff(totals[ends])


def add_to_check(check: int, beat: int) -> int:
    """Return the check sum with one more beat of 128 bits."""
    total = _rotated(check, 1)
    for word in range(8 * BEAT_BYTES // CHECK_BITS):
        value = beat >> CHECK_BITS * word & CHECK_START
        total ^= _rotated(value, WORD_ROTATION * word)
    return total


def _rotated(value: int, by: int) -> int:
    return (value << by | value >> CHECK_BITS - by) & CHECK_START


def check_sum(beats: Bytes) -> int:
    """Return the check sum of beats, uint8 [beats, 16]."""
    words = np.ascontiguousarray(beats).view("<u4").astype(np.uint64)
    mask = np.uint64(CHECK_START)

    def rotated(values: NDArray[np.uint64], by: NDArray[np.uint64]) -> NDArray[np.uint64]:
        left = by % np.uint64(CHECK_BITS)
        return (values << left | values >> (np.uint64(CHECK_BITS) - left)) & mask

    places = WORD_ROTATION * np.arange(words.shape[1], dtype=np.uint64)
    folded = np.bitwise_xor.reduce(rotated(words, places), axis=1)
    ages = np.arange(len(beats) - 1, -1, -1, dtype=np.uint64)
    total = np.bitwise_xor.reduce(rotated(folded, ages))
    return int(total) ^ _rotated(CHECK_START, len(beats) % CHECK_BITS)


def _set_check_bits(beats: Bytes) -> None:
    """Set the check bits of the table so that the check sum is 0."""
    wanted = check_sum(beats)
    for entry in range(TABLE_ENTRIES):
        beat, place = divmod(entry, BEAT_BYTES // 2)
        word, half = divmod(place, CHECK_BITS // 16)
        rotation = WORD_ROTATION * word + len(beats) - 1 - beat
        if wanted >> (16 * half + 15 + rotation) % CHECK_BITS & 1:
            beats[beat, 2 * place + 1] |= 0x80


def decode(coded: bytes, shape: Shape) -> bytes:
    """Return the stream that `encode` was given.

    Raises
    ------
    CodecError
        If the stream is truncated or corrupt.
    """
    if len(coded) % BEAT_BYTES or len(coded) < TABLE_BEATS * BEAT_BYTES:
        raise CodecError(f"a coded stream must be whole beats with a table, not {len(coded)} bytes")
    beats = np.frombuffer(coded, np.uint8).reshape(-1, BEAT_BYTES)
    if check_sum(beats):
        raise CodecError("the check sum of a coded stream must be 0")
    reader = _Reader(coded)
    values, lengths = _peek_table(coded)
    lanes = [0] * LANES
    offsets = list(FIRST_OFFSETS)
    for position in (0, CHUNK_BITS):
        for lane in range(LANES):
            lanes[lane] |= reader.chunk() << position
    decoded = bytearray()
    mask = (1 << _PEEK_BITS) - 1
    for head in shape.heads:
        for _ in range(head):
            decoded += reader.beat()
        for _ in range(shape.steps):
            for lane in range(LANES):
                offset = offsets[lane]
                peek = lanes[lane] >> offset & mask
                decoded.append(values[peek])
                offset += lengths[peek]
                if offset >= CHUNK_BITS:
                    offset -= CHUNK_BITS
                    lanes[lane] = lanes[lane] >> CHUNK_BITS | reader.chunk() << CHUNK_BITS
                offsets[lane] = offset
    reader.end()
    return bytes(decoded)


def _peek_table(coded: bytes) -> tuple[list[int], list[int]]:
    """Return value and length of the code with which each number of `_PEEK_BITS` bits begins."""
    entries = np.frombuffer(coded[: TABLE_BEATS * BEAT_BYTES], "<u2").astype(np.int64)
    peeks = np.arange(1 << _PEEK_BITS)
    entry = entries[peeks % TABLE_ENTRIES]
    length, prefix = entry >> 8 & 15, entry >> 12 & 7
    range_bits = length - prefix
    if (range_bits < 0).any() or (range_bits > MAX_RANGE_BITS).any() or (prefix > 5).any():
        raise CodecError("the table of a coded stream must have codes of 0 to 12 bits")
    values = entry & 255 | (peeks >> prefix) & ((1 << range_bits) - 1)
    return values.tolist(), length.tolist()


class _Reader:
    """Beats and chunks of a coded stream behind its table, in the decoder's order."""

    def __init__(self, coded: bytes) -> None:
        self._coded = coded
        self._next = TABLE_BEATS * BEAT_BYTES
        self._chunks: list[int] = []
        self._refill()

    def beat(self) -> bytes:
        """Return the next beat."""
        beat = self._coded[self._next : self._next + BEAT_BYTES]
        if not beat:
            raise CodecError("a coded stream must not end before its last weight")
        self._next += BEAT_BYTES
        return beat

    def chunk(self) -> int:
        """Return the next chunk."""
        chunk = self._chunks.pop()
        if not self._chunks:
            self._refill()
        return chunk

    def _refill(self) -> None:
        beat = self.beat()
        size = CHUNK_BITS // 8
        ends = range(BEAT_BYTES, -1, -size)
        self._chunks = [int.from_bytes(beat[low:high], "little") for high, low in pairwise(ends)]

    def end(self) -> None:
        """Check that nothing is left."""
        if self._next != len(self._coded):
            raise CodecError("a coded stream must end with its last weight")
