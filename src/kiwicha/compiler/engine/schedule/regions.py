"""Schedules of all regions, and what has to change where there is none."""

from collections.abc import Sequence
from dataclasses import dataclass

from kiwicha.compiler.engine.ir.run import DoesNotFitError, Run, TooLongError, TooSlowError
from kiwicha.compiler.engine.schedule.schedule import Schedule, schedule
from kiwicha.contract.cfu import Config

__all__ = ["Scheduled", "Scheduler"]


@dataclass(frozen=True, eq=False)
class Scheduled:
    """What scheduling of regions gives.

    Parameters
    ----------
    schedules : tuple of Schedule
        One per region, in order, but for those that have none.
    refused : frozenset of int
        Positions of layers that do not fit the scratchpad, or take longer alone than a list may.
    cuts : frozenset of int
        Positions of layers with which further regions must begin, as their lists are too long.
    """

    schedules: tuple[Schedule, ...]
    refused: frozenset[int]
    cuts: frozenset[int]

    @property
    def is_complete(self) -> bool:
        """Whether every region has a schedule."""
        return not self.refused and not self.cuts


class Scheduler:
    """Schedules regions, each only once: most stay as they are when another one is cut.

    Parameters
    ----------
    config : Config
        What they will run on.
    """

    def __init__(self, config: Config) -> None:
        self._config = config
        self._known: dict[tuple[object, ...], Schedule] = {}

    def schedule(self, regions: Sequence[Run]) -> Scheduled:
        """Return the schedules of regions."""
        schedules: list[Schedule] = []
        refused: set[int] = set()
        cuts: set[int] = set()
        for region in regions:
            try:
                schedules.append(self._schedule(region))
            except (DoesNotFitError, TooSlowError) as error:
                refused.add(error.position)
            except TooLongError as error:
                cuts.update(error.positions)
        return Scheduled(tuple(schedules), frozenset(refused), frozenset(cuts))

    def _schedule(self, region: Run) -> Schedule:
        key = region.layers, region.loads, region.stores
        if key not in self._known:
            self._known[key] = schedule(
                region,
                self._config.engine_macs,
                self._config.scratchpad_bytes,
                self._config.requantizer_cycles,
            )
        return self._known[key]
