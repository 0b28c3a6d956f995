"""Regions: what is refused, and where bytes of tensors lie."""

import dataclasses
from typing import Any

import pytest

from kiwicha.compiler.engine.ir.float_edges import FloatEdge
from kiwicha.compiler.engine.ir.move_operations import MoveOperation
from kiwicha.compiler.engine.ir.region import Region
from kiwicha.compiler.engine.ir.strided_copies import Loop, StridedCopy
from kiwicha.compiler.engine.ir.window import Image, Window
from tests.compiler.engine.build import addition, chain, pointwise, region

FIRST, SECOND = pointwise(0, 4, 3, 8, 5), pointwise(1, 4, 3, 5, 16)
RUN = chain(FIRST, SECOND)
TABLE, OTHER = b"table", b"other"


def edge(tensor: int, table: bytes = TABLE) -> FloatEdge:
    return FloatEdge(tensor, 0, table)


@pytest.mark.parametrize(
    "fields",
    [
        {},
        {"stores": frozenset({1, 2})},
        {"stores": frozenset()},
        {"edges": (edge(0), edge(2))},
        # The same one twice.
        {"edges": (edge(0), edge(0))},
    ],
)
def test_sound_regions(fields: dict[str, Any]) -> None:
    dataclasses.replace(RUN, **fields).verify()


@pytest.mark.parametrize(
    "fields",
    [
        {"operations": (), "stores": frozenset()},
        {"loads": frozenset()},
        {"operations": (SECOND, FIRST)},
        # A tensor is written that is there already, or twice.
        {"loads": frozenset({0, 2})},
        {"operations": (FIRST, FIRST, SECOND)},
        # What is stored is not written.
        {"stores": frozenset({2, 3})},
        {"stores": frozenset({0, 2})},
        # Of float32 is what does not leave the region, or in two ways.
        {"edges": (edge(1),)},
        {"edges": (edge(2), edge(2, OTHER))},
        # Positions go back.
        {
            "operations": (
                dataclasses.replace(FIRST, position=2),
                dataclasses.replace(SECOND, position=1),
            )
        },
    ],
)
def test_unsound_regions(fields: dict[str, Any]) -> None:
    with pytest.raises(AssertionError):
        dataclasses.replace(RUN, **fields).verify()


def test_bytes_of_tensors() -> None:
    """Pixels of 5 channels take 8 bytes in the scratchpad, those of whole words as many."""
    assert RUN.is_padded(FIRST)
    assert not RUN.is_padded(SECOND)
    pitches = (RUN.input_pitch(FIRST), RUN.output_pitch(FIRST), RUN.input_pitch(SECOND))
    assert pitches == (8, 8, 8)
    assert [RUN.tensor_bytes(tensor) for tensor in range(3)] == [4 * 3 * 8, 4 * 3 * 8, 4 * 3 * 16]
    assert RUN.input_row_bytes(SECOND, 1) == RUN.output_row_bytes(FIRST) == 3 * 8
    assert RUN.output_row_bytes(SECOND) == 3 * 16
    assert [RUN.is_streamable(tensor) for tensor in range(3)] == [True, False, True]
    assert not RUN.is_streamable(-5)
    assert [RUN.has_gaps(tensor) for tensor in range(3)] == [False, True, False]
    alone = chain(SECOND)
    assert (alone.input_pitch(SECOND), alone.tensor_bytes(1)) == (5, 4 * 3 * 5)
    # One pixel has nothing between it and the next.
    single = pointwise(0, 1, 1, 8, 5)
    assert not chain(single).is_padded(single)


def test_operands_of_one_pixel_are_one_pixel() -> None:
    total = addition(1, (0, 1), Window.of_pixels(4, 3, 5), is_by_channel=True)
    found = region(total, loads={0, 1}, stores={2})
    assert [found.input_bytes(total, tensor) for tensor in (0, 1)] == [4 * 3 * 5, 5]


def test_numbers_and_uses_of_operations() -> None:
    total = addition(2, (1, 2), Window.of_pixels(4, 3, 16))
    wide = pointwise(0, 4, 3, 8, 16)
    last = pointwise(1, 4, 3, 16, 16)
    found = Region((wide, last, total), frozenset({0}), frozenset({1, 3}))
    found.verify()
    assert [found.uses(tensor) for tensor in range(4)] == [(0, 0), (0, 2), (1, 2), (2, 2)]
    assert found.numbers == {wide: 0, last: 1, total: 2}
    assert (found.position, found.first_layer, found.positions) == (0, 0, (0, 1, 2))
    assert found.producers == {1: wide, 2: last, 3: total}
    assert found.written == {1, 3}
    late = dataclasses.replace(wide, position=5, merged=(3,))
    after = Region((late, dataclasses.replace(last, position=4)), frozenset({0}), frozenset({2}))
    assert (after.position, after.first_layer, after.positions) == (5, 4, (3, 5, 4))


def move(*copies: StridedCopy, **fields: Any) -> MoveOperation:
    """Return a move of tensor 1, 4 x 3 pixels of 5 channels, to tensor 2, as large."""
    shared: dict[str, Any] = {
        "position": 1,
        "inputs": (1,),
        "output": 2,
        "window": Window.of_pixels(4, 3, 5),
        "output_channels": 5,
        "clamp": (-128, 127),
        "copies": copies,
        "images": {1: Image(4, 3, 5)},
    }
    return MoveOperation(**(shared | fields))


def test_moves_leave_out_gaps_between_pixels() -> None:
    """Of 8 bytes between two pixels 5 are theirs: all pixels of both copies, in order."""
    pixels = StridedCopy(1, 0, 0, (), 15)
    fill = StridedCopy(None, 0, 15, (), 15, fill=7)
    rest = StridedCopy(1, 30, 30, (), 30)
    item = move(pixels, fill, rest)
    found = chain(FIRST, item)
    first, second, third = found.copies(item, 0, 4)
    assert [copy.source for copy in (first, second, third)] == [1, None, 1]
    assert [(copy.source_start, copy.target_start) for copy in (first, third)] == [(0, 0), (48, 30)]
    assert {(copy.piece_bytes, copy.loops[0].source) for copy in (first, third)} == {(5, 8)}
    assert (second, found.copies_between(item, fill)) == (fill, [fill])
    # Without gaps they stay as they are; five bytes of every sixth pixel cannot leave them out.
    whole = chain(pointwise(0, 4, 3, 8, 8), item)
    assert whole.copies_between(item, pixels) == [pixels]
    odd = StridedCopy(1, 3, 0, (Loop(3, 7, 5),), 5)
    assert found.copies_between(item, odd) is None


def test_parts_of_tensors_and_constants_lie_in_the_arena() -> None:
    part = move(StridedCopy(1, 0, 0, (), 60), place=(9, 16), output=-4)
    found = Region((FIRST, part), frozenset({0}), frozenset({-4}))
    assert found.places == {-4: (9, 16)}
    assert found.written == {9}
    assert found.is_streamable(-4)
    assert not found.is_streamable(1)
    last = dataclasses.replace(SECOND, inputs=(-6,), constants={-6: bytes(60)})
    other = Region((last,), frozenset({-6}), frozenset({2}))
    assert other.constants == {-6: bytes(60)}
    assert other.is_streamable(-6)
    assert other.written == {2}
