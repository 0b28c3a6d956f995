"""Jobs whose addresses, steps and rows are as wide as descriptors have them."""

import dataclasses
import random
from typing import Any

from kiwicha.contract.engine import ELEMENT_KINDS, MAX_U8, MAX_U16, EngineJob, JobFlag, JobKind
from kiwicha.gateware.engine.addressing.interfaces import INDEX_BITS
from kiwicha.gateware.engine.descriptors import ADDRESS_BITS
from tests.gateware.engine.addressing.address_model import schedule

__all__ = ["widened"]

_ADDRESSES = 1 << ADDRESS_BITS
_MAX_CYCLES = 1500
"""Of a group: more kernel rows, and columns that are seen, take longer."""
_TRIES = 20


def widened(rng: random.Random, job: EngineJob, macs: int) -> EngineJob:
    """Return a job of the same loops elsewhere: other addresses, steps, kernel rows and edges.

    Offsets in a row stay within those that a register holds.
    """
    job = _moved(rng, job)
    if job.kind in ELEMENT_KINDS or job.flags & (JobFlag.PACKED | JobFlag.GATHERED):
        return job
    for _ in range(_TRIES):
        other = _of_other_rows(rng, job)
        (group,) = schedule(other, [0], macs=macs)
        if group[-1][0] <= _MAX_CYCLES:
            return other
    return job


def _moved(rng: random.Random, job: EngineJob) -> EngineJob:
    """Return a job with other addresses and steps."""
    is_element = job.kind in ELEMENT_KINDS
    is_depthwise = job.kind == JobKind.DEPTHWISE
    columns = job.segment_words if is_element else job.output_columns
    if is_depthwise:
        columns = (job.skip_results + job.output_columns) * job.stride_columns
    changes: dict[str, Any] = {
        "first_address": rng.randrange(-_ADDRESSES, _ADDRESSES),
        "column_step": rng.randint(1, min(MAX_U16, _ADDRESSES // columns)),
    }
    if job.kind != JobKind.CONV:
        changes["group_input_step"] = rng.randrange(MAX_U16 // job.groups + 1)
    if is_element:
        changes["input_2_address"] = rng.randrange(_ADDRESSES)
        return dataclasses.replace(job, **changes)
    changes["row_step"] = rng.randrange(_ADDRESSES)
    changes["kernel_row_step"] = rng.randrange(_ADDRESSES)
    changes["row_span"] = rng.choice((job.row_span, rng.randrange(MAX_U16 + 1)))
    if not is_depthwise:
        changes["first_offset"] = rng.choice((job.first_offset, -rng.randrange(1 << 15)))
        if not job.flags & JobFlag.GATHERED:
            changes["segment_step"] = rng.randrange(min(MAX_U16, _ADDRESSES // job.segments) + 1)
    return dataclasses.replace(job, **changes)


def _of_other_rows(rng: random.Random, job: EngineJob) -> EngineJob:
    """Return a job of other kernel rows, beside an edge of the input or far from it."""
    words = max(job.row_words, job.stride_columns if job.kind == JobKind.DEPTHWISE else 1)
    most = min(MAX_U8, (1 << INDEX_BITS) // words - 1)
    kernel_rows = max(1, rng.choice((job.kernel_rows, rng.randint(1, most))))
    dilation, stride = (rng.choice((1, rng.randint(1, MAX_U8))) for _ in range(2))
    dilation = min(dilation, (1 << 15) // kernel_rows)
    extent = (kernel_rows - 1) * dilation + 1
    # Of the first window some rows are inside, few of them often, or it begins deep inside.
    inside = rng.choice((0, 1, 2, rng.randint(0, kernel_rows)))
    above = rng.randrange(dilation) - max(kernel_rows - inside, 0) * dilation
    first_row = rng.choice((above, above, rng.randrange(1 << 15)))
    last = first_row + rng.randint(1, extent + (job.output_rows - 1) * stride)
    return dataclasses.replace(
        job,
        kernel_rows=kernel_rows,
        first_index=job.first_phase * kernel_rows,
        dilation_rows=dilation,
        stride_rows=stride,
        first_row=first_row,
        input_rows=rng.choice((MAX_U16, max(1, min(MAX_U16, last)))),
    )
