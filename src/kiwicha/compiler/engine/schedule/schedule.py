"""How a region is done: which tensors stay in the scratchpad, in which order, in which bytes.

`residency` decides which tensors stay in the scratchpad; the others lie in the arena, or only
stripes of them ever exist. The transfer of one stripe runs beside the arithmetic of another. What
does not fit so is alone in its region, and where not even its rows fit, in blocks of columns, in
parts of the rows that it sums, or in blocks of channels.
"""

from collections import Counter
from collections.abc import Callable
from contextlib import suppress

from kiwicha.compiler.engine.ir.limits import broken_row_limit
from kiwicha.compiler.engine.ir.plan import Compute, Event, Plan, PlannedCascade
from kiwicha.compiler.engine.ir.recurrent_operation import RecurrentOperation
from kiwicha.compiler.engine.ir.refusals import RefusedError, TooLongError
from kiwicha.compiler.engine.ir.region import Region
from kiwicha.compiler.engine.schedule.blocks.channels import channel_plan
from kiwicha.compiler.engine.schedule.blocks.columns import column_plan
from kiwicha.compiler.engine.schedule.blocks.partial_sums import partial_sums_plan
from kiwicha.compiler.engine.schedule.blocks.phase_images import phase_plan
from kiwicha.compiler.engine.schedule.blocks.summed_rows import summed_rows_plan
from kiwicha.compiler.engine.schedule.crowding import SHRINK, crowded
from kiwicha.compiler.engine.schedule.cuts import require_jobs
from kiwicha.compiler.engine.schedule.events import OrderedEvents
from kiwicha.compiler.engine.schedule.other_rows import any_rows_around, with_other_rows
from kiwicha.compiler.engine.schedule.plans import placed_plan
from kiwicha.compiler.engine.schedule.recurrent_plans import recurrent_plan
from kiwicha.compiler.engine.schedule.residency import Chooser
from kiwicha.compiler.engine.schedule.unit_plans import plan_beside
from kiwicha.compiler.memory.placement import place, top_of
from kiwicha.contract.configs import Config

__all__ = ["schedule"]

_ALONE = (column_plan, summed_rows_plan, channel_plan, partial_sums_plan, phase_plan)
"""Plans of one operation whose rows, or all of them, do not fit."""


def schedule(region: Region, config: Config) -> Plan:
    """Return a plan of a region.

    Parameters
    ----------
    region : Region
        What is to be done.
    config : Config
        With an engine.

    Raises
    ------
    RefusedError
        If an operation does not fit; names it, and says why.
    TooLongError
        If there are too many jobs, or an operation fits only if it is alone; names layers at which
        to cut.
    """
    first = region.operations[0]
    if isinstance(first, RecurrentOperation):
        return recurrent_plan(region, first, config)
    try:
        usual = _in_stripes(region, config)
        return plan_beside(region, config, usual) if config.has_depthwise else usual
    except RefusedError as error:
        if error.gaps:
            raise
        other = with_other_rows(region, config.scratchpad_bytes)
        if other is not None:
            with suppress(RefusedError):
                return _in_stripes(other, config)
        for planned in _planners(region):
            plan = planned(region, config)
            if plan is not None and not any(map(_has_long_rows, plan.events)):
                return plan
        cuts = _cuts_around(region, error.position, config)
        if not cuts:
            raise
    raise TooLongError(cuts)


def _has_long_rows(event: Event) -> bool:
    """Whether a job would step over whole rows that it cannot step over."""
    if not isinstance(event, Compute) or event.part is not None:
        return False
    return event.operation.has_long_rows and broken_row_limit(event.operation) is not None


def _planners(region: Region) -> tuple[Callable[[Region, Config], Plan | None], ...]:
    """Return what may plan a region that does not fit in stripes of whole rows."""
    first, *others = region.operations
    if not others:
        return _ALONE
    is_pair = len(others) == 1 and others[0].inputs == (first.output,)
    return (partial_sums_plan,) if is_pair else ()


def _cuts_around(region: Region, position: int, config: Config) -> list[int]:
    """Return where a region is to be cut so that a refused operation fits.

    It is alone then, or with neighbours that can have other rows together with it.
    """
    operations = region.operations
    number = next(n for n, item in enumerate(operations) if item.position == position)
    together = any_rows_around(operations, number)
    for part in dict.fromkeys((together, *(range(number, number + count) for count in (1, 2)))):
        if 0 < len(part) < len(operations) and _fits(region, part, config):
            return [
                item.positions[0] for item in (operations[part.start], *operations[part.stop :][:1])
            ]
    return []


def _fits(region: Region, part: range, config: Config) -> bool:
    """Whether some consecutive operations of a region fit without the others."""
    members = region.operations[part.start : part.stop]
    others = (*region.operations[: part.start], *region.operations[part.stop :])
    written = {item.output for item in members}
    loads = {tensor for item in members for tensor in item.inputs} - written
    wanted = region.stores | {tensor for item in others for tensor in item.inputs}
    stores = written & wanted
    if not all(map(region.is_streamable, loads | stores)):
        return False
    edges = tuple(edge for edge in region.edges if edge.tensor in loads | stores)
    try:
        schedule(Region(members, frozenset(loads), frozenset(stores), edges), config)
    except (RefusedError, TooLongError):
        return False
    return True


def _in_stripes(region: Region, config: Config) -> Plan:
    """Return a plan in stripes of whole rows; see `schedule`."""
    for operation in region.operations:
        for part in operation.job_operations:
            why = broken_row_limit(part) if part.has_long_rows else None
            if why is not None:
                raise RefusedError(operation.position, why)
    capacity = config.scratchpad_bytes
    chooser = Chooser(region, config.engine_macs, config.memory)
    spared: Counter[int] = Counter()
    while True:
        choice = chooser.choose(capacity, spared)
        cascades = tuple(
            PlannedCascade(striping.cascade.positions, striping.jobs(choice.streamed))
            for striping in choice.stripings
        )
        require_jobs(cascades)
        ordered = OrderedEvents(region, choice)
        buffers, events = ordered.buffers, ordered.events
        early = ordered.early_buffers
        offsets = place(early, capacity=capacity)
        if early != buffers and top_of(buffers, offsets) > capacity:
            offsets = place(buffers, capacity=capacity)
        if top_of(buffers, offsets) <= capacity:
            passed = (t for striping in choice.stripings for t in striping.cascade.passed)
            return placed_plan(
                *(region, cascades, choice.streamed, passed),
                *(events, buffers, offsets, capacity),
            )
        for number in crowded(region, events, buffers, offsets, capacity):
            spared[number] += capacity // SHRINK
