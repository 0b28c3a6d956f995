"""Plans of all regions, and what has to change where there is none."""

from collections.abc import Iterable

from kiwicha.compiler.engine.ir.plan import Plan
from kiwicha.compiler.engine.ir.refusals import RefusedError, TooLongError, Troubles
from kiwicha.compiler.engine.ir.region import Region
from kiwicha.compiler.engine.schedule.fusion import fastest_plan
from kiwicha.contract.configs import Config

__all__ = ["Scheduler"]


class Scheduler:
    """Schedules regions, each only once: most stay as they are when another one is cut.

    Parameters
    ----------
    config : Config
        What they will run on.
    """

    def __init__(self, config: Config) -> None:
        self._config = config
        self._known: dict[Region, Plan] = {}

    def schedule(self, regions: Iterable[Region]) -> tuple[tuple[Plan, ...], Troubles]:
        """Return the plans of regions, complete if there are no troubles."""
        plans: list[Plan] = []
        refusals: dict[int, str] = {}
        cuts: set[int] = set()
        gaps: set[int] = set()
        for region in regions:
            try:
                if region not in self._known:
                    self._known[region] = fastest_plan(region, self._config)
                plans.append(self._known[region])
            except RefusedError as error:
                gaps |= error.gaps
                if not error.gaps:
                    refusals[error.position] = error.why
            except TooLongError as error:
                cuts.update(error.positions)
        return tuple(plans), Troubles(refusals, frozenset(cuts), frozenset(gaps))
