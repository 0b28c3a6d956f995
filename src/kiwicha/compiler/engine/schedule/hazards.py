"""What each job and each transfer must wait for: those that touch the same bytes."""

from collections.abc import Sequence

from kiwicha.compiler.engine.ir.plan import Event, Job

__all__ = ["waits"]


def waits(events: Sequence[Event], offsets: Sequence[int], sizes: Sequence[int]) -> list[int]:
    """Return for each transfer how many jobs, for each job how many transfers must be complete.

    Jobs are executed in order, and so are transfers. Two events that touch the same bytes, one of
    them writing, must keep their order.

    Parameters
    ----------
    events : sequence of Event
        In an order in which they could be executed one by one.
    offsets, sizes : sequence of int
        Places of the buffers.
    """

    def meet(first: set[int], second: set[int]) -> bool:
        return any(
            offsets[a] < offsets[b] + sizes[b] and offsets[b] < offsets[a] + sizes[a]
            for a in first
            for b in second
        )

    counts = []
    jobs: list[tuple[set[int], set[int]]] = []
    transfers: list[tuple[set[int], set[int]]] = []
    for event in events:
        same, others = (jobs, transfers) if isinstance(event, Job) else (transfers, jobs)
        reads, writes = event.reads, event.writes
        touched = reads | writes
        left = len(others)
        # Most wait for something near: the last one counts, as each kind keeps its order.
        for read, written in reversed(others):
            if meet(written, touched) or meet(read, writes):
                break
            left -= 1
        counts.append(left)
        same.append((reads, writes))
    return counts
