"""Weight streams in blocks: what is coded comes back, and what was spoilt is refused."""

import itertools
import re

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kiwicha.contract.codec import BEAT_BYTES, BLOCK_LANES, FIRST_GROUPS, MAX_WIDTH, WIDTH_PAIRS
from kiwicha.program.codec import blocks
from kiwicha.program.codec.streams import CodecError, Shape
from kiwicha.program.codec.widths import best_pairs, pair_of_widths, widths_of

# Table and check sum, and what the lanes have left.
OVERHEAD_BYTES = 2 * BEAT_BYTES + 2 * BLOCK_LANES * BEAT_BYTES
# Within which the code must be of the entropy.
EXCESS_BITS = 0.6


def stream(shape: Shape, spread: float, seed: int = 0) -> bytes:
    """Return a stream with random heads and weights of a spread."""
    rng = np.random.default_rng(seed)
    parts = []
    for head in shape.heads:
        parts.append(rng.integers(0, 256, (head, BEAT_BYTES)).astype(np.uint8).tobytes())
        weights = rng.laplace(0, spread, (shape.body, BEAT_BYTES)).round().clip(-128, 127)
        parts.append(weights.astype(np.int8).tobytes())
    return b"".join(parts)


def shapes(groups: int, head: int, body: int, *, is_shared: bool) -> Shape:
    return Shape(groups, 3 * 2 * head, 2 * body, 2 * head if is_shared else None)


@settings(max_examples=60, deadline=None)
@given(
    shape=st.builds(
        shapes, st.integers(1, 5), st.integers(1, 2), st.integers(1, 20), is_shared=st.booleans()
    ),
    spread=st.sampled_from((0.0, 0.3, 2.0, 12.0, 40.0, 1000.0)),
    seed=st.integers(0, 2**32 - 1),
)
def test_round_trip(shape: Shape, spread: float, seed: int) -> None:
    raw = stream(shape, spread, seed)
    assert blocks.decode(blocks.encode(raw, shape), shape) == raw


@pytest.mark.parametrize("spread", [0.5, 2, 8, 20])
def test_size_is_near_the_entropy(spread: float) -> None:
    shape = Shape(4, 6, 1000)
    raw = stream(shape, spread)
    coded = blocks.encode(raw, shape)
    heads = sum(shape.heads) * BEAT_BYTES
    body = np.frombuffer(raw, np.uint8).reshape(shape.groups, -1)[:, shape.head * BEAT_BYTES :]
    share = np.bincount(body.ravel(), minlength=256) / body.size
    entropy = -(share[share > 0] * np.log2(share[share > 0])).sum()
    assert 8 * (len(coded) - heads - OVERHEAD_BYTES) / body.size <= entropy + EXCESS_BITS


def test_nothing_but_zeros_takes_a_nibble_for_eight() -> None:
    shape = Shape(2, 6, 400)
    coded = blocks.encode(stream(shape, 0), shape)
    weights = shape.groups * shape.body * BEAT_BYTES
    assert len(coded) <= sum(shape.heads) * BEAT_BYTES + OVERHEAD_BYTES + weights / 16


def test_biases_alone_are_coded() -> None:
    """Groups from the third on have no beats of their own in front."""
    shape = Shape(5, 6, 8, 2)
    heads, steps = blocks.in_steps(shape)
    assert heads.tolist() == [6, 6, 0, 0, 0]
    assert steps.tolist() == [4, 4, 5, 5, 5]


def test_widths_of_every_byte() -> None:
    values = np.arange(256).astype(np.uint8).view(np.int8)
    for value, width in zip(values.tolist(), widths_of(values).tolist(), strict=True):
        reach = 1 << width - 1 if width else 0
        assert -reach <= value < max(reach, 1)
        if width > 1:
            assert not -(reach // 2) <= value < reach // 2


def test_pairs_hold_every_block() -> None:
    rng = np.random.default_rng(1)
    first, second = rng.integers(0, MAX_WIDTH + 1, (2, 500))
    pairs = best_pairs(first, second)
    assert len(pairs) == WIDTH_PAIRS
    chosen = np.array(pairs)[pair_of_widths(pairs, first, second)]
    assert (chosen[:, 0] >= first).all()
    assert (chosen[:, 1] >= second).all()


def planes(pairs: list[tuple[int, int]], first: np.ndarray, second: np.ndarray) -> int:
    """Return the planes that blocks take, each under the pair that suits it best."""
    fits = [np.where((first <= a) & (second <= b), a + b, 10**6) for a, b in pairs]
    return int(np.min(fits, axis=0).sum())


EVERY_WIDTH = range(MAX_WIDTH + 1)


def least_of_exchanges(pairs: list[tuple[int, int]], first: np.ndarray, second: np.ndarray) -> int:
    """Return the fewest planes with any other pair in the place of one that is not the widest."""
    found = []
    for place, pair in enumerate(pairs):
        if pair != (MAX_WIDTH, MAX_WIDTH):
            others = pairs[:place] + pairs[place + 1 :]
            found += [
                planes([*others, other], first, second)
                for other in itertools.product(EVERY_WIDTH, EVERY_WIDTH)
            ]
    return min(found, default=planes(pairs, first, second))


@pytest.mark.parametrize("most", [0, 3, 5, MAX_WIDTH - 1, MAX_WIDTH])
def test_no_other_pair_is_better(most: int) -> None:
    first, second = np.random.default_rng(most).integers(0, most + 1, (2, 900))
    pairs = best_pairs(first, second)
    # Whatever comes fits the widest one, and the others are in use.
    widest = (MAX_WIDTH, MAX_WIDTH)
    assert widest in pairs
    assert len(set(pairs)) == min(WIDTH_PAIRS, (most + 1) ** 2 + (most < MAX_WIDTH))
    least = planes(pairs, first, second)
    chosen = np.array(pairs)[pair_of_widths(pairs, first, second)]
    assert chosen.sum() == least
    assert least_of_exchanges(pairs, first, second) >= least


def test_pairs_are_exchanged_three_times() -> None:
    for seed in (0, 2, 5):
        blocks_of_three = np.random.default_rng(seed).integers(0, MAX_WIDTH + 1, (2, 60))
        pairs = best_pairs(*blocks_of_three)
        assert least_of_exchanges(pairs, *blocks_of_three) >= planes(pairs, *blocks_of_three)
    # Blocks for which a fourth time would find better pairs.
    rng = np.random.default_rng(164)
    others = rng.geometric(0.3, (2, 300)).clip(max=MAX_WIDTH)
    pairs = best_pairs(*others)
    assert least_of_exchanges(pairs, *others) < planes(pairs, *others)


def test_few_kinds_of_blocks_take_what_they_need() -> None:
    """Also such as occur once."""
    first, second = np.array([(0, 3), (8, 1), (2, 2), (4, 0), (1, 8)]).T
    pairs = best_pairs(first, second)
    assert sorted(pairs[:5]) == sorted(zip(first.tolist(), second.tolist(), strict=True))
    assert pairs[5:] == [(MAX_WIDTH, MAX_WIDTH)] * (WIDTH_PAIRS - 5)


@pytest.mark.parametrize(("zero_point", "is_unsigned"), [(0, False), (128, True), (-3, False)])
def test_zero_points_come_and_go(zero_point: int, is_unsigned: bool) -> None:
    shape = Shape(3, 6, 8, 2)
    raw = stream(shape, 9)
    if is_unsigned:
        heads, bodies = blocks.split(raw, shape)
        raw = blocks.joined(heads, bodies ^ 128, shape)
    weights = blocks.weights_of(raw, shape, zero_point, is_unsigned=is_unsigned)
    assert weights is not None
    for other in (0, 13, -200):
        moved = blocks.moved(raw, shape, weights, other)
        back = blocks.with_weights(moved, shape, other)
        same = blocks.weights_of(back, shape, 0, is_unsigned=False)
        np.testing.assert_array_equal(same, weights)


def test_weights_of_nine_bits_are_not_coded() -> None:
    shape = Shape(1, 6, 2)
    raw = stream(shape, 1000)
    assert blocks.weights_of(raw, shape, -128, is_unsigned=False) is None


def small_stream() -> tuple[bytes, Shape]:
    shape = Shape(FIRST_GROUPS + 1, 6, 6, 2)
    return blocks.encode(stream(shape, 9), shape), shape


def test_any_wrong_bit_is_found() -> None:
    coded, shape = small_stream()
    for place in range(8 * len(coded)):
        spoilt = bytearray(coded)
        spoilt[place // 8] ^= 1 << place % 8
        with pytest.raises(CodecError, match=r"^the check sum of a coded stream must be 0$"):
            blocks.decode(bytes(spoilt), shape)


def with_check(coded: bytes) -> bytes:
    """Return a stream with the check sum that belongs to it."""
    beats = np.frombuffer(coded, np.uint8).reshape(-1, BEAT_BYTES).copy()
    beats[1, :4] = 0
    blocks._set_check(beats)
    return beats.tobytes()


def test_truncated_streams_are_found() -> None:
    coded, shape = small_stream()
    for size in range(len(coded)):
        with pytest.raises(CodecError):
            blocks.decode(coded[:size], shape)
    message = "a coded stream must not end before its last weight"
    for beats in range(2, len(coded) // BEAT_BYTES):
        with pytest.raises(CodecError, match=f"^{message}$"):
            blocks.decode(with_check(coded[: BEAT_BYTES * beats]), shape)


def test_what_is_left_over_is_found() -> None:
    coded, shape = small_stream()
    # Each lane holds a beat more than it needs, which is not stored.
    whole = with_check(coded + bytes(BLOCK_LANES * BEAT_BYTES))
    assert blocks.decode(whole, shape) == blocks.decode(coded, shape)
    message = "a coded stream must end with its last weight"
    with pytest.raises(CodecError, match=f"^{message}$"):
        blocks.decode(with_check(whole + bytes(BEAT_BYTES)), shape)


def test_tables_of_no_widths_are_found() -> None:
    coded, shape = small_stream()
    spoilt = bytearray(coded)
    spoilt[3] = 9
    message = "the table of a coded stream must have widths of 0 to 8"
    with pytest.raises(CodecError, match=f"^{message}$"):
        blocks.decode(with_check(bytes(spoilt)), shape)


def test_rejects_groups_of_no_whole_steps() -> None:
    shape = Shape(1, 1, 1)
    message = f"what is coded of {shape} must be steps of 32 bytes"
    with pytest.raises(ValueError, match=f"^{re.escape(message)}$"):
        blocks.encode(bytes(32), shape)


def test_rejects_streams_of_another_size() -> None:
    shape = Shape(1, 1, 2)
    message = f"a stream of {shape} must have 48 bytes, not 31"
    with pytest.raises(ValueError, match=f"^{re.escape(message)}$"):
        blocks.encode(bytes(31), shape)
