"""Frames of the serial line."""

import random
import zlib

import pytest

from kiwicha.boards.link.frames import decode_frame, encode_frame
from kiwicha.contract.serial import SERIAL_FRAME_BYTES


def bodies() -> list[bytes]:
    chance = random.Random(1)
    sizes = [0, 1, 250, 253, 254, 255, 508, 509, 1030]
    return [
        *(bytes(size) for size in sizes),
        *(b"\x01" * size for size in sizes),
        *(chance.randbytes(size) for size in sizes),
    ]


@pytest.mark.parametrize("body", bodies(), ids=lambda body: f"{len(body)}-{zlib.crc32(body):x}")
def test_frames_hold_no_zero_before_their_end(body: bytes) -> None:
    frame = encode_frame(body)
    assert frame.index(0) == len(frame) - 1
    assert len(frame) <= SERIAL_FRAME_BYTES
    assert decode_frame(frame[:-1]) == body


def test_a_known_frame() -> None:
    crc = zlib.crc32(b"\x01\x00\x02").to_bytes(4, "little")
    assert 0 not in crc
    assert encode_frame(b"\x01\x00\x02") == b"\x02\x01\x06\x02" + crc + b"\0"


@pytest.mark.parametrize("at", range(12))
def test_a_changed_byte_is_noticed(at: int) -> None:
    frame = bytearray(encode_frame(b"abc\0defg")[:-1])
    frame[at] ^= 0x11
    assert decode_frame(bytes(frame)) is None


def test_half_a_frame_is_none() -> None:
    frame = encode_frame(bytes(range(100)))[:-1]
    assert decode_frame(frame[:50]) is None
    assert decode_frame(b"") is None
