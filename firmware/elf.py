"""Just enough of ELF to turn linked firmware into a memory image."""

import struct
from dataclasses import dataclass

from kiwicha.errors import ToolError

__all__ = ["Elf", "read_elf"]

_MAGIC = b"\x7fELF\x01\x01\x01"
"""ELF, 32 bits, little-endian, version 1."""
_LOADED = 1
_SYMBOL_TABLE = 2


@dataclass(frozen=True)
class Elf:
    """A linked program.

    Parameters
    ----------
    segments : tuple of (int, bytes)
        Address and contents of what is loaded.
    symbols : dict of str to int
        Values of all named symbols.
    """

    segments: tuple[tuple[int, bytes], ...]
    symbols: dict[str, int]

    def image(self, base: int) -> bytes:
        """Return the contents of memory from address ``base`` to the last loaded byte."""
        end = max((address + len(raw) for address, raw in self.segments), default=base)
        image = bytearray(end - base)
        for address, raw in self.segments:
            image[address - base : address - base + len(raw)] = raw
        return bytes(image)


def read_elf(raw: bytes) -> Elf:
    """Return the program in an ELF file.

    Parameters
    ----------
    raw : bytes
        The file.

    Raises
    ------
    ToolError
        If it is not a 32-bit little-endian ELF file, or is cut short.

    Notes
    -----
    Ref: System V Application Binary Interface, edition 4.1, chapters 4 and 5.
    """
    if not raw.startswith(_MAGIC):
        raise ToolError(f"linker output must be a 32-bit ELF file, not {raw[:7]!r}")
    try:
        headers_at, sections_at = struct.unpack_from("<II", raw, 28)
        header_bytes, headers, section_bytes, sections = struct.unpack_from("<4H", raw, 42)
        segments = []
        for index in range(headers):
            kind, at, _, address, size = struct.unpack_from(
                "<5I", raw, headers_at + index * header_bytes
            )
            if kind == _LOADED and size:
                segments.append((address, raw[at : at + size]))
        tables = [
            struct.unpack_from("<10I", raw, sections_at + index * section_bytes)
            for index in range(sections)
        ]
        symbols = {}
        for table in tables:
            if table[1] == _SYMBOL_TABLE:
                names_at = tables[table[6]][4]
                for at in range(table[4], table[4] + table[5], 16):
                    name_at, value = struct.unpack_from("<II", raw, at)
                    start = names_at + name_at
                    name = raw[start : raw.index(b"\0", start)].decode()
                    if name:
                        symbols[name] = value
    except (struct.error, ValueError, IndexError) as error:
        raise ToolError(f"linker output must be a complete ELF file: {error}") from error
    return Elf(tuple(segments), symbols)
