"""How a region is done: which tensors stay in the scratchpad, in which order, in which bytes.

`residency` decides which tensors stay in the scratchpad; the others lie in the arena, or only
stripes of them ever exist. The transfer of one stripe runs beside the arithmetic of another. What
does not fit so is alone in its region, and where not even its rows fit, in blocks of columns, in
parts of the rows that it sums, or in blocks of channels.
"""

from collections import Counter

from kiwicha.compiler.engine.ir.plan import Plan, PlannedCascade
from kiwicha.compiler.engine.ir.refusals import RefusedError, TooLongError
from kiwicha.compiler.engine.ir.region import Region
from kiwicha.compiler.engine.schedule.blocks.channels import channel_plan
from kiwicha.compiler.engine.schedule.blocks.columns import column_plan
from kiwicha.compiler.engine.schedule.blocks.summed_rows import summed_rows_plan
from kiwicha.compiler.engine.schedule.crowding import SHRINK, crowded
from kiwicha.compiler.engine.schedule.cuts import require_jobs
from kiwicha.compiler.engine.schedule.events import OrderedEvents
from kiwicha.compiler.engine.schedule.plans import placed_plan
from kiwicha.compiler.engine.schedule.residency import Chooser
from kiwicha.compiler.engine.schedule.unit_plans import plan_beside
from kiwicha.compiler.memory.placement import place, top_of
from kiwicha.contract.configs import Config

__all__ = ["schedule"]

_ALONE = (column_plan, summed_rows_plan, channel_plan)
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
    try:
        usual = _in_stripes(region, config)
        return plan_beside(region, config, usual) if config.has_depthwise else usual
    except RefusedError as error:
        if error.gaps:
            raise
        for planned in _ALONE if len(region.operations) == 1 else ():
            plan = planned(region, config)
            if plan is not None:
                return plan
        cuts = _cuts_around(region, error.position, config)
        if not cuts:
            raise
    raise TooLongError(cuts)


def _cuts_around(region: Region, position: int, config: Config) -> list[int]:
    """Return where a region is to be cut so that a refused operation is alone, if it fits then."""
    number = next(n for n, item in enumerate(region.operations) if item.position == position)
    operation, following = region.operations[number], region.operations[number + 1 :][:1]
    alone = Region((operation,), frozenset(operation.inputs), frozenset({operation.output}))
    touched = (*operation.inputs, operation.output)
    if len(region.operations) == 1 or not all(map(region.is_streamable, touched)):
        return []
    try:
        schedule(alone, config)
    except (RefusedError, TooLongError):
        return []
    return [item.positions[0] for item in (operation, *following)]


def _in_stripes(region: Region, config: Config) -> Plan:
    """Return a plan in stripes of whole rows; see `schedule`."""
    capacity = config.scratchpad_bytes
    chooser = Chooser(region, config.engine_macs, config.memory)
    spared: Counter[int] = Counter()
    while True:
        choice = chooser.choose(capacity, spared)
        cascades = tuple(
            PlannedCascade(striping.cascade.positions, striping.jobs)
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
