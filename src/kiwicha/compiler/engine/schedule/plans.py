"""Plans from events in order, and buffers that have their places in the scratchpad."""

from collections.abc import Iterable, Sequence

from kiwicha.compiler.engine.ir.plan import Beside, Event, Plan, PlannedCascade
from kiwicha.compiler.engine.ir.region import Region
from kiwicha.compiler.engine.schedule.buffers import Builder
from kiwicha.compiler.engine.schedule.hazards import waits
from kiwicha.compiler.memory.placement import Buffer, place, top_of

__all__ = ["placed_plan", "plan_of_one"]


def placed_plan(
    region: Region,
    cascades: Iterable[PlannedCascade],
    streamed: Iterable[int],
    passed: Iterable[int],
    events: Sequence[Event],
    buffers: Sequence[Buffer],
    offsets: Sequence[int],
    capacity: int,
    beside: Iterable[Beside] = (),
) -> Plan:
    """Return a plan, after its checks.

    Parameters
    ----------
    region : Region
        What is done.
    cascades : iterable of PlannedCascade
        In order.
    streamed, passed : iterable of int
        Tensors, as in `Plan`.
    events : sequence of Event
        In order.
    buffers : sequence of Buffer
        What they need.
    offsets : sequence of int
        First byte of each buffer in the scratchpad.
    capacity : int
        Bytes of the scratchpad.
    beside : iterable of Beside
        Jobs of the depthwise unit.
    """
    found = Plan(
        region=region,
        cascades=tuple(cascades),
        streamed=tuple(sorted(streamed)),
        passed=tuple(sorted(passed)),
        events=tuple(events),
        waits=tuple(waits(events, offsets, [buffer.aligned_bytes for buffer in buffers])),
        buffers=tuple(buffers),
        offsets=tuple(offsets),
        beside=tuple(beside),
    )
    found.verify(capacity)
    return found


def plan_of_one(region: Region, builder: Builder, jobs: int, capacity: int) -> Plan | None:
    """Return the plan of a region of one cascade; None if its buffers do not fit.

    Parameters
    ----------
    region : Region
        All tensors that it reads and writes move between arena and scratchpad in parts.
    builder : Builder
        Its events, in order.
    jobs : int
        How many of them are jobs, about.
    capacity : int
        Bytes of the scratchpad.
    """
    buffers = builder.buffers()
    offsets = place(buffers, capacity=capacity)
    if top_of(buffers, offsets) > capacity:
        return None
    cascade = PlannedCascade(tuple(operation.position for operation in region.operations), jobs)
    return placed_plan(
        *(region, [cascade], region.loads | region.stores, region.producers.keys() - region.stores),
        *(builder.events, buffers, offsets, capacity),
    )
