"""Weight streams of a list in another form, and the descriptors that say so."""

import dataclasses
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from kiwicha.compiler.engine.ir.engine_list import EngineList
from kiwicha.contract.engine import EngineJob
from kiwicha.contract.moves import AnyJob

__all__ = ["Form", "with_forms"]


@dataclass(frozen=True)
class Form:
    """A stream, and what is different in the descriptors of its jobs.

    Parameters
    ----------
    stream : bytes
        What is stored.
    change : callable
        Returns the descriptor for it.
    """

    stream: bytes
    change: Callable[[EngineJob], EngineJob]

    def job(self, job: EngineJob) -> EngineJob:
        """Return the descriptor of a job that reads this form."""
        return dataclasses.replace(self.change(job), weights_bytes=len(self.stream))


def with_forms(raw: EngineList, forms: Mapping[int, Form]) -> EngineList:
    """Return the list with some streams, by their offset, in other forms."""
    streams = bytearray()
    starts: dict[int, int] = {}
    jobs: list[AnyJob] = []
    for job in raw.jobs:
        if not isinstance(job, EngineJob):
            jobs.append(job)
            continue
        start = job.weights_offset
        form = forms.get(start)
        if start not in starts:
            starts[start] = len(streams)
            unchanged = raw.streams[start : start + job.weights_bytes]
            streams += unchanged if form is None else form.stream
        changed = job if form is None else form.job(job)
        jobs.append(dataclasses.replace(changed, weights_offset=starts[start]))
    return dataclasses.replace(raw, jobs=tuple(jobs), streams=bytes(streams))
