"""Pieces of a Program's stored form: checksum, names, records, references.

Functions that read raise `ValueError` for bytes that contradict themselves; `program.image` turns
it into its own error.
"""

import dataclasses
from typing import TypeVar

import numpy as np

from kiwicha.contract import cfu
from kiwicha.contract.layout import Ref, Struct
from kiwicha.contract.program import MAX_RANK, IoRecord, LayerRecord

__all__ = [
    "CHECKED_FROM",
    "Names",
    "aligned",
    "check_refs",
    "checksum",
    "moved_constants",
    "name_at",
    "padded_shape",
    "put",
    "records",
    "shape_of",
]

S = TypeVar("S", bound=Struct)

_CHECKSUM_BLOCK = 1 << 16
CHECKED_FROM = 20
"""First byte that the checksum covers: what follows the checksum field."""


def checksum(raw: bytes | memoryview) -> tuple[int, int]:
    """Return the two words of a Program's checksum.

    Parameters
    ----------
    raw : bytes or memoryview
        A multiple of 4 bytes, read as little-endian words w[0], w[1], ...

    Returns
    -------
    tuple of int
        Modulo 2**32, the sum of the words and the sum of all prefix sums: any changed word changes
        the first, any two exchanged ones the second.
    """
    words = np.frombuffer(raw, "<u4")
    # Products and sums of uint32 are those modulo 2**32; blocks stay in the machine's caches.
    weights = np.arange(_CHECKSUM_BLOCK, 0, -1, dtype=np.uint32)
    total = prefixes = 0
    for start in range(0, len(words), _CHECKSUM_BLOCK):
        block = words[start : start + _CHECKSUM_BLOCK]
        within = (block * weights[-len(block) :]).sum(dtype=np.uint32)
        prefixes += len(block) * total + int(within)
        total += int(block.sum(dtype=np.uint32))
    return total & 0xFFFF_FFFF, prefixes & 0xFFFF_FFFF


class Names:
    """Zero-terminated strings, each stored once."""

    def __init__(self) -> None:
        self.raw = b""
        self._offsets: dict[str, int] = {}

    def add(self, name: str) -> int:
        """Return the offset of ``name``.

        Raises
        ------
        ValueError
            If the name holds a zero byte or cannot be encoded.
        """
        if "\0" in name:
            raise ValueError(f"a name must not hold a zero byte, not {name!r}")
        if name not in self._offsets:
            self._offsets[name] = len(self.raw)
            self.raw += name.encode() + b"\0"
        return self._offsets[name]


def name_at(names: bytes, offset: int) -> str:
    """Return the name that starts at ``offset``."""
    end = names.find(b"\0", offset)
    if end < 0:
        raise ValueError(f"a name at {offset} must end inside the {len(names)} bytes of the names")
    return names[offset:end].decode()


def padded_shape(shape: tuple[int, ...]) -> tuple[int, ...]:
    """Return ``shape`` with zeros up to `MAX_RANK`."""
    return shape + (0,) * (MAX_RANK - len(shape))


def shape_of(record: LayerRecord | IoRecord) -> tuple[int, ...]:
    """Return the dimensions that a record uses."""
    if record.rank > MAX_RANK:
        raise ValueError(f"rank must be 0 to {MAX_RANK}, not {record.rank}")
    if any(record.shape[record.rank :]):
        raise ValueError(f"unused dimensions must be 0, not {record.shape[record.rank :]}")
    return record.shape[: record.rank]


def aligned(size: int) -> int:
    """Return ``size`` rounded up to the alignment of constants."""
    return -(-size // cfu.ALIGNMENT_BYTES) * cfu.ALIGNMENT_BYTES


def put(image: bytearray, offset: int, record: Struct) -> None:
    """Write a record into ``image``."""
    raw = record.pack()
    image[offset : offset + len(raw)] = raw


def records(kind: type[S], raw: bytes, offset: int, count: int) -> list[S]:
    """Return ``count`` records that lie one after the other from ``offset`` on."""
    size = kind.size_bytes()
    if offset + count * size > len(raw):
        raise ValueError(f"{count} {kind.__name__} at {offset} must lie inside {len(raw)} bytes")
    found = [kind.unpack(raw[offset + k * size : offset + (k + 1) * size]) for k in range(count)]
    for record in found:
        if getattr(record, "reserved", 0):
            raise ValueError(f"reserved field must be 0 ({record})")
    return found


def moved_constants(params: S, distance: int) -> S:
    """Return ``params`` with every constant reference moved by ``distance`` bytes."""
    changes = {}
    for name, ref in _refs(params).items():
        if ref.is_constant and ref.bytes:
            if ref.offset + distance < 0:
                raise ValueError(f"{type(params).__name__}.{name} must point at a constant")
            changes[name] = dataclasses.replace(ref, offset=ref.offset + distance)
    return dataclasses.replace(params, **changes)


def check_refs(params: Struct, arena_bytes: int, constants_bytes: int) -> None:
    """Check that every reference lies inside the arena or the constants."""
    for name, ref in _refs(params).items():
        limit = constants_bytes if ref.is_constant else arena_bytes
        if ref.bytes and ref.offset + ref.bytes > limit:
            where = "constants" if ref.is_constant else "arena"
            raise ValueError(
                f"{type(params).__name__}.{name} must lie inside the {limit} bytes of the {where}"
                f" ({ref})"
            )


def _refs(params: Struct) -> dict[str, Ref]:
    return {name: getattr(params, name) for name, kind, _ in params.layout() if kind.base == "ref"}
