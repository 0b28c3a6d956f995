"""Where the list of a region ends and another one goes on: too many jobs, or too many cycles."""

from itertools import accumulate

from kiwicha.compiler.engine.cost.cycles import predict_list
from kiwicha.compiler.engine.ir.engine_list import MAX_LIST_CYCLES, EngineList
from kiwicha.compiler.engine.ir.plan import Job
from kiwicha.compiler.engine.ir.refusals import RefusedError
from kiwicha.contract.configs import Config
from kiwicha.contract.engine import MAX_JOBS, MAX_U16, EngineJob, JobFlag, JobKind, SumFlag

__all__ = ["list_ends"]

_MAX_TRANSFERS = MAX_U16 - 1
"""One more can be that of a converter's table."""


def list_ends(whole: EngineList, config: Config) -> tuple[tuple[int, int], ...]:
    """Return how many jobs and transfers are done at the end of each list but the last.

    A list takes as many jobs as it may, and all transfers that can come before the next job: so
    loads for what follows are under way beside the last jobs.

    Parameters
    ----------
    whole : EngineList
        All jobs and transfers.
    config : Config
        What they will run on.

    Raises
    ------
    RefusedError
        If a job alone takes too long; names its layer.
    """
    total, cycles = predict_list(
        whole.jobs,
        whole.engine_transfers,
        config.engine_macs,
        config.requantizer_cycles,
        config.memory,
    )
    jobs, transfers = len(whole.jobs), len(whole.transfers)
    if jobs <= MAX_JOBS and transfers <= _MAX_TRANSFERS and total <= MAX_LIST_CYCLES:
        return ()
    # Jobs of the depthwise unit end beside others.
    times = [0, *accumulate((job.end for job in cycles[:-1]), max), total]
    needed = [0, *accumulate((job.wait_transfers for job in whole.jobs), max)]
    needed[-1] = transfers
    waits = list(accumulate((item.wait_jobs for item in whole.engine_transfers), max))
    ends: list[tuple[int, int]] = []
    within = _ends_within_pairs(whole)
    first = done = 0
    while first < jobs:
        most = done + _MAX_TRANSFERS
        last = first
        for end in range(first + 1, min(first + MAX_JOBS, jobs) + 1):
            if times[end] - times[first] > MAX_LIST_CYCLES or needed[end] > most:
                break
            last = last if _is_continued(whole, end - 1) or end in within else end
        if last == first:
            raise _refusal(whole, first, times[first + 1] - times[first])
        first = last
        while done < min(transfers, most) and waits[done] <= first:
            done += 1
        ends.append((first, done))
    return tuple(ends[:-1])


def _ends_within_pairs(whole: EngineList) -> set[int]:
    """Return the ends between a job of the depthwise unit and that of the array beside it."""
    jobs = [number for number, event in enumerate(whole.plan.events) if isinstance(event, Job)]
    numbers = {event: number for number, event in enumerate(jobs)}
    return {
        end
        for pair in whole.plan.beside
        for end in range(numbers[pair.unit] + 1, numbers[pair.before] + 1)
    }


def _is_continued(whole: EngineList, number: int) -> bool:
    """Whether the job behind this one goes on with its sums or tables."""
    job = whole.jobs[number]
    if not isinstance(job, EngineJob):
        return False
    has_tables = job.kind == JobKind.ADD and bool(job.flags & JobFlag.FUSED)
    return has_tables or bool(job.sums & SumFlag.KEEP)


def _refusal(whole: EngineList, number: int, cycles: int) -> RefusedError:
    """Return why a list cannot begin with this job."""
    jobs = [event for event in whole.plan.events if isinstance(event, Job)]
    why = "has jobs whose sums belong together, which no list can hold"
    if number + 1 in _ends_within_pairs(whole):
        why = "has jobs of array and depthwise unit beside each other, which no list can hold"
    if cycles > MAX_LIST_CYCLES:
        why = f"has a job of {cycles:,} cycles; a list takes up to {MAX_LIST_CYCLES:,}, half of "
        why += "what the watchdog allows"
    return RefusedError(jobs[number].operation.position, why)
