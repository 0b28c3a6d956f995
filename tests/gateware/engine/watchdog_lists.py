"""Lists with a watchdog of many sizes: those that it stops, and those that end before."""

import dataclasses

import numpy as np

from kiwicha.contract.engine import EngineError, JobKind
from tests.gateware.engine.random_lists import Case, random_case

__all__ = ["watchdog_lists"]

_FIRST_BIT = 9
_LAST_BIT = 15
_GOOD_BITS = range(_LAST_BIT, 32)


def watchdog_lists(macs: int, size: int) -> list[Case]:
    """Return lists that wait for themselves, with a limit of each length, and good ones.

    Parameters
    ----------
    macs, size : int
        Products per cycle, and bytes of the scratchpad that are loaded and stored.
    """
    rng = np.random.default_rng(13)
    kinds = [JobKind.TABLE, JobKind.MOVE]

    def limited(wanted: EngineError, cycles: int) -> Case:
        case = random_case(rng, macs, size, kinds, wanted=wanted, has_floats=False)
        return dataclasses.replace(
            case, given=dataclasses.replace(case.given, watchdog_cycles=cycles)
        )

    limits = [
        (1 << bit) + more
        for bit in range(_FIRST_BIT, _LAST_BIT)
        for more in (0, int(rng.integers(1 << bit)))
    ]
    return [
        # It does not come to anything.
        *(limited(EngineError.WATCHDOG, cycles) for cycles in (1, 2, 40)),
        *(limited(EngineError.WATCHDOG, cycles) for cycles in limits),
        *(limited(EngineError.NONE, 1 << bit) for bit in _GOOD_BITS),
    ]
