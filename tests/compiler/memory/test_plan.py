"""Plans of the arena: each that is wrong is refused."""

import pytest

from kiwicha.compiler.memory.placement import Buffer, Slice
from kiwicha.compiler.memory.plan import MemoryPlan, Placement

ARENA_BYTES = 128


def plan(*placements: tuple[Buffer, int]) -> MemoryPlan:
    return MemoryPlan(ARENA_BYTES, 0, tuple(Placement(*item) for item in placements), {}, {})


def buffer(size: int = 32, first: int = 0, last: int = 3, slices: tuple[Slice, ...] = ()) -> Buffer:
    return Buffer("", size, first, last, slices)


def is_sound(*placements: tuple[Buffer, int]) -> bool:
    """Say the same in whatever order the buffers come."""
    answers = set()
    for order in (placements, placements[::-1]):
        try:
            plan(*order).verify()
        except AssertionError:
            answers.add(False)
        else:
            answers.add(True)
    (answer,) = answers
    return answer


@pytest.mark.parametrize(
    ("offset", "size", "expected"),
    [
        (0, 32, True),
        (96, 32, True),
        (96, 17, True),
        (0, 128, True),
        (96, 33, False),
        (112, 32, False),
        (-16, 32, False),
        (8, 32, False),
    ],
)
def test_buffers_are_aligned_and_inside(offset: int, size: int, *, expected: bool) -> None:
    assert is_sound((buffer(size), offset)) == expected


@pytest.mark.parametrize(
    ("offset", "times", "expected"),
    [
        # Beside each other, or one byte of it is shared.
        (48, (0, 3), True),
        (32, (0, 3), False),
        (16, (0, 3), False),
        # One needs it before the other, behind it, or in one step together.
        (16, (4, 9), True),
        (16, (3, 9), False),
        (16, (-1, -1), True),
        (16, (-1, 0), False),
        (16, (1, 2), False),
    ],
)
def test_no_two_buffers_collide(offset: int, times: tuple[int, int], *, expected: bool) -> None:
    assert is_sound((buffer(), 16), (buffer(16, *times), offset)) == expected


def test_inferences_do_not_move_unless_something_says_so() -> None:
    assert plan().shift_bytes == 0


def test_the_last_of_many_buffers_collides() -> None:
    fine = [(buffer(first=step, last=step), 0) for step in range(5)]
    assert is_sound(*fine, (buffer(first=5, last=6), 16))
    assert not is_sound(*fine, (buffer(first=4, last=6), 16))
    # A small one between two large ones ends no search.
    assert not is_sound((buffer(64), 0), (buffer(16, 7, 9), 16), (buffer(16), 32))


@pytest.mark.parametrize(
    ("offset", "times", "expected"),
    [
        # The lower half is needed in steps 0 and 1, the upper one in steps 1 to 3.
        (0, (2, 3), True),
        (0, (1, 3), False),
        (16, (0, 0), True),
        (16, (0, 1), False),
        (16, (3, 3), False),
    ],
)
def test_slices_collide_when_they_are_needed(
    offset: int, times: tuple[int, int], *, expected: bool
) -> None:
    halves = (Slice(0, 16, 0, 1), Slice(16, 16, 1, 3))
    whole = buffer(slices=halves)
    assert is_sound((whole, 0), (buffer(16, *times), offset)) == expected
    # The same, where the other one comes in slices: its place in it counts.
    part = buffer(48, *times, slices=(Slice(32, 16, *times),))
    assert is_sound((whole, 32), (part, offset)) == expected
