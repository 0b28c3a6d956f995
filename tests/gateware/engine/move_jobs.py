"""Random MOVE jobs, and loops in Python that do the same."""

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kiwicha.contract.engine import LINE_BYTES, READ_BYTES, JobKind
from kiwicha.contract.latencies import MOVE_START_CYCLES, TILE_CYCLES
from kiwicha.contract.moves import TILE_COLUMNS, TILE_ROWS, EngineMove, MoveFlag, loop_steps
from kiwicha.gateware.engine.moves.interfaces import TILE_SLOTS

__all__ = ["Move", "move_job", "move_schedule", "random_move"]

Bytes = NDArray[np.uint8]
_PIECES = (1, 2, 3, 4, 8, 15, 16, 17, 32, 47)
_MAX_PIECES = 300
_SPREAD = 70


@dataclass(frozen=True)
class Move:
    """A move as its loops: with ``rows`` one of tiles, whose last count is that of columns.

    Parameters
    ----------
    counts, source_strides, target_strides : sequence of int
        Of the four loops; of tiles the last strides are those of rows and of columns.
    piece : int
        Bytes of a piece, or rows of a tile.
    is_tile, is_fill : bool
        What it is.
    """

    counts: tuple[int, ...]
    source_strides: tuple[int, ...]
    target_strides: tuple[int, ...]
    piece: int
    is_tile: bool = False
    is_fill: bool = False

    def pieces(self) -> list[tuple[list[int], int]]:
        """Return the bytes of each piece by their place from the source, and its place."""
        found = []
        for index in itertools.product(*map(range, self.counts)):
            target = int(np.dot(index, self.target_strides))
            source = int(np.dot(index[:-1], self.source_strides[:-1]))
            if self.is_tile:
                octets = [
                    source + row * self.source_strides[-1] + index[-1] for row in range(self.piece)
                ]
            else:
                source += index[-1] * self.source_strides[-1]
                octets = [source + (0 if self.is_fill else k) for k in range(self.piece)]
            found.append((octets, target))
        return found

    def apply(self, memory: Bytes, source: int, target: int) -> None:
        """Change memory as the job does, piece by piece."""
        for octets, place in self.pieces():
            values = [memory[source + octet] for octet in octets]
            memory[target + place : target + place + self.piece] = values

    def spans(self) -> tuple[range, range]:
        """Return from where to where it reads and writes."""
        pieces = self.pieces()
        read = [octet for octets, _ in pieces for octet in octets]
        written = [target for _, target in pieces]
        more = READ_BYTES if self.is_fill else 1
        return (
            range(min(read), max(read) + more),
            range(min(written), max(written) + self.piece),
        )


def move_job(move: Move, source: int, target: int) -> EngineMove:
    """Return the descriptor of a move."""
    inner = (*move.counts[:-1], move.piece) if move.is_tile else move.counts
    flag = MoveFlag.TILE if move.is_tile else MoveFlag.FILL if move.is_fill else MoveFlag(0)
    fields: dict[str, Any] = {
        name: 0 if field.count == 1 else (0,) * field.count
        for name, field, _ in EngineMove.layout()
    } | {
        "kind": JobKind.MOVE,
        "flags": flag,
        "interval": 1,
        "groups": 1,
        "source": source,
        "target": target,
        "last_indices": tuple(count - 1 for count in move.counts),
        "last_byte": move.piece - 1,
        "source_steps": loop_steps(inner, move.source_strides),
        "target_steps": loop_steps(move.counts, move.target_strides),
    }
    return EngineMove(**fields)


def move_schedule(move: Move, target: int, begin: int) -> tuple[list[int], list[int]]:
    """Return the cycles of the reads and the writes of a move that begins in a cycle."""
    lines = [
        (target + place + move.piece - 1) // LINE_BYTES - (target + place) // LINE_BYTES + 1
        for _, place in move.pieces()
    ]
    first = begin + MOVE_START_CYCLES
    if not move.is_tile:
        cycles = list(range(first, first + sum(lines)))
        return cycles, cycles
    columns = move.counts[-1]
    reads: list[int] = []
    writes: list[int] = []
    ends: list[int] = []
    for tile in range(len(lines) // columns):
        # The slot of a tile is free when the one before in it is written.
        ready = max(
            reads[-1] + 1 if reads else first,
            ends[tile - TILE_SLOTS] + 1 if tile >= TILE_SLOTS else first,
        )
        reads += range(ready, ready + move.piece)
        count = sum(lines[tile * columns : (tile + 1) * columns])
        ready = max(writes[-1] + 1 if writes else first, reads[-1] + TILE_CYCLES)
        writes += range(ready, ready + count)
        ends.append(writes[-1])
    return reads, writes


def random_move(rng: np.random.Generator, *, is_fill: bool = False) -> Move:
    """Return a move; half of those that are no fills are of tiles."""
    is_tile = not is_fill and bool(rng.integers(2))
    while True:
        outer = [int(rng.choice((1, 2, 3, 5, 9))) for _ in range(3)]
        inner = int(rng.integers(1, TILE_COLUMNS + 1)) if is_tile else int(rng.integers(1, 20))
        counts = (*outer, inner)
        piece = int(rng.integers(1, TILE_ROWS + 1)) if is_tile else int(rng.choice(_PIECES))
        if math.prod(counts) > _MAX_PIECES:
            continue
        strides = [_strides(rng, counts, piece) for _ in range(2)]
        move = Move(counts, strides[0], strides[1], piece, is_tile=is_tile, is_fill=is_fill)
        if all(len(span) < 3000 for span in move.spans()):
            return move


def _strides(rng: np.random.Generator, counts: Sequence[int], piece: int) -> tuple[int, ...]:
    """Return strides of a permuted dense tensor of pieces, or any."""
    if rng.integers(2):
        return tuple(int(rng.integers(-_SPREAD, _SPREAD + 1)) for _ in counts)
    strides, size = [0] * len(counts), piece
    for loop in rng.permutation(len(counts)):
        strides[loop] = size
        size *= counts[loop]
    return tuple(strides)
