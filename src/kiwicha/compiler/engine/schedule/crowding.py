"""Where a plan does not fit into the scratchpad."""

from collections.abc import Sequence

from kiwicha.compiler.engine.ir.plan import Event, Job
from kiwicha.compiler.engine.ir.region import Region
from kiwicha.compiler.memory.placement import Buffer

__all__ = ["SHRINK", "crowded"]

SHRINK = 32
"""Where a plan fails for gaps, it is tried again with this much less: capacity / 32."""


def crowded(
    region: Region,
    events: Sequence[Event],
    buffers: Sequence[Buffer],
    offsets: Sequence[int],
    capacity: int,
) -> set[int]:
    """Return the numbers of the operations during which a buffer lies beyond the scratchpad."""
    found = set()
    for buffer, offset in zip(buffers, offsets, strict=True):
        if offset + buffer.aligned_bytes > capacity:
            during = events[buffer.first : buffer.last + 1]
            found |= {region.numbers[e.operation] for e in during if isinstance(e, Job)}
    return found
