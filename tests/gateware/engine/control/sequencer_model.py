"""What the sequencer does in each cycle, defined in Python."""

from dataclasses import dataclass, field

from kiwicha.contract.engine import TRANSFER_ERROR, EngineError, JobFlag, JobKind, SumFlag
from kiwicha.gateware.engine.control.job_check import JOB_WORDS
from kiwicha.gateware.engine.control.sequencer import Sequencer
from kiwicha.gateware.engine.memory.interfaces import OFFSET_BITS

__all__ = ["Inputs", "Job", "SequencerModel"]


@dataclass(frozen=True)
class Job:
    """What of a job counts here."""

    kind: JobKind = JobKind.CONV
    flags: int = 0
    sums: int = 0
    wait_transfers: int = 0
    wait_rows: int = 0


@dataclass
class Inputs:
    """Ports of the sequencer, in one cycle; ``jobs`` are those of the data path and the unit."""

    start: bool = False
    listed: dict[str, int] = field(default_factory=dict)
    behind: tuple[int, int] = (0, 0)
    pause: bool = False
    watchdog_cycles: int = 0
    cycles: int = 0
    ready: tuple[bool, bool] = (False, False)
    jobs: tuple[Job | None, Job | None] = (None, None)
    done: tuple[bool, bool] = (False, False)
    transfer_done: bool = False
    unit_rows_done: int = 0
    complete_jobs: int = 0
    errors: dict[str, int] = field(default_factory=dict)
    fetched_jobs: int = 0
    loaded_jobs: int = 0
    is_quiet: bool = False
    memory_is_idle: bool = False


class SequencerModel:
    """A sequencer, cycle by cycle.

    Parameters
    ----------
    has_depthwise, is_preemptible : bool
        As of the `Sequencer`.
    """

    def __init__(self, *, has_depthwise: bool, is_preemptible: bool) -> None:
        self.has_depthwise, self.is_preemptible = has_depthwise, is_preemptible
        self.state = "STOPPED"
        self.left = 0
        self.clear = True
        self.has_expired = False
        self.is_paused = False
        self.wants = [False, False]
        self.computing = [False, False]
        self.jobs_done = self.transfers_done = 0
        self.first = (0, 0)
        """Jobs and transfers that were complete when the list began."""
        self.keeps_sums = self.keeps_tables = False
        self.status = (0, 0)
        """Number and error."""

    def done_jobs(self, given: Inputs) -> int:
        """Return how many jobs are complete."""
        return given.complete_jobs if self.has_depthwise else self.jobs_done

    def _holds(self, given: Inputs) -> bool:
        can_stop = not self.keeps_sums and not self.keeps_tables
        return self.is_preemptible and given.pause and can_stop

    def _may_start(self, number: int, given: Inputs) -> bool:
        """Return whether the transfers of a job are complete."""
        job = given.jobs[number]
        return job is not None and self.transfers_done >= job.wait_transfers

    def starts(self, number: int, given: Inputs) -> bool:
        """Return whether a job begins."""
        job = given.jobs[number]
        if job is None or self.computing[number] or not self._may_start(number, given):
            return False
        if number:
            return True
        # Counts go round: what is less than half of all ahead is not there yet.
        missing = (given.unit_rows_done - job.wait_rows) % (1 << 16) >= 1 << 15
        return not (missing if self.has_depthwise else self._holds(given))

    def waits(self, given: Inputs) -> bool:
        """Return whether a job waits for transfers."""
        return any(
            job is not None and not self.computing[number] and not self._may_start(number, given)
            for number, job in enumerate(given.jobs)
        )

    def request(self, number: int, given: Inputs) -> tuple[int, int]:
        """Return offset and words of a part of the list."""
        listed, (jobs, transfers) = given.listed, self.first
        if number == 0:
            first, words = JOB_WORDS * jobs, JOB_WORDS * (listed["jobs"] - jobs)
        else:
            first, words = JOB_WORDS * listed["jobs"] + transfers, listed["transfers"] - transfers
        return (listed["offset"] + first) % (1 << OFFSET_BITS), words

    def error(self, given: Inputs) -> tuple[int, int] | None:
        """Return number and error that are reported, if there is one: the first of these."""
        errors = given.errors
        transfer = self.transfers_done | TRANSFER_ERROR
        outside = EngineError.OUTSIDE_RANGE
        causes = (
            (errors.get("outside_list"), 0, outside),
            (errors.get("bad_stream"), given.loaded_jobs, EngineError.BAD_STREAM),
            (errors.get("outside_weights"), given.loaded_jobs, outside),
            (errors.get("job"), given.fetched_jobs, errors.get("job", 0)),
            (errors.get("outside_transfer"), transfer, outside),
            (errors.get("transfer"), transfer, errors.get("transfer", 0)),
            (self.has_expired, self.done_jobs(given), EngineError.WATCHDOG),
        )
        return next(((number, error) for is_there, number, error in causes if is_there), None)

    def step(self, given: Inputs) -> None:
        """Let a cycle pass."""
        begins = [self.starts(number, given) for number in range(2)]
        holds, was_computing = self._holds(given), self.computing[0]
        jobs_done, transfers_done = self.done_jobs(given), self.transfers_done
        error = self.error(given)
        expires = given.cycles >= given.watchdog_cycles
        halts = self.state in {"STOP", "CLEAR"}
        for number in range(2):
            if begins[number]:
                self.computing[number] = True
            elif given.done[number] or self.clear:
                self.computing[number] = False
            self.wants[number] &= not (given.ready[number] or halts)
        self._keep(given, begins=begins[0])
        self.jobs_done += given.done[0] and not self.has_depthwise
        self.transfers_done += given.transfer_done
        self.clear = False
        match self.state:
            case "STOPPED" if given.start:
                self.status, self.is_paused, self.clear = (0, 0), False, True
                self.first = given.behind if self.is_preemptible else (0, 0)
                self.jobs_done, self.transfers_done = self.first
                self.state = "CLEAR_BEFORE"
            case "CLEAR_BEFORE":
                listed = given.listed
                self.wants = [
                    jobs_done != listed["jobs"] if self.is_preemptible else listed["jobs"] > 0,
                    listed["transfers"] != self.first[1],
                ]
                self.keeps_sums = self.keeps_tables = False
                self.state = "RUN"
            case "RUN":
                listed = given.listed
                is_complete = (jobs_done, transfers_done) == (listed["jobs"], listed["transfers"])
                if error:
                    self.status, self.state = error, "STOP"
                elif is_complete and given.is_quiet:
                    self.state = "STOPPED"
                elif holds and not was_computing:
                    self.status, self.is_paused = (jobs_done, self.status[1]), True
                    self.state = "STOP"
            case "STOP" if given.memory_is_idle:
                self.clear, self.state, self.left = True, "CLEAR", Sequencer.CLEAR_CYCLES
            case "CLEAR":
                self.left -= 1
                self.clear = self.left > 0
                self.state = self.state if self.left else "STOPPED"
        self.has_expired = expires

    def _keep(self, given: Inputs, *, begins: bool) -> None:
        """Note what a job leaves for the next ones."""
        job = given.jobs[0]
        if job is None or not begins:
            return
        if job.kind != JobKind.MOVE and job.sums & (SumFlag.KEEP | SumFlag.CONTINUE):
            self.keeps_sums = bool(job.sums & SumFlag.KEEP)
        if job.kind == JobKind.ADD and job.flags & JobFlag.FUSED:
            self.keeps_tables = True
