"""Binary structures defined once as dataclasses: packed here, turned into C by the firmware build.

A structure is a frozen dataclass that derives from `Struct`, each field declared with one of
`u8 u16 u32 i8 i16 i32 f32 ref array`. Little-endian, naturally aligned, without implicit padding: a
layout that would need padding is refused at import.
"""

import dataclasses
import functools
import struct
from typing import Any, ClassVar, Self

__all__ = [
    "FieldType",
    "Ref",
    "Struct",
    "array",
    "f32",
    "i8",
    "i16",
    "i32",
    "ref",
    "u8",
    "u16",
    "u32",
]

_FORMATS = {
    "u8": "B",
    "u16": "H",
    "u32": "I",
    "i8": "b",
    "i16": "h",
    "i32": "i",
    "f32": "f",
    "ref": "II",
}
_ALIGN = {"u8": 1, "u16": 2, "u32": 4, "i8": 1, "i16": 2, "i32": 4, "f32": 4, "ref": 4}


@dataclasses.dataclass(frozen=True)
class Ref:
    """A range of bytes in the arena or among the Program's constants.

    Parameters
    ----------
    offset : int
        First byte, 0 to 2**31 - 1, from the start of the arena or of the Program.
    bytes : int
        Size; 0 means "no tensor".
    is_constant : bool
        True: the offset counts from the Program's first byte. False: from the arena's.
    """

    offset: int = 0
    bytes: int = 0
    is_constant: bool = False

    CONSTANT_BIT: ClassVar[int] = 1 << 31

    def words(self) -> tuple[int, int]:
        """Return the two 32-bit words of the stored form."""
        return self.offset | (self.CONSTANT_BIT if self.is_constant else 0), self.bytes

    @classmethod
    def from_words(cls, word: int, size: int) -> Self:
        """Return the reference stored as two words."""
        return cls(word & (cls.CONSTANT_BIT - 1), size, bool(word & cls.CONSTANT_BIT))


@dataclasses.dataclass(frozen=True)
class FieldType:
    """Type of one field: ``base`` is a key of the C type table, ``count`` elements of it."""

    base: str
    count: int
    doc: str

    @property
    def size_bytes(self) -> int:
        """Bytes of all elements."""
        return struct.calcsize("<" + _FORMATS[self.base]) * self.count


def _declare(base: str, doc: str, count: int = 1) -> Any:
    return dataclasses.field(metadata={"type": FieldType(base, count, doc)})


def u8(doc: str) -> Any:
    """Declare an unsigned byte."""
    return _declare("u8", doc)


def u16(doc: str) -> Any:
    """Declare an unsigned 16-bit field."""
    return _declare("u16", doc)


def u32(doc: str) -> Any:
    """Declare an unsigned 32-bit field."""
    return _declare("u32", doc)


def i8(doc: str) -> Any:
    """Declare a signed byte."""
    return _declare("i8", doc)


def i16(doc: str) -> Any:
    """Declare a signed 16-bit field."""
    return _declare("i16", doc)


def i32(doc: str) -> Any:
    """Declare a signed 32-bit field."""
    return _declare("i32", doc)


def f32(doc: str) -> Any:
    """Declare a 32-bit float field."""
    return _declare("f32", doc)


def ref(doc: str) -> Any:
    """Declare a `Ref` field."""
    return _declare("ref", doc)


def array(base: str, count: int, doc: str) -> Any:
    """Declare a tuple of ``count`` integers of type ``base``."""
    return _declare(base, doc, count)


@dataclasses.dataclass(frozen=True)
class Struct:
    """Base of all binary structures; subclasses are frozen dataclasses."""

    @classmethod
    @functools.cache
    def layout(cls) -> tuple[tuple[str, FieldType, int], ...]:
        """Return name, type and byte offset of every field.

        Raises
        ------
        TypeError
            If a field is not naturally aligned, or the size is no multiple of 4.
        """
        rows: list[tuple[str, FieldType, int]] = []
        offset = 0
        for field in dataclasses.fields(cls):
            kind: FieldType = field.metadata["type"]
            if offset % _ALIGN[kind.base]:
                raise TypeError(f"{cls.__name__}.{field.name} must be aligned, not at {offset}")
            rows.append((field.name, kind, offset))
            offset += kind.size_bytes
        if offset % 4:
            raise TypeError(f"size of {cls.__name__} must be a multiple of 4, not {offset}")
        return tuple(rows)

    @classmethod
    @functools.cache
    def size_bytes(cls) -> int:
        """Return the size in bytes."""
        _, kind, offset = cls.layout()[-1]
        return offset + kind.size_bytes

    @classmethod
    @functools.cache
    def _format(cls) -> str:
        return "<" + "".join(_FORMATS[kind.base] * kind.count for _, kind, _ in cls.layout())

    @classmethod
    @functools.cache
    def _has_only_words(cls) -> bool:
        """Whether each field is a single number."""
        return all(kind.count == 1 and kind.base != "ref" for _, kind, _ in cls.layout())

    def pack(self) -> bytes:
        """Return the stored form.

        Raises
        ------
        ValueError
            If a value is outside its field's range.
        """
        values: list[Any] = []
        for name, kind, _ in self.layout():
            value = getattr(self, name)
            items = value if kind.count > 1 else (value,)
            if len(items) != kind.count:
                raise ValueError(f"{type(self).__name__}.{name} must have {kind.count} items")
            for item in items:
                values.extend(item.words() if isinstance(item, Ref) else (item,))
        try:
            return struct.pack(self._format(), *values)
        except struct.error as error:
            raise ValueError(f"{type(self).__name__}: {error} ({self})") from error

    @classmethod
    def unpack(cls, raw: bytes) -> Self:
        """Return the structure stored in the first bytes of ``raw``.

        Raises
        ------
        ValueError
            If ``raw`` is shorter than the structure.
        """
        size = cls.size_bytes()
        if len(raw) < size:
            raise ValueError(f"{cls.__name__} must have {size} bytes, not {len(raw)}")
        found = struct.unpack(cls._format(), raw[:size])
        if cls._has_only_words():
            return cls(*found)
        words = iter(found)
        values: dict[str, Any] = {}
        for name, kind, _ in cls.layout():
            items = tuple(
                Ref.from_words(next(words), next(words)) if kind.base == "ref" else next(words)
                for _ in range(kind.count)
            )
            values[name] = items if kind.count > 1 else items[0]
        return cls(**values)
