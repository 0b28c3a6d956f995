"""What a random job of the engine is, and where its tensors lie."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from kiwicha.contract.moves import AnyJob
from tests.gateware.engine.move_jobs import Move
from tests.gateware.engine.window_jobs import Fill

__all__ = ["Bytes", "Ints", "Work", "places"]

Ints = NDArray[np.int64]
Bytes = NDArray[np.uint8]


@dataclass(frozen=True)
class Work:
    """A job, its weight stream, and the definition of what it does."""

    job: AnyJob
    fills: list[Fill]
    inputs: list[range]
    """Addresses of the bytes that it depends on."""
    output: range
    """Addresses from the first to the last byte that it may write."""
    apply: Callable[[Bytes], None]
    """Change a scratchpad's bytes as the job must."""
    move: Move | None = None
    """Of a MOVE, the loops."""


def places(rng: np.random.Generator, sizes: list[int], memory_bytes: int) -> list[range]:
    """Return addresses of tensors, in random order and with gaps of at least 8 bytes before."""
    places = [range(0)] * len(sizes)
    spare = memory_bytes - sum(sizes) - 8 * len(sizes)
    end = 0
    for number in rng.permutation(len(sizes)):
        gap = int(rng.integers(0, spare + 1))
        spare -= gap
        first = end + 8 + gap
        end = first + sizes[number]
        places[number] = range(first, end)
    return places
