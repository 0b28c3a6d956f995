"""Lists in the middle of which the engine is reset, each with itself behind it."""

import dataclasses

import numpy as np

from kiwicha.contract.engine import EngineCounter, EngineError, EngineOp, JobKind
from kiwicha.errors import SimulationError
from tests.gateware.engine.campaign import Outcome
from tests.gateware.engine.random_lists import Case, random_case

__all__ = ["CutShort", "reset_lists"]

_MOST_CYCLES = 15
"""Of a reset."""


class CutShort(Case):
    """A list in the middle of which the engine is reset."""

    def check(self, outcome: Outcome, name: str) -> None:
        """Compare what was loaded, and what the engine says of itself.

        Raises
        ------
        SimulationError
            If something differs.
        """
        # What counts is reset first: what waited then waits for one more cycle.
        status, total, *counts = outcome.after
        if outcome.status or status or total or any(count > 1 for count in counts):
            raise SimulationError(f"{name}: nothing must be left of it, not {outcome.after}")
        if outcome.arena[: self.size] != self.given.arena[: self.size]:
            raise SimulationError(f"{name}: what it loads must stay")


def reset_lists(macs: int, size: int, kinds: list[JobKind], *, count: int, seed: int) -> list[Case]:
    """Return lists that are cut short, each followed by the whole one, which sets nothing.

    Parameters
    ----------
    macs, size : int
        Products per cycle, and bytes of the scratchpad that are loaded and stored.
    kinds : list of JobKind
        Of their jobs.
    count, seed : int
        How many are cut, and what is drawn.
    """
    rng = np.random.default_rng(seed)
    found: list[Case] = []
    for _ in range(count):
        chosen = [JobKind(int(rng.choice(kinds))) for _ in range(int(rng.integers(1, 4)))]
        case = random_case(rng, macs, size, chosen, wanted=EngineError.NONE)
        cycle = int(rng.integers(1, 200) if rng.integers(2) else rng.integers(1, 3000))
        given = dataclasses.replace(
            case.given,
            reset=(cycle, int(rng.integers(1, _MOST_CYCLES + 1))),
            # A limit that is still there stops the list behind.
            watchdog_cycles=cycle + 1000,
            after=(
                (EngineOp.STATUS, 0, 0, 0),
                *((EngineOp.COUNTER, int(counter), 0, 0) for counter in EngineCounter),
            ),
        )
        found.append(CutShort(case.made, given, size))
        whole = dataclasses.replace(case.given, keeps_settings=True)
        found.append(dataclasses.replace(case, given=whole))
    return found
