"""Multipliers and shifts that are the same in all groups of a stream: stored for two of them."""

import dataclasses

from kiwicha.compiler.engine.codegen.stream_exchange import Form, with_forms
from kiwicha.compiler.engine.ir.engine_list import EngineList
from kiwicha.contract.engine import EngineJob, JobFlag
from kiwicha.program.unit_rows import is_unit_job
from kiwicha.program.weight_streams import stream_shape, without_shared

__all__ = ["share_parameters"]


def share_parameters(raw: EngineList, macs: int) -> EngineList:
    """Return a list whose streams have no parameters that the weight buffer still has.

    It holds those of the array's last two groups. Weights with one scale for a whole tensor make
    them the same in all groups. A list in the arena stays as it is.

    Parameters
    ----------
    raw : EngineList
        With all parameters; no stream is coded.
    macs : int
        Products per cycle.
    """
    forms = {}
    if raw.computed_bytes:
        return raw
    for job in raw.weighted_jobs:
        start = job.weights_offset
        if start in forms or is_unit_job(job):
            continue
        stream = raw.streams[start : start + job.weights_bytes]
        shorter = without_shared(stream, stream_shape(job, macs))
        if shorter is not None:
            forms[start] = Form(shorter, _shared)
    return with_forms(raw, forms)


def _shared(job: EngineJob) -> EngineJob:
    return dataclasses.replace(job, flags=job.flags | JobFlag.SHARED)
