"""What an ONNX file looks like from outside, without the package that reads it.

The format is a protocol buffer without a magic number: fields of the outermost message, one after
the other, each with its number, the kind of its encoding, and its content.
"""

__all__ = ["is_onnx"]

_VERSION, _GRAPH = 1, 7
"""Fields of ``ModelProto``."""
_FIELDS = frozenset({1, 2, 3, 4, 5, 6, 7, 8, 14, 20, 25, 26})
_VARINT, _BYTES = 0, 2
"""Encodings that these fields have."""


def is_onnx(raw: bytes) -> bool:
    """Return whether bytes are an ONNX model, whole or cut off, as far as its outside tells.

    Parameters
    ----------
    raw : bytes
        Content of a file.
    """
    place, found = 0, []
    while place < len(raw):
        key, place = _number(raw, place)
        value, place = _number(raw, place)
        if key is None or value is None:
            break
        if key >> 3 not in _FIELDS or key & 7 not in {_VARINT, _BYTES}:
            return False
        found.append(key >> 3)
        if key & 7 == _BYTES:
            place += value
    return found[:1] == [_VERSION] and _GRAPH in found


def _number(raw: bytes, place: int) -> tuple[int | None, int]:
    """Return an integer of variable length and the place behind it; None if there is none."""
    value = 0
    for count, byte in enumerate(raw[place : place + 10]):
        value |= (byte & 0x7F) << 7 * count
        if not byte & 0x80:
            return value, place + count + 1
    return None, len(raw)
