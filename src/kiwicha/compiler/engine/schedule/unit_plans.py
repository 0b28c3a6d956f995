"""Plans in which the depthwise unit works beside the array: the best of several."""

import dataclasses
import itertools
from collections import Counter
from collections.abc import Iterator, Sequence

from kiwicha.compiler.engine.codegen.generate import generate
from kiwicha.compiler.engine.codegen.row_waits import early_pairs, has_few_rows
from kiwicha.compiler.engine.cost.cycles import predict_list
from kiwicha.compiler.engine.ir.engine_list import EngineList
from kiwicha.compiler.engine.ir.plan import Beside, Event, Job, Plan, PlannedCascade
from kiwicha.compiler.engine.ir.refusals import RefusedError, TooLongError
from kiwicha.compiler.engine.ir.region import Region
from kiwicha.compiler.engine.schedule.beside import MOST_JOBS_AFTER, beside, kept_buffers
from kiwicha.compiler.engine.schedule.crowding import SHRINK, crowded
from kiwicha.compiler.engine.schedule.cuts import require_jobs
from kiwicha.compiler.engine.schedule.events import OrderedEvents
from kiwicha.compiler.engine.schedule.plans import placed_plan
from kiwicha.compiler.engine.schedule.residency import Chooser
from kiwicha.compiler.engine.schedule.stripes.cascade import Choice
from kiwicha.compiler.memory.placement import Buffer, place, top_of
from kiwicha.contract.configs import Config

__all__ = ["plan_beside"]

_PACES = (1.0, 0.5, 0.25)
"""Shares of the memory's pace by which stripes are chosen: results of both units keep transfers
from the scratchpad's line port."""
_ATTEMPTS = 12
"""How often less of the scratchpad is tried, so that more jobs of the unit have room."""


def plan_beside(region: Region, config: Config, usual: Plan) -> Plan:
    """Return the plan of the least predicted cycles, which can be the usual one.

    Beside an array's job more tensors are needed than for one job after the other. Where there is
    no room for them, either the depthwise job stays on the array, or the operations around it work
    in smaller stripes.

    Parameters
    ----------
    region : Region
        What is to be done.
    config : Config
        With a depthwise unit.
    usual : Plan
        One without it.
    """
    first = _made(usual, config)
    if first is None:
        return usual
    lists = itertools.chain([first], *(_lists(region, config, pace) for pace in _PACES))
    return min(lists, key=lambda made: _cycles(made, config)).plan


def _cycles(made: EngineList, config: Config) -> int:
    """Return the predicted cycles of a list."""
    cycles, _ = predict_list(
        made.jobs,
        made.engine_transfers,
        config.engine_macs,
        config.requantizer_cycles,
        config.memory,
    )
    return cycles


def _lists(region: Region, config: Config, pace: float) -> Iterator[EngineList]:
    """Yield lists with fewer and fewer depthwise jobs that have no room beside the array."""
    capacity = config.scratchpad_bytes
    memory = config.memory
    slower = dataclasses.replace(memory, bytes_per_cycle=pace * memory.bytes_per_cycle)
    chooser = Chooser(region, config.engine_macs, slower)
    spared: Counter[int] = Counter()
    attempts = 0
    while attempts < _ATTEMPTS:
        try:
            choice = chooser.choose(capacity, spared)
            cascades = [
                PlannedCascade(striping.cascade.positions, striping.jobs(choice.streamed))
                for striping in choice.stripings
            ]
            require_jobs(cascades)
        except (RefusedError, TooLongError):
            return
        ordered = OrderedEvents(region, choice)
        buffers, events = ordered.buffers, ordered.events
        offsets = place(buffers, capacity=capacity)
        left_out = crowded(region, events, buffers, offsets, capacity)
        if not left_out:
            attempts += 1
            made, left_out = _fitted(region, choice, cascades, ordered, config)
            if made is not None:
                yield made
            if not left_out:
                return
        for number in left_out:
            spared[number] += capacity // SHRINK


def _fitted(
    region: Region,
    choice: Choice,
    cascades: Sequence[PlannedCascade],
    ordered: OrderedEvents,
    config: Config,
) -> tuple[EngineList | None, set[int]]:
    """Return a list in which the unit does what there is room for; None if it does nothing.

    And the numbers of the operations around what it leaves to the array for that.
    """
    capacity = config.scratchpad_bytes
    without: set[Event] = set()
    left_out: set[int] = set()
    while True:
        # What waits for a job of the unit as late as it can needs most room.
        for jobs_after in range(MOST_JOBS_AFTER, 0, -1):
            events, pairs = beside(ordered.events, without, jobs_after)
            buffers = kept_buffers(ordered.events, events, pairs, ordered.buffers)
            offsets = place(buffers, capacity=capacity)
            if top_of(buffers, offsets) <= capacity:
                break
        if not pairs:
            return None, left_out
        if top_of(buffers, offsets) <= capacity:
            passed = (t for striping in choice.stripings for t in striping.cascade.passed)
            plan = placed_plan(
                *(region, cascades, choice.streamed, passed),
                *(events, buffers, offsets, capacity),
                beside=pairs,
            )
            made = _made(plan, config)
            if made is None:
                return None, left_out
            early = early_pairs(plan, made.jobs)
            if not early:
                return made, left_out
            without |= {events[pair.unit] for pair in early}
            continue
        # Jobs around which there is no room stay on the array, or that around which is least.
        now = _live_bytes(buffers, len(events))
        live = {pair.unit: max(now[n] for n in _beside(pair)) for pair in pairs}
        limit = min(max(live.values()), capacity + 1)
        for pair in pairs:
            if live[pair.unit] < limit:
                continue
            without.add(events[pair.unit])
            for number in (pair.unit, pair.before, pair.consumer):
                event = None if number is None else events[number]
                if isinstance(event, Job):
                    left_out.add(region.numbers[event.operation])


def _made(plan: Plan, config: Config) -> EngineList | None:
    """Return the list of a plan; None if the engine does not take it."""
    try:
        made = generate(plan, config)
    except RefusedError:
        return None
    return made if has_few_rows(plan, made.jobs) else None


def _live_bytes(buffers: Sequence[Buffer], count: int) -> list[int]:
    """Return the bytes that are needed at each of so many events."""
    changes = [0] * (count + 1)
    for buffer in buffers:
        changes[buffer.first] += buffer.aligned_bytes
        changes[buffer.last + 1] -= buffer.aligned_bytes
    return list(itertools.accumulate(changes[:-1]))


def _beside(pair: Beside) -> tuple[int, int, int]:
    """Return the events of a job of the unit, and of those beside it."""
    return pair.unit, pair.before, pair.before if pair.consumer is None else pair.consumer
