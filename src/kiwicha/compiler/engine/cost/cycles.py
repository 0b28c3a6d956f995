"""Predicted cycles: of lists from their descriptors, see `timeline`; of the CPU's steps."""

from collections.abc import Mapping, Sequence
from functools import lru_cache

from kiwicha.compiler.cpu.costs import (
    COLD_LIST_CYCLES,
    cold_steps,
    cpu_cycles,
    cycles_by_step,
)
from kiwicha.compiler.engine.cost.progress import JobCycles
from kiwicha.compiler.engine.cost.timeline import Threads
from kiwicha.compiler.engine.cost.unit_timeline import UnitThreads
from kiwicha.contract.configs import Config
from kiwicha.contract.engine import EngineCall, EngineTransfer
from kiwicha.contract.memories import DDR3_QUARTER_RATE, Memory
from kiwicha.contract.moves import AnyJob
from kiwicha.program.image import Program
from kiwicha.program.parts import Step
from kiwicha.program.step_lists import list_of
from kiwicha.program.unit_rows import is_unit_job

__all__ = ["predict_layers", "predict_list", "predict_program"]

_RETURN_CYCLES = 440
"""What the CPU needs more to wait for a list beside which it has executed steps: what it needs for
that is no longer in its caches, and the list has often ended before its data cache forgets. Four
lists of `keyword_transformer@98` took 420 to 460."""


def predict_list(
    jobs: Sequence[AnyJob],
    transfers: Sequence[EngineTransfer],
    macs: int,
    requantizer_cycles: int = 1,
    memory: Memory = DDR3_QUARTER_RATE,
    *,
    has_blocks: bool = False,
    is_report: bool = False,
) -> tuple[int, tuple[JobCycles, ...]]:
    """Return the cycles of a list, and of its jobs.

    Parameters
    ----------
    jobs, transfers : sequence
        The list.
    macs : int
        Products per cycle.
    requantizer_cycles : int
        As `kiwicha.contract.configs.Config.requantizer_cycles`.
    memory : Memory
        What DRAM the system has.
    has_blocks : bool
        As `Config.has_blocks`.
    is_report : bool
        As in `kiwicha.compiler.engine.cost.timeline.Threads`.
    """
    engine = macs, requantizer_cycles, has_blocks
    return _predicted(tuple(jobs), tuple(transfers), engine, memory, is_report)


@lru_cache(maxsize=256)
def _predicted(
    jobs: tuple[AnyJob, ...],
    transfers: tuple[EngineTransfer, ...],
    engine: tuple[int, int, bool],
    memory: Memory,
    is_report: bool,
) -> tuple[int, tuple[JobCycles, ...]]:
    """Return what `predict_list` does; lists are asked about again, read back from a Program."""
    macs, requantizer_cycles, has_blocks = engine
    if any(map(is_unit_job, jobs)):
        return UnitThreads(
            *(jobs, transfers, macs, requantizer_cycles, memory), is_report=is_report
        ).run()
    threads = Threads(
        *(jobs, transfers, macs, requantizer_cycles),
        memory=memory,
        has_blocks=has_blocks,
        is_report=is_report,
    )
    return threads.run()


def predict_program(
    program: Program, *, is_report: bool = True
) -> tuple[int, dict[int, tuple[int, tuple[JobCycles, ...]]]]:
    """Return the predicted cycles of an inference, and of each list by the number of its step.

    They are for the memory that the Program was compiled for, with the weights that a list keeps.
    Of a list counts what the steps beside it do not hide.

    Parameters
    ----------
    program : Program
        For an engine.
    is_report : bool
        Whether it is to be reported. The compiler chooses between Programs by what its passes
        predict, which rounds the weights of groups: see
        `kiwicha.compiler.engine.cost.timeline.Threads`.
    """
    config = program.config
    lists = {}
    cold = cold_steps(program.steps)
    total = 0
    for number, step in enumerate(program.steps):
        params = step.params
        if not isinstance(params, EngineCall):
            continue
        found = list_of(program, step, has_weights=True)
        lists[number] = predict_list(
            found.jobs,
            found.transfers,
            params.macs,
            config.requantizer_cycles,
            config.memory,
            has_blocks=config.has_blocks,
            is_report=is_report,
        )
        beside = program.steps[number + 1 :][: params.overlapped_steps]
        total += _cpu_cycles_of_list(params, config.memory, is_cold=number in cold)
        total += lists[number][0] - _hidden(beside, lists[number][0], config)
    return total + sum(_cycles_on_cpu(program, lists).values()), lists


def predict_layers(program: Program) -> list[int]:
    """Return the predicted cycles of each layer; together they are those of `predict_program`.

    As in reports, starting a list and going on after it belong to its last layer, and what steps of
    the CPU hide is taken from the first.
    """
    _, lists = predict_program(program)
    on_cpu, cold = _cycles_on_cpu(program, lists), cold_steps(program.steps)
    layers = [0] * len(program.layers)
    for number, step in enumerate(program.steps):
        if not isinstance(step.params, EngineCall):
            layers[step.layer] += on_cpu[number]
            continue
        total, jobs = lists[number]
        beside = program.steps[number + 1 :][: step.params.overlapped_steps]
        hidden = _hidden(beside, total, program.config)
        around = _cpu_cycles_of_list(step.params, program.config.memory, is_cold=number in cold)
        last = total - hidden + around
        # Jobs of the depthwise unit end between others.
        ended = sorted(jobs, key=lambda job: job.end)
        ends = [*(max(job.end - hidden, 0) for job in ended[:-1]), last]
        for job, start, end in zip(ended, [0, *ends[:-1]], ends, strict=True):
            layers[step.layer + job.layer] += end - start
    return layers


def _cycles_on_cpu(
    program: Program, lists: Mapping[int, tuple[int, tuple[JobCycles, ...]]]
) -> dict[int, int]:
    """Return the cycles of the CPU's steps by their numbers, given those of lists and jobs."""
    lengths = {number: cycles for number, (cycles, _) in lists.items()}
    return cycles_by_step(program.steps, lengths, has_signal=program.config.has_signal)


def _cpu_cycles_of_list(call: EngineCall, memory: Memory, *, is_cold: bool) -> int:
    """Return what the CPU needs to start a list, to wait for it and to go on."""
    more = _RETURN_CYCLES if call.overlapped_steps else COLD_LIST_CYCLES * is_cold
    return memory.list_cpu_cycles + more


def _hidden(beside: Sequence[Step], total: int, config: Config) -> int:
    """Return how many of a list's cycles steps of the CPU that run beside it take."""
    taken = sum(cpu_cycles(step, has_signal=config.has_signal) for step in beside)
    return min(taken, total)
