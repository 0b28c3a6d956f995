"""A plan of the arena: where every buffer of a Program lies."""

from collections.abc import Mapping
from dataclasses import dataclass

from kiwicha.compiler.memory.placement import Buffer, Slice
from kiwicha.contract.cfu import ALIGNMENT_BYTES

__all__ = ["MemoryPlan", "Placement"]


@dataclass(frozen=True)
class Placement:
    """A buffer and its offset in the arena."""

    buffer: Buffer
    offset: int


@dataclass(frozen=True)
class MemoryPlan:
    """The arena.

    Parameters
    ----------
    arena_bytes : int
        Its size.
    lower_bound_bytes : int
        What the busiest step needs: no plan can be smaller.
    placements : tuple of Placement
        All buffers.
    tensors : mapping of int to int
        Offset of each tensor that is stored in the arena.
    scratch : mapping of int to int
        Offset of the scratch buffer of each step that has one.
    shift_bytes : int
        By how much every second inference lies further, so that its inputs can be written during
        the one before, and its outputs read during the one behind it: so much from the start lies
        what others must leave alone, so much more the same of the others. 0 if none does. With
        states, inferences do not move: two times so much from the start lie the two places of
        inputs and outputs, and behind them what they are copied to and from.
    """

    arena_bytes: int
    lower_bound_bytes: int
    placements: tuple[Placement, ...]
    tensors: Mapping[int, int]
    scratch: Mapping[int, int]
    shift_bytes: int = 0

    def verify(self) -> None:
        """Assert that offsets are aligned, inside the arena, and that no two buffers collide."""
        ordered = sorted(self.placements, key=lambda item: item.offset)
        for number, item in enumerate(ordered):
            assert item.offset >= 0
            assert item.offset % ALIGNMENT_BYTES == 0
            assert item.offset + item.buffer.bytes <= self.arena_bytes
            for other in ordered[number + 1 :]:
                if other.offset >= item.offset + item.buffer.bytes:
                    break
                for need in item.buffer.needs:
                    for rival in other.buffer.needs:
                        assert not _collide(item, need, other, rival), (item, other)


def _collide(item: Placement, need: Slice, other: Placement, rival: Slice) -> bool:
    start, rival_start = item.offset + need.offset, other.offset + rival.offset
    return (
        start < rival_start + rival.bytes
        and rival_start < start + need.bytes
        and need.first <= rival.last
        and rival.first <= need.last
    )
