"""From what a job moves to its descriptor."""

from collections.abc import Sequence
from typing import Any

from kiwicha.compiler.engine.ir.move_jobs import MoveJob
from kiwicha.compiler.engine.ir.strided_copies import Loop
from kiwicha.contract.engine import MAX_U8, JobKind
from kiwicha.contract.moves import MOVE_LOOPS, TILE_LOOPS, EngineMove, MoveFlag, loop_steps

__all__ = ["engine_move"]


def engine_move(job: MoveJob, layer: int, source: int, target: int) -> EngineMove:
    """Return the descriptor of a job that waits for nothing.

    Parameters
    ----------
    job : MoveJob
        What it moves.
    layer : int
        Number of its layer, counted from that of the step.
    source, target : int
        Where the buffers begin that its addresses count from.
    """
    zeros: dict[str, Any] = {
        name: 0 if kind.count == 1 else (0,) * kind.count for name, kind, _ in EngineMove.layout()
    }
    loops = _filled(job.loops, MOVE_LOOPS if job.tile is None else TILE_LOOPS)
    counts = [loop.count for loop in loops]
    sources, targets = [loop.source for loop in loops], [loop.target for loop in loops]
    flags = MoveFlag.FILL if job.is_fill else MoveFlag(0)
    source_counts, target_counts = counts, counts
    if job.tile is not None:
        flags = MoveFlag.TILE
        source_counts, target_counts = [*counts, job.piece_bytes], [*counts, job.tile.count]
        sources.append(job.tile.source)
        targets.append(job.tile.target)
    return EngineMove(
        **zeros
        | {
            "kind": JobKind.MOVE,
            "flags": flags,
            "interval": 1,
            "layer": min(layer, MAX_U8),
            "groups": 1,
            "source": source + job.source,
            "target": target + job.target,
            "last_indices": tuple(count - 1 for count in target_counts),
            "last_byte": job.piece_bytes - 1,
            "source_steps": loop_steps(source_counts, sources),
            "target_steps": loop_steps(target_counts, targets),
        }
    )


def _filled(loops: Sequence[Loop], count: int) -> list[Loop]:
    """Return as many loops as a descriptor has: further ones run once."""
    return [*[Loop(1, 0, 0)] * (count - len(loops)), *loops]
