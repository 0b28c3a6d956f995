"""The reference's moves against loops in Python, and the moves that it refuses."""

import dataclasses
import itertools

import numpy as np
import pytest

from kiwicha.contract.engine import EngineJob, JobKind
from kiwicha.contract.moves import TILE_COLUMNS, TILE_ROWS, EngineMove, MoveFlag, loop_steps
from kiwicha.errors import ProgramError
from kiwicha.sim.reference.engine_moves import check_move, execute_move, move_read, move_write
from kiwicha.sim.reference.scratchpad import Scratchpad

SIZE = 4096
MOVE = EngineMove(
    kind=JobKind.MOVE,
    flags=0,
    interval=1,
    layer=0,
    reserved_1=0,
    reserved_2=0,
    wait_transfers=0,
    groups=1,
    source=0,
    target=2048,
    last_indices=(0, 0, 0, 0),
    last_byte=0,
    reserved_half=0,
    reserved_word=0,
    source_steps=(0, 0, 0, 0),
    target_steps=(0, 0, 0, 0),
    reserved=(0,) * 4,
    reserved_sums=0,
    wait_rows=0,
    reserved_end=(0,) * 2,
)


def moved(move: EngineMove, *, is_written: bool = True) -> tuple[np.ndarray, np.ndarray]:
    scratchpad = Scratchpad(SIZE)
    scratchpad.bytes[:] = np.random.default_rng(1).integers(0, 256, SIZE)
    scratchpad.is_written[:2048] = is_written
    before = scratchpad.bytes.copy()
    execute_move(move, scratchpad)
    return before, scratchpad.bytes


def test_a_move_is_as_long_as_a_job() -> None:
    assert EngineMove.size_bytes() == EngineJob.size_bytes()
    shared = [name for name, _, _ in EngineMove.layout()][:5]
    assert [name for name, _, _ in EngineJob.layout()][:5] == shared


@pytest.mark.parametrize("piece", [1, 3, 16, 21])
def test_pieces_of_nested_loops(piece: int) -> None:
    counts = (2, 3, 1, 4)
    sources, targets = (500, -37, 0, 40), (3 * 4 * piece, 4 * piece, 99, piece)
    move = dataclasses.replace(
        MOVE,
        source=101,
        target=2055,
        last_indices=tuple(count - 1 for count in counts),
        last_byte=piece - 1,
        source_steps=loop_steps(counts, sources),
        target_steps=loop_steps(counts, targets),
    )
    expected, got = moved(move)
    for index in itertools.product(*map(range, counts)):
        source = 101 + int(np.dot(index, sources))
        target = 2055 + int(np.dot(index, targets))
        expected[target : target + piece] = expected[source : source + piece]
    assert (got == expected).all()
    assert move_write(move) == (2055, 2055 + 24 * piece)
    assert move_read(move) == (101 - 2 * 37, 101 + 500 + 3 * 40 + piece)


@pytest.mark.parametrize(("rows", "columns"), [(3, 4), (4, 4), (4, 3), (1, 1), (2, 4)])
def test_tiles_are_transposed(rows: int, columns: int) -> None:
    # From [rows, 3 * columns] to [3 * columns, rows], in three tiles of two matrices.
    counts = (1, 2, 3)
    width = 3 * columns
    move = dataclasses.replace(
        MOVE,
        flags=MoveFlag.TILE,
        source=7,
        last_indices=(*(count - 1 for count in counts), columns - 1),
        last_byte=rows - 1,
        source_steps=loop_steps((*counts, rows), (0, 100, columns, width)),
        target_steps=loop_steps((*counts, columns), (0, rows * width, columns * rows, rows)),
    )
    expected, got = moved(move)
    for matrix in range(2):
        values = expected[7 + 100 * matrix :][: rows * width].reshape(rows, width)
        expected[2048 + matrix * rows * width :][: rows * width] = values.T.reshape(-1)
    assert (got == expected).all()


def test_a_fill_repeats_a_byte() -> None:
    scratchpad = Scratchpad(SIZE)
    scratchpad.write(np.arange(32, 48), np.full(16, -128, np.int8))
    move = dataclasses.replace(MOVE, flags=MoveFlag.FILL, source=32, last_byte=99)
    execute_move(move, scratchpad)
    assert (scratchpad.bytes[2048:2148].view(np.int8) == -128).all()
    assert scratchpad.is_written[2048:2148].all()
    assert not scratchpad.is_written[2148]
    with pytest.raises(ProgramError, match=r"^the source of a fill must be 16 equal bytes"):
        execute_move(dataclasses.replace(move, source=33), scratchpad)


def test_bytes_that_nothing_has_written_stay_so() -> None:
    scratchpad = Scratchpad(SIZE)
    scratchpad.write(np.arange(3), np.zeros(3, np.int8))
    execute_move(dataclasses.replace(MOVE, last_byte=7), scratchpad)
    assert np.flatnonzero(scratchpad.is_written[2048:]).tolist() == [0, 1, 2]


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"target": SIZE}, "a move must stay in a scratchpad of 4096"),
        ({"source": -1}, "a move must stay in a scratchpad of 4096"),
        ({"target": 5, "last_byte": 5}, "a move must not write what it reads"),
    ],
)
def test_moves_that_are_refused(changes: dict[str, int], message: str) -> None:
    with pytest.raises(ProgramError, match=f"^{message}"):
        moved(dataclasses.replace(MOVE, **changes))


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"flags": 3}, "flags of a move must be FILL, TILE or none, not 0x3"),
        ({"flags": 4}, "flags of a move must be FILL, TILE or none, not 0x4"),
        (
            {"flags": MoveFlag.TILE, "last_byte": 4},
            "a tile must have up to 4 rows and 4 columns, not 5 and 1",
        ),
        (
            {"flags": MoveFlag.TILE, "last_indices": (9, 9, 9, 4)},
            "a tile must have up to 4 rows and 4 columns, not 1 and 5",
        ),
    ],
)
def test_descriptors_that_are_refused(changes: dict[str, int], message: str) -> None:
    with pytest.raises(ProgramError, match=f"^{message}$"):
        check_move(dataclasses.replace(MOVE, **changes))


@pytest.mark.parametrize(
    ("flags", "rows", "columns", "is_sound"),
    [
        (MoveFlag.TILE, TILE_ROWS, TILE_COLUMNS, True),
        (MoveFlag.TILE, TILE_ROWS + 1, TILE_COLUMNS, False),
        (MoveFlag.TILE, TILE_ROWS, TILE_COLUMNS + 1, False),
        (0, TILE_ROWS + 1, TILE_COLUMNS + 1, True),
        (MoveFlag.FILL, TILE_ROWS + 1, TILE_COLUMNS + 1, True),
        (MoveFlag.FILL | MoveFlag.TILE, 1, 1, False),
    ],
)
def test_only_tiles_have_limits(flags: int, rows: int, columns: int, *, is_sound: bool) -> None:
    fields = {"flags": flags, "last_byte": rows - 1, "last_indices": (0, 0, 0, columns - 1)}
    move = dataclasses.replace(MOVE, **fields)
    if is_sound:
        check_move(move)
    else:
        with pytest.raises(ProgramError, match=r"^(a tile must have|flags of a move must be)"):
            check_move(move)
