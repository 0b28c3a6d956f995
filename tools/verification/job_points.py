"""Points of functional coverage: kinds of jobs, with their flags, shapes, waits and errors."""

import itertools
from collections.abc import Iterator

from kiwicha.contract.engine import (
    INPUT_LANES,
    EngineJob,
    EngineTransfer,
    JobFlag,
    JobKind,
    SumFlag,
    TransferFlag,
)
from kiwicha.contract.moves import AnyJob, EngineMove, MoveFlag
from kiwicha.contract.recurrences import EngineRecurrence
from kiwicha.contract.short_elements import EngineShortElements, ShortForm, ShortOperator
from tests.gateware.engine.random_lists import Case

__all__ = ["points_of"]

_WINDOWS = {JobKind.CONV, JobKind.DEPTHWISE, JobKind.MAX, JobKind.DEPTHWISE_UNIT}


def points_of(case: Case, timing: str) -> set[str]:
    """Return the points that a list covers.

    Parameters
    ----------
    case : Case
        The list.
    timing : str
        Name of the DRAM's behaviour: how it stalls.
    """
    jobs = case.made.jobs
    found = {f"list ends with {case.error.name} on {timing} DRAM"}
    if case.error.value:
        return found
    found.add(f"{'one job' if len(jobs) == 1 else 'several jobs'} on {timing} DRAM")
    for job in jobs:
        kind = JobKind(job.kind)
        found |= {f"{kind.name}: {feature}" for feature in (*_features(job), f"{timing} DRAM")}
    found |= {
        f"{JobKind(first.kind).name} before {JobKind(second.kind).name}"
        for first, second in itertools.pairwise(jobs)
    }
    for transfer in case.made.transfers:
        found |= {f"transfer: {feature}" for feature in _transfer_features(transfer)}
    return found


def _features(job: AnyJob) -> Iterator[str]:
    yield "waits for transfers" if job.wait_transfers else "waits for none"
    if isinstance(job, EngineMove):
        yield MoveFlag(job.flags).name or "pieces"
        yield "negative step" if min(*job.source_steps, *job.target_steps) < 0 else "steps forward"
        return
    if isinstance(job, EngineRecurrence):
        return
    if isinstance(job, EngineShortElements):
        yield f"{ShortOperator(job.operator).name} of {ShortForm(job.form).name}"
        yield "one block" if job.blocks == 1 else "several blocks"
        yield (
            "clamped" if (job.activation_min, job.activation_max) != (-128, 127) else "whole range"
        )
        return
    flags, sums = JobFlag(job.flags), SumFlag(job.sums)
    yield from (str(flag.name) for flag in flags)
    yield from (f"sums {flag.name}" for flag in sums)
    yield "no flags" if not flags else "flags"
    yield "one group" if job.groups == 1 else "several groups"
    yield "one row" if job.output_rows == 1 else "several rows"
    yield _clamp(job)
    if JobKind(job.kind) in _WINDOWS:
        yield "one kernel row" if job.kernel_rows == 1 else "several kernel rows"
        yield "stride 1" if job.stride_rows == 1 else "stride of several rows"
        yield "rows before the image" if job.first_row < 0 else "begins inside"
    if JobFlag.GATHERED in flags:
        yield f"words with up to {_carried(job)} lanes of the row before"


def _carried(job: EngineJob) -> int:
    """Return the most lanes of a word that a GATHERED job carries from the kernel row before."""
    return max(-row * job.segment_step % INPUT_LANES for row in range(job.kernel_rows))


def _clamp(job: EngineJob | EngineShortElements) -> str:
    is_whole = (job.activation_min, job.activation_max) == (-128, 127)
    return "whole range" if is_whole else "clamped"


def _transfer_features(transfer: EngineTransfer) -> Iterator[str]:
    way = "store" if transfer.is_store else "load"
    kind = TransferFlag(transfer.flags).name if transfer.flags else "bytes"
    yield f"{way} of {kind}"
    yield f"{way} {'not ' if transfer.scratchpad_address % 16 else ''}aligned"
    yield f"{way} {'waits' if transfer.wait_jobs else 'does not wait'} for jobs"
    yield f"{way} of {'one word' if transfer.moved_bytes <= 16 else 'several words'}"
