"""What is known of a list's execution, and what that of a list much like it tells."""

from dataclasses import dataclass, field

from kiwicha.compiler.engine.cost.progress import Pace, Progress
from kiwicha.contract.memories import Memory

__all__ = ["JOBS_AHEAD", "Course", "Likeness"]

JOBS_AHEAD = 6
"""Descriptors that pass before the first of their jobs ends: one is executed, the others wait in
the queue behind it. Weights of later jobs are not known before."""
_ROUNDING_CYCLES = 1e-6
"""By which times may differ that are the same: sums of the same numbers, from another one on."""


@dataclass
class Course:
    """A list, and what is known of its execution.

    Parameters
    ----------
    memory : Memory
        What DRAM the system has.
    refill_cycles : int
        From the end of a group until its bank can be filled again.
    settle_cycles : float
        From the end of a group until the parameters of the next one in its bank are in use; minus
        infinity if nothing waits for them.
    paces : list of Pace
        Of the jobs.
    tables : list of float
        Of the jobs: cycles of the memory port for tables of sums behind convolutions.
    moves : list of tuple
        Of the transfers: lines, whether they are stored, jobs that they wait for, and flags.
    progress : list of Progress
        When the first group of each job was to be filled, as far as known.
    is_report : bool
        As in `kiwicha.compiler.engine.cost.timeline.Threads`.
    job_ends, transfer_ends : list of float
        When they end.
    tables_there : list of float
        Of each job: when its tables of sums have come; minus infinity if it has none.
    waits : list of tuple
        Of each job: when it begins, and what it waits for transfers and weights.
    shares : list of tuple
        Of each group: as in `kiwicha.compiler.engine.cost.line_port.moved_at`.
    """

    memory: Memory
    refill_cycles: int
    settle_cycles: float
    paces: list[Pace]
    tables: list[float]
    moves: list[tuple[int, bool, int, int]]
    progress: list[Progress]
    is_report: bool = False
    job_ends: list[float] = field(default_factory=list)
    transfer_ends: list[float] = field(default_factory=list)
    waits: list[tuple[float, float, float]] = field(default_factory=list)
    tables_there: list[float] = field(default_factory=list)
    shares: list[tuple[float, float, float, float]] = field(default_factory=list)


@dataclass(frozen=True)
class Likeness:
    """A list that is done, and from which job on it is the same as another one.

    Parameters
    ----------
    course : Course
        Its execution.
    first : int
        The job; transfers are the same throughout.
    """

    course: Course
    first: int

    def end(self, course: Course) -> float:
        """Return when the other list ends, 0 if that is not known or not later.

        It is known where its next job is to be filled, if all that its end depends on is the same
        as here, only later: then all the rest is.

        Parameters
        ----------
        course : Course
            That of the other list, up to there.
        """
        number = len(course.progress) - 1
        now, then = course.progress[number], self.course.progress[number]
        shift = now.time - then.time
        if now.job < self.first or shift <= 0.0 or now.counts != then.counts:
            return 0.0
        pairs = [*zip(now.times, then.times, strict=True)]
        for mine, others, first in (
            (course.job_ends, self.course.job_ends, now.job - JOBS_AHEAD),
            (course.tables_there[:number], self.course.tables_there, now.job),
        ):
            start = max(first, 0)
            pairs += zip(mine[start:], others[start:], strict=False)
        for mine_share, other_share in zip(
            course.shares[now.first_share :], self.course.shares[now.first_share :], strict=False
        ):
            if mine_share[2:] != other_share[2:]:
                return 0.0
            pairs += zip(mine_share[:2], other_share[:2], strict=True)
        # Times that never come are the same.
        is_same = all(a == b or abs(a - b - shift) < _ROUNDING_CYCLES for a, b in pairs)
        if not is_same:
            return 0.0
        return shift + max([self.course.job_ends[-1], *self.course.transfer_ends[-1:]])
