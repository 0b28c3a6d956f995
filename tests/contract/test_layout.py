"""Structures as bytes: offsets, ranges, and layouts that are refused."""

import dataclasses
from dataclasses import dataclass
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kiwicha.contract.layout import Ref, Struct, array, f32, i32, ref, u8, u16, u32


@dataclass(frozen=True)
class Sample(Struct):
    """One field of every type."""

    place: Ref = ref("a reference")
    first: int = u8("a byte")
    second: int = u8("a byte")
    half: int = u16("two bytes")
    word: int = u32("four bytes")
    number: int = i32("four bytes, signed")
    real: float = f32("four bytes")
    many: tuple[int, ...] = array("u8", 4, "four times a byte")


SAMPLE = Sample(
    place=Ref(0x123, 0x45, is_constant=True),
    first=1,
    second=255,
    half=0x0203,
    word=0xFFFF_FFFF,
    number=-2,
    real=1.5,
    many=(9, 8, 7, 6),
)
BYTES = bytes.fromhex("23010080 45000000 01 ff 0302 ffffffff feffffff 0000c03f 09080706")


def test_bytes_are_little_endian_in_the_order_of_fields() -> None:
    assert SAMPLE.pack() == BYTES
    assert Sample.unpack(BYTES) == SAMPLE
    assert Sample.unpack(BYTES + b"more") == SAMPLE


def test_layout_names_every_field() -> None:
    rows = [(name, kind.base, kind.count, offset) for name, kind, offset in Sample.layout()]
    assert rows == [
        ("place", "ref", 1, 0),
        ("first", "u8", 1, 8),
        ("second", "u8", 1, 9),
        ("half", "u16", 1, 10),
        ("word", "u32", 1, 12),
        ("number", "i32", 1, 16),
        ("real", "f32", 1, 20),
        ("many", "u8", 4, 24),
    ]
    assert Sample.size_bytes() == len(BYTES)
    assert all(kind.doc for _, kind, _ in Sample.layout())


@given(st.integers(0, 2**31 - 1), st.integers(0, 2**32 - 1), st.booleans())
def test_references(offset: int, size: int, is_constant: bool) -> None:
    place = Ref(offset, size, is_constant)
    assert place.words() == (offset + is_constant * 2**31, size)
    assert Ref.from_words(*place.words()) == place


@pytest.mark.parametrize(
    ("field", "value", "message"),
    [
        ("first", 256, "Sample: "),
        ("first", -1, "Sample: "),
        ("half", 2**16, "Sample: "),
        ("word", 2**32, "Sample: "),
        ("word", -1, "Sample: "),
        ("number", 2**31, "Sample: "),
        ("number", -(2**31) - 1, "Sample: "),
        ("number", 0.5, "Sample: "),
        ("place", Ref(0, 2**32), "Sample: "),
        ("many", (1, 2, 3), "Sample.many must have 4 items"),
        ("many", (1, 2, 3, 4, 5), "Sample.many must have 4 items"),
        ("many", (1, 2, 3, 256), "Sample: "),
    ],
)
def test_values_out_of_range_are_refused(field: str, value: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        dataclasses.replace(SAMPLE, **{field: value}).pack()


@pytest.mark.parametrize("size", range(len(BYTES)))
def test_too_few_bytes_are_refused(size: int) -> None:
    with pytest.raises(ValueError, match=rf"Sample must have 28 bytes, not {size}"):
        Sample.unpack(BYTES[:size])


@pytest.mark.parametrize(
    ("declarations", "message"),
    [
        ([u8("a"), u16("b")], r"Bad.f1 must be aligned, not at 1"),
        ([u16("a"), u32("b")], r"Bad.f1 must be aligned, not at 2"),
        ([u16("a"), ref("b")], r"Bad.f1 must be aligned, not at 2"),
        ([array("u8", 3, "a"), i32("b")], r"Bad.f1 must be aligned, not at 3"),
        ([u32("a"), u8("b")], r"size of Bad must be a multiple of 4, not 5"),
    ],
)
def test_layouts_that_need_padding_are_refused(declarations: list[Any], message: str) -> None:
    fields = [(f"f{k}", Any, declaration) for k, declaration in enumerate(declarations)]
    bad: Any = dataclasses.make_dataclass("Bad", fields, bases=(Struct,), frozen=True)
    with pytest.raises(TypeError, match=message):
        bad.layout()
