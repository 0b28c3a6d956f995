"""The engine's list of a step, read back from a Program."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

from kiwicha.contract.engine import MAX_JOBS, EngineCall, EngineJob, EngineTransfer, JobKind
from kiwicha.contract.moves import AnyJob, EngineMove
from kiwicha.contract.recurrences import EngineRecurrence
from kiwicha.contract.short_elements import EngineShortElements
from kiwicha.errors import ProgramError

__all__ = ["EngineList", "read_list", "stream_bytes"]


@dataclass(frozen=True)
class EngineList:
    """Jobs and transfers, each in order of execution."""

    jobs: tuple[AnyJob, ...]
    transfers: tuple[EngineTransfer, ...]


def read_list(params: EngineCall, image: bytes, *, has_weights: bool = False) -> EngineList:
    """Return the list at the start of a step's image.

    Parameters
    ----------
    params : EngineCall
        The step's parameters.
    image : bytes
        What ``params.image`` refers to.
    has_weights : bool
        If it keeps weights: the one for when they are there.

    Raises
    ------
    ProgramError
        If the image is too short for its list, or the list has no job or too many.
    """
    if not 1 <= params.job_count <= MAX_JOBS:
        raise ProgramError(f"a list must have 1 to {MAX_JOBS} jobs, not {params.job_count}")
    jobs, transfers = params.job_count, params.transfer_count
    size = jobs * EngineJob.size_bytes() + transfers * EngineTransfer.size_bytes()
    start = size if has_weights and params.is_resident else 0
    end = start + size
    if end > len(image):
        raise ProgramError(f"an image of {len(image)} bytes must hold its list of {end}")
    return _unpacked(bytes(image[start:end]), jobs)


@lru_cache(maxsize=64)
def _unpacked(raw: bytes, jobs: int) -> EngineList:
    """Return a list of so many jobs; all who say something of a Program ask for the same ones."""
    middle = jobs * EngineJob.size_bytes()
    transfers = _pieces(raw, middle, len(raw), EngineTransfer.size_bytes())
    return EngineList(
        tuple(map(_job, _pieces(raw, 0, middle, EngineJob.size_bytes()))),
        tuple(map(EngineTransfer.unpack, transfers)),
    )


def stream_bytes(job: AnyJob) -> int:
    """Return the size of a job's weight stream, which moves and others have not."""
    return job.weights_bytes if isinstance(job, EngineJob) else 0


def _pieces(image: bytes, start: int, end: int, size: int) -> Iterator[bytes]:
    return (image[at : at + size] for at in range(start, end, size))


def _job(raw: bytes) -> AnyJob:
    job = EngineJob.unpack(raw)
    if job.kind == JobKind.RECURRENT:
        return EngineRecurrence.unpack(raw)
    if job.kind == JobKind.SHORT_ELEMENTS:
        return EngineShortElements.unpack(raw)
    return EngineMove.unpack(raw) if job.kind == JobKind.MOVE else job
