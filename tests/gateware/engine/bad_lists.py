"""Lists with a descriptor that the engine must refuse, behind good ones."""

import dataclasses

import numpy as np

from kiwicha.contract.engine import (
    LINE_BYTES,
    TRANSFER_ERROR,
    EngineError,
    EngineJob,
    EngineTransfer,
    JobKind,
)
from kiwicha.contract.moves import AnyJob
from tests.gateware.engine.control.bad_descriptors import bad_jobs, bad_transfers, changed
from tests.gateware.engine.random_lists import Case, random_case
from tests.gateware.engine.work_list import WorkList

__all__ = ["bad_lists"]

_SIZE = 4096
_BAD = 1
"""Which descriptor it is."""


def bad_lists(macs: int, scratchpad_bytes: int, *, has_softmax: bool) -> list[Case]:
    """Return a list for each of `bad_jobs` and `bad_transfers`.

    Parameters
    ----------
    macs, scratchpad_bytes : int
        Of an engine without other options.
    has_softmax : bool
        It has jobs of SOFTMAX; else there are none.
    """
    rng = np.random.default_rng(5)
    good = random_case(
        rng, macs, _SIZE, 2 * [JobKind.TABLE], wanted=EngineError.NONE, has_floats=False
    )
    made = _with_transfers(good.made, [*good.made.transfers[:2], good.made.transfers[-1]])
    found = []
    for legal, field, value, error in bad_jobs(scratchpad_bytes, len(made.transfers)):
        if legal == "softmax" and not has_softmax:
            continue
        jobs = [made.jobs[0], changed(legal, **{field: value})]
        found.append(_case(good, dataclasses.replace(made, jobs=jobs), error, _BAD))
    for fields, error in bad_transfers(scratchpad_bytes, len(made.jobs)):
        transfers = [made.transfers[0], EngineTransfer(*fields), made.transfers[2]]
        changed_list = dataclasses.replace(made, transfers=transfers)
        found.append(_case(good, changed_list, error, TRANSFER_ERROR | _BAD))
    return found


def _with_transfers(made: WorkList, transfers: list[EngineTransfer]) -> WorkList:
    """Return a list with fewer transfers, whose jobs find their weights behind them."""
    shorter = LINE_BYTES * (len(made.transfers) - len(transfers))
    jobs: list[AnyJob] = []
    for job in made.jobs:
        assert isinstance(job, EngineJob)
        jobs.append(dataclasses.replace(job, weights_offset=job.weights_offset - shorter))
    return dataclasses.replace(made, jobs=jobs, transfers=transfers)


def _case(good: Case, made: WorkList, error: EngineError, number: int) -> Case:
    given = dataclasses.replace(good.given, image=made.image, counts=made.counts)
    return Case(made, given, good.size, error, number)
