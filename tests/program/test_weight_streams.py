"""Order of weight streams, against its definition byte by byte."""

import numpy as np
import pytest

from kiwicha.contract.engine import EngineJob, JobFlag, JobKind
from kiwicha.program import weight_streams as packing
from kiwicha.program.codec.streams import Shape
from kiwicha.program.weight_streams import Parameters


def parameters(channels: int, seed: int = 0) -> Parameters:
    rng = np.random.default_rng(seed)
    return Parameters(*rng.integers(-(2**31), 2**31, (3, channels), np.int32))


@pytest.mark.parametrize(
    ("macs", "kind", "flags", "channels"),
    [
        (64, JobKind.CONV, 0, 8),
        (32, JobKind.CONV, 0, 4),
        (64, JobKind.DEPTHWISE, 0, 16),
        (32, JobKind.DEPTHWISE, JobFlag.ONES, 8),
        (64, JobKind.DEPTHWISE, JobFlag.TAPS_8, 8),
        (128, JobKind.CONV, 0, 8),
        (128, JobKind.CONV, JobFlag.PACKED, 16),
        (128, JobKind.DEPTHWISE, 0, 16),
        (256, JobKind.CONV, 0, 16),
        (256, JobKind.CONV, JobFlag.PACKED, 16),
        (256, JobKind.DEPTHWISE, 0, 16),
        (256, JobKind.DEPTHWISE, JobFlag.TAPS_8, 16),
    ],
)
def test_channels_of_a_group(macs: int, kind: JobKind, flags: int, channels: int) -> None:
    assert packing.channels_per_group(macs, kind, JobFlag(flags)) == channels


@pytest.mark.parametrize(("macs", "outputs"), [(32, 4), (64, 8), (128, 8), (256, 16)])
@pytest.mark.parametrize("channels", [1, 8, 13])
def test_conv_words(macs: int, outputs: int, channels: int) -> None:
    weights = np.random.default_rng(channels).integers(-128, 128, (channels, 5, 8), np.int8)
    words = packing.pack_conv_words(weights, macs)
    assert words.shape == (-(-channels // outputs), 5, 8 * outputs)
    for (group, word, byte), value in np.ndenumerate(words):
        lane, o = divmod(byte, outputs)
        channel = group * outputs + o
        assert value == (weights[channel, word, lane] if channel < channels else 0)
    again = packing.unpack_conv_words(words, macs)
    assert np.array_equal(again[:channels], weights)


@pytest.mark.parametrize("channels", [1, 16, 29])
def test_packed_words_are_two_words(channels: int) -> None:
    weights = np.random.default_rng(channels).integers(-127, 128, (channels, 5, 8), np.int8)
    packed = packing.pack_conv_words(weights, 128, is_packed=True)
    single = packing.pack_conv_words(weights, 128)
    assert packed.shape[2] == packing.bytes_of_word(128, JobFlag.PACKED)
    for group, word in np.ndindex(*packed.shape[:2]):
        for half, values in enumerate(packed[group, word].reshape(2, 64)):
            number = 2 * group + half
            expected = single[number, word] if number < len(single) else np.zeros(64)
            assert np.array_equal(values, expected)
    again = packing.unpack_conv_words(packed, 128)
    assert np.array_equal(again[:channels], weights)
    assert not again[channels:].any()


@pytest.mark.parametrize("channels", [1, 16, 29])
def test_deep_words_have_16_inputs(channels: int) -> None:
    weights = np.random.default_rng(channels).integers(-127, 128, (channels, 5, 16), np.int8)
    words = packing.pack_conv_words(weights, 256, is_packed=True)
    assert words.shape == (-(-channels // 16), 5, packing.bytes_of_word(256, JobFlag.PACKED))
    for (group, word, byte), value in np.ndenumerate(words):
        half, cell = divmod(byte, 128)
        lane, pair = divmod(cell, 16)
        channel, lane = 16 * group + 8 * half + pair % 8, lane + 8 * (pair // 8)
        assert value == (weights[channel, word, lane] if channel < channels else 0)
    again = packing.unpack_conv_words(words, 256)
    assert np.array_equal(again[:channels], weights)


@pytest.mark.parametrize("macs", [32, 64])
@pytest.mark.parametrize(
    ("taps", "columns", "stride"), [(4, 3, 1), (4, 5, 2), (8, 7, 1), (4, 4, 3)]
)
def test_depthwise_words(macs: int, taps: int, columns: int, stride: int) -> None:
    outputs = macs // 8
    group_channels = 8 * outputs // taps
    rows, channels = 2, group_channels + 3
    weights = np.random.default_rng(taps).integers(-128, 128, (rows, columns, channels), np.int8)
    words = packing.pack_depthwise_words(weights, macs, group_channels, stride)
    assert words.shape == (2, stride * rows, macs)
    slots = -(-columns // stride)
    for (group, word, byte), value in np.ndenumerate(words):
        lane, o = divmod(byte, outputs)
        # Four taps: the upper half of a chain pair is another channel.
        tap, channel = (lane % 4, o + lane // 4 * outputs) if taps == 4 else (lane, o)
        channel += group * group_channels
        phase, row = divmod(word, rows)
        column = stride * (tap - taps + slots) + phase
        is_used = tap >= taps - slots and column < columns and channel < channels
        assert value == (weights[row, column, channel] if is_used else 0)


def test_groups() -> None:
    values = parameters(11)
    words = np.random.default_rng(1).integers(-128, 128, (2, 3, 64), np.int8)
    raw = packing.pack_groups(values, words, 8)
    assert len(raw) == 2 * (8 * 12 + 3 * 64)
    for channel in range(16):
        group, inside = divmod(channel, 8)
        start = group * (96 + 192) + inside // 4 * 48 + inside % 4 * 4
        found = [int.from_bytes(raw[start + 16 * k :][:4], "little", signed=True) for k in range(3)]
        fields = (values.bias, values.multiplier, values.shift)
        assert found == [int(field[channel]) if channel < 11 else 0 for field in fields]
    assert raw[96 : 96 + 192] == words[0].tobytes()
    back, same = packing.unpack_groups(raw, 2, 8, 3, 64)
    assert np.array_equal(same, words)
    assert np.array_equal(back.bias[:11], values.bias)
    assert np.array_equal(back.shift[:11], values.shift)
    assert np.array_equal(back.multiplier[:11], values.multiplier)


def test_refuses_streams_of_another_size() -> None:
    with pytest.raises(ValueError, match=r"^a stream must have 576 bytes, not 575$"):
        packing.unpack_groups(bytes(575), 2, 8, 3, 64)


@pytest.mark.parametrize(("macs", "outputs"), [(32, 4), (64, 8), (256, 16)])
def test_tables(macs: int, outputs: int) -> None:
    tables = np.random.default_rng(2).integers(-(2**28), 2**28, (256, 2), np.int32)
    fields = np.random.default_rng(3).integers(-99, 99, (3, 2 * outputs), np.int32)
    raw = packing.pack_tables(tables, packing.Parameters(*fields), macs)
    head = 12 * outputs
    assert len(raw) == 2 * (head + 2048)
    for start in (head, 2 * head + 2048):
        assert raw[start + 8 * 200 :][:8] == tables[200].astype("<i4").tobytes()
    values, same = packing.unpack_tables(raw, 2, macs)
    assert np.array_equal([values.bias, values.multiplier, values.shift], fields)
    assert np.array_equal(same, [tables, tables])


def test_refuses_tables_of_another_size() -> None:
    zeros = packing.Parameters(*(np.zeros(8, np.int32) for _ in range(3)))
    raw = packing.pack_tables(np.zeros((256, 2), np.int32), zeros, 64)
    with pytest.raises(ValueError, match=r"^a stream must have 2144 bytes, not 2136$"):
        packing.unpack_tables(raw[:-8], 1, 64)


def stream_of(groups: int, channels: int = 8, words: int = 2, *, is_shared: bool) -> bytes:
    """Return a stream in which multipliers and shifts repeat from the third group on."""
    values = parameters(groups * channels, seed=groups)
    fields = [values.multiplier, values.shift]
    if is_shared:
        fields = [np.resize(field[: 2 * channels], groups * channels) for field in fields]
    body = np.random.default_rng(groups).integers(-128, 128, (groups, words, 64), np.int8)
    return packing.pack_groups(Parameters(values.bias, *fields), body, channels)


def shape_of(groups: int, flags: JobFlag, **fields: int) -> Shape:
    blank = dict.fromkeys((name for name, _, _ in EngineJob.layout()), 0)
    shared = {"kind": JobKind.CONV, "flags": flags, "groups": groups, "group_words": 2}
    return packing.stream_shape(EngineJob(**{**blank, **shared, **fields}), 64)


@pytest.mark.parametrize(
    ("flags", "fields", "expected"),
    [
        # Per 4 channels 3 beats, and 4 beats per word.
        (JobFlag(0), {}, (6, 8, 6)),
        (JobFlag.SHARED, {}, (6, 8, 2)),
        (JobFlag.HELD, {}, (6, 0, 6)),
        (JobFlag.HELD | JobFlag.LOADS, {}, (6, 8, 6)),
        (JobFlag(0), {"kind": JobKind.DEPTHWISE}, (12, 8, 12)),
        # Passes of 9 words of 8 bytes and one of zeros.
        (JobFlag(0), {"kind": JobKind.DEPTHWISE_UNIT}, (6, 10, 6)),
    ],
)
def test_shapes_of_streams(
    flags: JobFlag, fields: dict[str, int], expected: tuple[int, int, int]
) -> None:
    assert shape_of(5, flags, **fields) == Shape(5, *expected)


@pytest.mark.parametrize("groups", [3, 4, 7])
def test_shared_parameters_come_once(groups: int) -> None:
    raw = stream_of(groups, is_shared=True)
    short = packing.without_shared(raw, shape_of(groups, JobFlag(0)))
    assert short is not None
    # Of 8 channels 64 bytes are left out; biases stay where they were, four at a time.
    assert len(short) == len(raw) - (groups - 2) * 64
    size, later = 96 + 128, 32 + 128
    assert short[: 2 * size] == raw[: 2 * size]
    for group in range(2, groups):
        whole, part = raw[group * size :][:size], short[2 * size + (group - 2) * later :][:later]
        assert part == whole[:16] + whole[48:64] + whole[96:]
    shape = shape_of(groups, JobFlag.SHARED)
    assert len(short) == shape.raw_bytes
    assert packing.with_shared(short, shape) == raw
    with pytest.raises(ValueError, match=rf"^a stream must have {len(short)} bytes, not "):
        packing.with_shared(short + bytes(16), shape)


@pytest.mark.parametrize(("groups", "is_shared"), [(1, True), (2, True), (3, False), (6, False)])
def test_parameters_that_differ_are_not_shared(groups: int, is_shared: bool) -> None:
    raw = stream_of(groups, is_shared=is_shared)
    assert packing.without_shared(raw, shape_of(groups, JobFlag(0))) is None


@pytest.mark.parametrize("place", [16, 32])
def test_one_other_scale_is_enough(place: int) -> None:
    """A multiplier or a shift of the last group, of the second four channels."""
    raw = bytearray(stream_of(5, is_shared=True))
    raw[4 * (96 + 128) + 48 + place] ^= 1
    assert packing.without_shared(bytes(raw), shape_of(5, JobFlag(0))) is None


def test_streams_without_shared_parameters_stay() -> None:
    raw = stream_of(3, is_shared=True)
    for shape in (shape_of(3, JobFlag(0)), Shape(3, 6, 8)):
        assert packing.with_shared(raw, shape) == raw
    # Up to two groups have all of theirs.
    two = stream_of(2, is_shared=True)
    assert packing.with_shared(two, shape_of(2, JobFlag.SHARED)) == two


@pytest.mark.parametrize(("rows", "columns"), [(1, 1), (3, 3), (4, 3), (2, 7), (7, 7)])
@pytest.mark.parametrize("channels", [8, 13])
def test_words_of_the_depthwise_unit(rows: int, columns: int, channels: int) -> None:
    shape = (rows, columns, channels)
    weights = np.random.default_rng(rows).integers(-128, 128, shape, np.int8)
    words = packing.pack_unit_words(weights)
    down, right = -(-rows // 3), -(-columns // 3)
    assert words.shape == (-(-channels // 8), down * right, 80)
    assert words.dtype == np.int8
    for (group, number, byte), value in np.ndenumerate(words):
        tap, inside = divmod(byte, 8)
        row, column = 3 * (number // right) + tap // 3, 3 * (number % right) + tap % 3
        channel = 8 * group + inside
        is_used = tap < 9 and row < rows and column < columns and channel < channels
        assert value == (weights[row, column, channel] if is_used else 0)
    again = packing.unpack_unit_words(words, rows, columns)
    assert again.shape == (rows, columns, 8 * len(words))
    assert np.array_equal(again[..., :channels], weights)
    assert not again[..., channels:].any()
