"""When steps, jobs and transfers of a simulated inference ran."""

from collections.abc import Sequence
from dataclasses import dataclass

from kiwicha.contract.engine import EngineCall
from kiwicha.program.image import Program
from kiwicha.sim.soc.probes import Count
from kiwicha.sim.verilator.activity import Activity, Span

__all__ = ["ListTimestamps", "StepTimestamps", "timestamps"]

NOTED_CYCLES = 100
"""From the end of a step until its mark has reached DRAM, about."""


@dataclass(frozen=True)
class ListTimestamps:
    """An engine's list, in cycles of the simulation.

    Parameters
    ----------
    span : tuple of int
        From start to end.
    job_ends : tuple of int
        Of each job.
    transfer_ends : tuple of int
        Of each transfer.
    """

    span: Span
    job_ends: tuple[int, ...]
    transfer_ends: tuple[int, ...]

    @property
    def job_starts(self) -> tuple[int, ...]:
        """Of each job: the end of the one before."""
        return (self.span[0], *self.job_ends[:-1])


@dataclass(frozen=True)
class StepTimestamps:
    """A step, in cycles of the simulation; ``engine`` only for those of the engine."""

    span: Span
    engine: ListTimestamps | None


def timestamps(
    activity: Activity, program: Program, step_cycles: Sequence[Sequence[int]]
) -> list[list[StepTimestamps]]:
    """Return when each step of each inference ran.

    Parameters
    ----------
    activity : Activity
        Of the simulation.
    program : Program
        What ran.
    step_cycles : sequence of sequence of int
        As the firmware counted them.
    """
    lists = iter(activity.lists())
    noted = iter(activity.step_ends())
    jobs, transfers = (activity.count(count) for count in Count)
    found = []
    for table in step_cycles:
        steps: list[StepTimestamps] = []
        begin = 0
        beside = 0
        for step, spent in zip(program.steps, table, strict=True):
            end = next(noted) - NOTED_CYCLES
            if isinstance(step.params, EngineCall):
                span = next(lists)
                beside = step.params.overlapped_steps
                # Beside other steps, what the CPU spent is not how long it took.
                start = span[0] if beside else span[1] - spent
                engine = ListTimestamps(
                    span,
                    tuple(activity.increments(jobs, span)),
                    tuple(activity.increments(transfers, span)),
                )
                steps.append(StepTimestamps((start, span[1]), engine))
            elif beside:
                # The mark of the last one comes when the list, too, is done.
                beside -= 1
                steps.append(StepTimestamps((begin, begin + spent), None))
            else:
                steps.append(StepTimestamps((end - spent, end), None))
            begin = end
        found.append(steps)
    return found
