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
    jobs = transfers = 0
    for number, event in enumerate(events):
        is_job = isinstance(event, Job)
        left = transfers if is_job else jobs
        # Most wait for something near: the last one counts, as each kind keeps its order.
        for earlier in reversed(events[:number] if left else []):
            if isinstance(earlier, Job) is is_job:
                continue
            if meet(earlier.writes, event.reads | event.writes) or meet(
                earlier.reads, event.writes
            ):
                break
            left -= 1
        counts.append(left)
        jobs += is_job
        transfers += not is_job
    return counts
