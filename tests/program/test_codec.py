"""The weight codec: what is coded comes back, and what was spoilt is refused."""

import re

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kiwicha.contract.codec import (
    BEAT_BYTES,
    CHECK_BITS,
    CHECK_START,
    CHUNK_BITS,
    LANES,
    TABLE_BEATS,
    WORD_ROTATION,
)
from kiwicha.program.codec import streams as codec
from kiwicha.program.codec.streams import CodecError, Shape

# Table, two chunks a lane when it starts and two that are left, the last beat's padding.
OVERHEAD_BYTES = TABLE_BEATS * BEAT_BYTES + 2 * LANES * CHUNK_BITS // 8 + 2 * 16


def stream(shape: Shape, values: np.ndarray, seed: int = 0) -> bytes:
    """Return a stream with random heads and bodies of ``values``."""
    groups = np.random.default_rng(seed).integers(
        0, 256, (shape.groups, shape.head + shape.body, BEAT_BYTES)
    )
    groups[:, shape.head :] = values.reshape(shape.groups, shape.body, BEAT_BYTES)
    return groups.astype(np.uint8).tobytes()


def entropy_bits(values: np.ndarray) -> float:
    counts = np.bincount(values.astype(np.uint8).ravel(), minlength=256)
    share = counts[counts > 0] / counts.sum()
    return float(-(share * np.log2(share)).sum())


shapes = st.builds(Shape, st.integers(1, 4), st.integers(1, 6), st.integers(1, 20))


@settings(max_examples=60, deadline=None)
@given(shape=shapes, seed=st.integers(0, 2**32 - 1), symbols=st.integers(1, 256), data=st.data())
def test_round_trip(shape: Shape, seed: int, symbols: int, data: st.DataObject) -> None:
    rng = np.random.default_rng(seed)
    alphabet = rng.permutation(256)[:symbols]
    decay = data.draw(st.floats(0.5, 1))
    shares = decay ** np.arange(symbols) + 1e-9
    size = shape.groups * shape.body * BEAT_BYTES
    raw = stream(shape, rng.choice(alphabet, size, p=shares / shares.sum()), seed)
    assert codec.decode(codec.encode(raw, shape), shape) == raw


@pytest.mark.parametrize("value", [0, 1, 127, 128, 255])
def test_one_value_takes_no_bits(value: int) -> None:
    shape = Shape(3, 6, 200)
    raw = stream(shape, np.full(shape.groups * shape.body * BEAT_BYTES, value))
    coded = codec.encode(raw, shape)
    assert len(coded) <= shape.groups * shape.head * BEAT_BYTES + OVERHEAD_BYTES
    assert codec.decode(coded, shape) == raw


@pytest.mark.parametrize(("value", "others"), [(0, 1), (3, 250)])
def test_a_rare_value_among_many(value: int, others: int) -> None:
    shape = Shape(1, 1, 500)
    values = np.full(shape.body * BEAT_BYTES, value)
    values[[0, 4000, -1]] = others
    raw = stream(shape, values)
    coded = codec.encode(raw, shape)
    assert len(coded) <= 1.01 * values.size / 8 + OVERHEAD_BYTES + BEAT_BYTES
    assert codec.decode(coded, shape) == raw


@pytest.mark.parametrize(
    ("spread", "excess"), [(0.5, 0.25), (2, 0.2), (8, 0.21), (20, 0.08), (40, 0.05), (1e6, 0.01)]
)
def test_size_is_near_the_entropy(spread: float, excess: float) -> None:
    shape = Shape(4, 6, 1000)
    size = shape.groups * shape.body * BEAT_BYTES
    values = np.random.default_rng(7).laplace(0, spread, size).round().astype(np.int64) & 255
    coded = codec.encode(stream(shape, values), shape)
    heads = shape.groups * shape.head * BEAT_BYTES
    bits = 8 * (len(coded) - heads - OVERHEAD_BYTES) / size
    assert bits <= entropy_bits(values) + excess


def small_stream() -> tuple[bytes, Shape]:
    shape = Shape(2, 2, 12)
    values = np.random.default_rng(3).laplace(0, 9, 2 * 12 * BEAT_BYTES).round()
    return codec.encode(stream(shape, values.astype(np.int64) & 255), shape), shape


def test_any_wrong_bit_is_found() -> None:
    coded, shape = small_stream()
    for place in range(8 * len(coded)):
        spoilt = bytearray(coded)
        spoilt[place // 8] ^= 1 << place % 8
        with pytest.raises(CodecError, match=r"^the check sum of a coded stream must be 0$"):
            codec.decode(bytes(spoilt), shape)


def with_check(coded: bytes) -> bytes:
    """Return a stream with the check bits that belong to it."""
    beats = np.frombuffer(coded, np.uint8).reshape(-1, BEAT_BYTES).copy()
    beats[:TABLE_BEATS, 1::2] &= 0x7F
    codec._set_check_bits(beats)
    return beats.tobytes()


def test_truncated_streams_are_found() -> None:
    coded, shape = small_stream()
    for size in range(len(coded)):
        with pytest.raises(CodecError):
            codec.decode(coded[:size], shape)
    for beats in range(TABLE_BEATS, len(coded) // BEAT_BYTES):
        message = "a coded stream must not end before its last weight"
        with pytest.raises(CodecError, match=f"^{message}$"):
            codec.decode(with_check(coded[: BEAT_BYTES * beats]), shape)


def test_what_is_left_over_is_found() -> None:
    coded, shape = small_stream()
    message = "a coded stream must end with its last weight"
    with pytest.raises(CodecError, match=f"^{message}$"):
        codec.decode(with_check(coded + bytes(BEAT_BYTES)), shape)


def test_tables_of_no_code_are_found() -> None:
    coded, shape = small_stream()
    spoilt = bytearray(coded)
    spoilt[1] = 7 << 4
    message = "the table of a coded stream must have codes of 0 to 12 bits"
    with pytest.raises(CodecError, match=f"^{message}$"):
        codec.decode(with_check(bytes(spoilt)), shape)


@settings(max_examples=60, deadline=None)
@given(st.binary(min_size=64, max_size=640).map(lambda raw: raw[: len(raw) // 16 * 16]))
def test_random_streams_end(raw: bytes) -> None:
    """With a right check sum, too, they give bytes of the right number or an error."""
    shape = Shape(2, 1, 5)
    try:
        decoded = codec.decode(with_check(raw), shape)
    except CodecError:
        return
    assert len(decoded) == shape.raw_bytes


def test_check_sum_of_one_beat_after_the_other() -> None:
    coded, _ = small_stream()
    check = CHECK_START
    for first in range(0, len(coded), BEAT_BYTES):
        beat = int.from_bytes(coded[first : first + BEAT_BYTES], "little")
        check = codec.add_to_check(check, beat)
    assert check == 0


def test_each_bit_of_a_beat_has_its_place_in_the_check_sum() -> None:
    """Words are rotated by a little more each, sums by one bit from beat to beat."""
    for place in range(8 * BEAT_BYTES):
        word, bit = divmod(place, CHECK_BITS)
        expected = 1 << (bit + WORD_ROTATION * word) % CHECK_BITS
        assert codec.add_to_check(0, 1 << place) == expected
        assert codec.add_to_check(expected, 0) == (expected << 1) % 2**32 | expected >> 31
        beat = np.frombuffer((1 << place).to_bytes(BEAT_BYTES, "little"), np.uint8)[None]
        for later in (0, 1, 31, 32, 40):
            following = np.concatenate([beat, np.zeros((later, BEAT_BYTES), np.uint8)])
            turned = expected << later % 32
            # What it begins with is all ones, however it is rotated.
            check = (turned % 2**32 | turned >> 32) ^ CHECK_START
            assert codec.check_sum(following) == check


@pytest.mark.parametrize(("name", "least"), [("groups", 1), ("head", 1), ("body", 0)])
def test_rejects_bad_shapes(name: str, least: int) -> None:
    values = {"groups": 1, "head": 1, "body": 1} | {name: least - 1}
    with pytest.raises(ValueError, match=f"^{name} must be {least} or more, not {least - 1}$"):
        Shape(**values)


def test_rejects_streams_of_another_size() -> None:
    shape = Shape(1, 1, 1)
    message = f"a stream of {shape} must have 32 bytes, not 31"
    with pytest.raises(ValueError, match=f"^{re.escape(message)}$"):
        codec.encode(bytes(31), shape)
