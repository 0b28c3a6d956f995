"""Where a region is cut in two because its list would have too many jobs or take too long."""

import itertools
from collections.abc import Iterable, Sequence

from kiwicha.compiler.engine.cost.cycles import predict_list
from kiwicha.compiler.engine.ir.engine_list import MAX_LIST_CYCLES, EngineList
from kiwicha.compiler.engine.ir.plan import PlannedCascade
from kiwicha.compiler.engine.ir.refusals import TooLongError, Troubles
from kiwicha.contract.configs import Config
from kiwicha.contract.engine import MAX_JOBS

__all__ = ["require_jobs", "time_troubles"]


def require_jobs(cascades: Sequence[PlannedCascade]) -> None:
    """Refuse a region whose list would have too many jobs.

    Raises
    ------
    TooLongError
        Names layers at which to cut.
    """
    jobs = [cascade.jobs for cascade in cascades]
    if sum(jobs) > MAX_JOBS:
        raise TooLongError(_cuts(cascades, jobs, MAX_JOBS))


def time_troubles(lists: Iterable[EngineList], config: Config) -> Troubles:
    """Return what must change in lists that the watchdog could end."""
    refusals: dict[int, str] = {}
    cuts: set[int] = set()
    for found in lists:
        troubles = _time_troubles(found, config)
        refusals |= troubles.refusals
        cuts |= troubles.cuts
    return Troubles(refusals, frozenset(cuts))


def _time_troubles(found: EngineList, config: Config) -> Troubles:
    cascades = found.plan.cascades
    total, jobs = predict_list(
        found.jobs,
        found.engine_transfers,
        config.engine_macs,
        config.requantizer_cycles,
        config.memory,
    )
    if total <= MAX_LIST_CYCLES:
        return Troubles()
    last_jobs = itertools.accumulate(cascade.jobs for cascade in cascades)
    ends = [0, *(jobs[count - 1].end for count in last_jobs)]
    cycles = [end - start for start, end in itertools.pairwise(ends)]
    cuts = _cuts(cascades, cycles, MAX_LIST_CYCLES)
    for cascade, taken in zip(cascades, cycles, strict=True):
        if taken > MAX_LIST_CYCLES:
            cuts += cascade.positions[1:]
    if cuts:
        return Troubles(cuts=frozenset(cuts))
    why = f"takes {total:,} cycles; a list takes up to {MAX_LIST_CYCLES:,}, half of what the "
    return Troubles({cascades[-1].positions[0]: f"{why}watchdog allows"})


def _cuts(cascades: Sequence[PlannedCascade], sizes: Sequence[int], limit: int) -> list[int]:
    """Return where a list is to be cut, given what each cascade adds to it: between cascades."""
    cuts = []
    total = 0
    for number, (cascade, size) in enumerate(zip(cascades, sizes, strict=True)):
        total += size
        # Between the cuts the choice can become another one, of more.
        if total > limit - limit // 8 and number:
            cuts.append(cascade.positions[0])
            total = size
    return cuts
