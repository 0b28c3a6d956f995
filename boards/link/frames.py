"""Frames of the serial line: `kiwicha.contract.serial` is the contract."""

import struct
import zlib

__all__ = ["decode_frame", "encode_frame"]

_LONGEST_BLOCK = 254


def encode_frame(body: bytes) -> bytes:
    """Return a frame: body and CRC-32 without zero bytes, and a zero."""
    raw = body + struct.pack("<I", zlib.crc32(body))
    coded = bytearray()
    # Every block stands for its bytes and a zero, which the last one lacks.
    for piece in raw.split(b"\0"):
        at = 0
        while len(piece) - at >= _LONGEST_BLOCK:
            coded += bytes([_LONGEST_BLOCK + 1]) + piece[at : at + _LONGEST_BLOCK]
            at += _LONGEST_BLOCK
        coded += bytes([len(piece) - at + 1]) + piece[at:]
    return bytes(coded) + b"\0"


def decode_frame(coded: bytes) -> bytes | None:
    """Return the body of a frame without its zero; None if it is none.

    Parameters
    ----------
    coded : bytes
        What came before a zero byte.
    """
    raw = bytearray()
    at = 0
    while at < len(coded):
        code = coded[at]
        if code == 0 or at + code > len(coded):
            return None
        raw += coded[at + 1 : at + code]
        at += code
        if code <= _LONGEST_BLOCK and at < len(coded):
            raw.append(0)
    body, crc = bytes(raw[:-4]), bytes(raw[-4:])
    return body if len(raw) >= 4 and crc == struct.pack("<I", zlib.crc32(body)) else None
