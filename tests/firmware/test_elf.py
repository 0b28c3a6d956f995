"""The ELF reader against files assembled here."""

import struct

import pytest

from kiwicha.errors import ToolError
from kiwicha.firmware.elf import read_elf


def make_elf() -> bytes:
    """Give a file with two loaded segments, one that is not, and two symbols."""
    text, data, names = b"\x13\x00\x00\x00" * 2, b"data", b"\0first\0second\0"
    symbols = b"".join(
        struct.pack("<IIIBBH", name, value, 0, 0, 0, 1)
        for name, value in ((0, 9), (1, 0x10), (7, 0x20))
    )
    segments_at, at = 52, 52 + 3 * 32
    text_at, data_at = at, at + len(text)
    names_at = data_at + len(data)
    symbols_at = names_at + len(names)
    sections_at = symbols_at + len(symbols)
    header = struct.pack(
        "<16sHHIIIIIHHHHHH",
        b"\x7fELF\x01\x01\x01",
        *(2, 243, 1, 0, segments_at, sections_at, 0, 52, 32, 3, 40, 3, 0),
    )
    segments = b"".join(
        struct.pack("<8I", *fields)
        for fields in (
            (1, text_at, 0x100, 0x100, len(text), len(text), 5, 4),
            (1, data_at, 0x10C, 0x10C, len(data), 64, 6, 4),
            (0x6474E551, 0, 0, 0, 4, 4096, 6, 4),
        )
    )
    sections = b"".join(
        struct.pack("<10I", *fields)
        for fields in (
            (0,) * 10,
            (0, 2, 0, 0, symbols_at, len(symbols), 2, 1, 4, 16),
            (0, 3, 0, 0, names_at, len(names), 0, 0, 1, 0),
        )
    )
    return header + segments + text + data + names + symbols + sections


def test_segments_and_symbols() -> None:
    elf = read_elf(make_elf())
    assert elf.segments == ((0x100, b"\x13\x00\x00\x00" * 2), (0x10C, b"data"))
    assert elf.symbols == {"first": 0x10, "second": 0x20}
    assert elf.image(0xFC) == bytes(4) + b"\x13\x00\x00\x00" * 2 + bytes(4) + b"data"


def test_another_file_is_refused() -> None:
    raw = make_elf()
    for other in (b"", b"MZ" + raw, raw[:4] + b"\x02" + raw[5:]):
        with pytest.raises(ToolError, match=r"^linker output must be a 32-bit ELF file, not "):
            read_elf(other)


@pytest.mark.parametrize("size", [20, 60, 300])
def test_a_file_cut_short_is_refused(size: int) -> None:
    with pytest.raises(ToolError, match=r"^linker output must be a complete ELF file: "):
        read_elf(make_elf()[:size])
