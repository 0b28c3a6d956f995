"""Where a region is cut in two because it would have too many jobs."""

from collections.abc import Sequence

from kiwicha.compiler.engine.ir.plan import MAX_REGION_JOBS, PlannedCascade
from kiwicha.compiler.engine.ir.refusals import TooLongError

__all__ = ["require_jobs"]


def require_jobs(cascades: Sequence[PlannedCascade]) -> None:
    """Refuse a region that would have too many jobs.

    Raises
    ------
    TooLongError
        Names layers at which to cut: between cascades.
    """
    if sum(cascade.jobs for cascade in cascades) <= MAX_REGION_JOBS:
        return
    cuts = []
    total = 0
    for number, cascade in enumerate(cascades):
        total += cascade.jobs
        # Between the cuts the choice can become another one, of more.
        if total > MAX_REGION_JOBS - MAX_REGION_JOBS // 8 and number:
            cuts.append(cascade.positions[0])
            total = cascade.jobs
    raise TooLongError(cuts)
