"""Lists of random jobs, errors and pauses: the sequencer equals its model in every cycle."""

import functools
import random
from dataclasses import asdict, replace

import pytest
from amaranth.sim import SimulatorContext

from kiwicha.contract.engine import EngineError, JobFlag, JobKind, SumFlag
from kiwicha.gateware.engine.control.sequencer import Sequencer
from tests.gateware.engine.control.sequencer_model import Inputs, Job, SequencerModel
from tests.support.gateware.unit_simulation import UnitSimulation

CYCLES = 2500
FOREVER = (1 << 32) - 1


@functools.cache
def simulation(has_depthwise: bool, is_preemptible: bool) -> UnitSimulation[Sequencer]:
    return UnitSimulation(Sequencer(has_depthwise=has_depthwise, is_preemptible=is_preemptible))


class Host:
    """Lists, and what all others do of them."""

    def __init__(self, model: SequencerModel, seed: int) -> None:
        self.model, self.rng = model, random.Random(seed)
        self.given = Inputs(watchdog_cycles=FOREVER)
        self.first_cycle = 0
        self.queues: list[list[Job]] = [[], []]
        self.is_there = [False, False]
        self.pause_share = 0.0

    def step(self) -> Inputs:
        """Return the ports of the next cycle."""
        rng, model, before = self.rng, self.model, self.given
        is_running = model.state == "RUN"
        jobs = [self._job(number, before, is_running=is_running) for number in range(2)]
        done = [
            job is not None and model.computing[number] and rng.random() < 0.3
            for number, job in enumerate(jobs)
        ]
        moves = is_running and model.transfers_done < before.listed["transfers"]
        self.given = replace(
            before,
            start=False,
            behind=(rng.randrange(1 << 16), rng.randrange(1 << 16)),
            cycles=before.cycles + 1,
            pause=is_running and (before.pause or rng.random() < self.pause_share),
            ready=(rng.random() < 0.3, rng.random() < 0.3),
            jobs=(jobs[0], jobs[1]),
            done=(done[0], done[1]),
            transfer_done=moves and not any(model.wants) and rng.random() < 0.2,
            unit_rows_done=(before.unit_rows_done + rng.randrange(2)) % (1 << 16),
            complete_jobs=before.complete_jobs + sum(before.done),
            errors=self._errors(before.errors) if is_running else {},
            fetched_jobs=rng.randrange(1 << 16),
            loaded_jobs=rng.randrange(1 << 16),
            is_quiet=rng.random() < 0.3,
            memory_is_idle=rng.random() < 0.3,
        )
        # Nobody looks at the second request before the third cycle.
        self.given.ready = (
            self.given.ready[0],
            self.given.ready[1] and self.given.cycles > self.first_cycle + 2,
        )
        if model.state == "STOPPED" and not before.start and rng.random() < 0.2:
            self._begin()
        return self.given

    def _begin(self) -> None:
        """Start a list, of which the second half may be left; a few never end by themselves."""
        rng = self.rng
        is_endless = rng.random() < 0.2
        limit = 1 << 16 if is_endless else 5
        jobs, transfers = rng.randrange(limit), rng.randrange(limit)
        behind = (0, 0)
        if self.model.is_preemptible and rng.random() < 0.5:
            behind = rng.randint(0, jobs), rng.randint(0, transfers)
        if jobs + transfers == sum(behind):
            jobs += 1
        rows = rng.randrange(1 << 16)
        # As if it went on for long.
        self.first_cycle = rng.getrandbits(31)
        most_cycles = self.first_cycle + rng.randint(5, 90)
        self.queues = [[], []]
        for _ in range(min(jobs - behind[0], 20)):
            number = rng.randrange(2) if self.model.has_depthwise else 0
            self.queues[number].append(self._random_job(behind[1], transfers, rows))
        self.is_there = [False, False]
        self.pause_share = rng.choice((0.0, 0.03))
        self.given = replace(
            self.given,
            start=True,
            listed={"offset": rng.getrandbits(26), "jobs": jobs, "transfers": transfers},
            behind=behind,
            cycles=self.first_cycle,
            watchdog_cycles=most_cycles if rng.random() < 0.4 or is_endless else FOREVER,
            unit_rows_done=rows,
            complete_jobs=0,
        )

    def _random_job(self, first: int, transfers: int, rows: int) -> Job:
        rng = self.rng
        return Job(
            kind=rng.choice((JobKind.CONV, JobKind.ADD, JobKind.MOVE)),
            flags=int(JobFlag.FUSED) if rng.random() < 0.1 else 0,
            sums=rng.choice((0, 0, SumFlag.KEEP, SumFlag.CONTINUE, SumFlag.KEEP | 2)),
            wait_transfers=min(transfers, first + rng.choice((0, rng.randrange(5)))),
            wait_rows=(rows + rng.choice((0, rng.randrange(9)))) % (1 << 16),
        )

    def _job(self, number: int, before: Inputs, *, is_running: bool) -> Job | None:
        """Return the job that is there: it stays until it is done."""
        queue = self.queues[number]
        if before.done[number]:
            queue.pop(0)
            self.is_there[number] = False
        if not is_running or any(self.model.wants):
            self.is_there[number] &= is_running
            return queue[0] if self.is_there[number] else None
        self.is_there[number] |= bool(queue) and self.rng.random() < 0.5
        return queue[0] if self.is_there[number] else None

    def _errors(self, before: dict[str, int]) -> dict[str, int]:
        """Return errors; what is wrong stays so."""
        rng = self.rng
        if before or rng.random() > 0.01:
            return before
        flags = ("outside_list", "outside_weights", "outside_transfer", "bad_stream")
        share = rng.choice((0.2, 0.4))
        found = {name: 1 for name in flags if rng.random() < share}
        for name in ("job", "transfer"):
            if rng.random() < share:
                found[name] = rng.choice((EngineError.BAD_FIELD, EngineError.OUTSIDE_RANGE))
        return found


def drive(ctx: SimulatorContext, dut: Sequencer, given: Inputs) -> None:
    """Set the ports."""
    ctx.set(dut.lists.start, given.start)
    # The list is there in the cycle behind its start.
    if given.listed and not given.start:
        ctx.set(dut.lists.list, given.listed)
    ctx.set(dut.lists.watchdog_cycles, given.watchdog_cycles)
    for name in ("cycles", "transfer_done", "fetched_jobs", "loaded_jobs", "is_quiet"):
        ctx.set(getattr(dut, name), getattr(given, name))
    ctx.set(dut.memory_is_idle, given.memory_is_idle)
    names = ("outside_list", "outside_weights", "outside_transfer", "bad_stream", "job", "transfer")
    ctx.set(dut.errors, {name: given.errors.get(name, 0) for name in names})
    for request, is_ready in zip(dut.requests, given.ready, strict=True):
        ctx.set(request.ready, is_ready)
    streams = [(dut.jobs, dut.datapath_done)]
    if dut.has_depthwise:
        streams.append((dut.unit_jobs, dut.unit_done))
        ctx.set(dut.unit_rows_done, given.unit_rows_done)
        ctx.set(dut.complete_jobs, given.complete_jobs)
    if dut.is_preemptible:
        ctx.set(dut.lists.pause, given.pause)
        jobs, transfers = given.behind
        ctx.set(dut.lists.behind, {"jobs": jobs, "transfers": transfers})
    for (stream, done), job, is_done in zip(streams, given.jobs, given.done, strict=False):
        ctx.set(stream.valid, job is not None)
        ctx.set(stream.payload, asdict(job) if job is not None else {})
        ctx.set(done, is_done)


def compare(
    ctx: SimulatorContext, dut: Sequencer, model: SequencerModel, given: Inputs, where: str
) -> None:
    """Compare all outputs."""
    wanted = {
        "is_running": (dut.lists.is_running, model.state != "STOPPED"),
        "number": (dut.lists.status.number, model.status[0]),
        "error": (dut.lists.status.error, model.status[1]),
        "datapath_start": (dut.datapath_start, model.starts(0, given)),
        "jobs.ready": (dut.jobs.ready, given.done[0]),
        "jobs_done": (dut.jobs_done, model.done_jobs(given)),
        "transfers_done": (dut.transfers_done, model.transfers_done),
        "waits_transfers": (dut.waits_transfers, model.waits(given)),
        "halt": (dut.halt, model.state in {"STOP", "CLEAR"}),
        "clear": (dut.clear, model.clear),
    }
    if dut.has_depthwise:
        wanted["unit_start"] = dut.unit_start, model.starts(1, given)
        wanted["unit_jobs.ready"] = dut.unit_jobs.ready, given.done[1]
    if dut.is_preemptible:
        wanted["is_paused"] = dut.lists.is_paused, model.is_paused
        wanted["progress.jobs"] = dut.lists.progress.jobs, model.jobs_done
        wanted["progress.transfers"] = dut.lists.progress.transfers, model.transfers_done
    for number, request in enumerate(dut.requests):
        name = f"requests[{number}]"
        wanted[name] = request.valid, model.wants[number]
        if model.wants[number] and given.ready[number]:
            offset, words = model.request(number, given)
            payload = request.payload
            wanted[f"{name}.offset"] = payload.offset, offset
            wanted[f"{name}.words"] = payload.words, words
            wanted[f"{name}.is_program"] = payload.is_program, 1
            wanted[f"{name}.is_write"] = payload.is_write, 0
    for name, (port, expected) in wanted.items():
        got = ctx.get(port)
        assert got == expected, f"{where}: {name} must be {expected}, not {got}"


@pytest.mark.parametrize(
    ("has_depthwise", "is_preemptible"),
    [(False, False), (True, False), (False, True)],
    ids=["array", "unit", "pauses"],
)
def test_equals_its_model(has_depthwise: bool, is_preemptible: bool) -> None:
    dut = simulation(has_depthwise, is_preemptible).component
    model = SequencerModel(has_depthwise=has_depthwise, is_preemptible=is_preemptible)
    host = Host(model, 1)
    ended = set()

    async def bench(ctx: SimulatorContext) -> None:
        for cycle in range(CYCLES):
            given = host.step()
            drive(ctx, dut, given)
            compare(ctx, dut, model, given, f"cycle {cycle}, {model.state}, {given}")
            was_running = model.state != "STOPPED"
            model.step(given)
            if was_running and model.state == "STOPPED":
                ended.add((EngineError(model.status[1]), model.is_paused))
            await ctx.tick()

    simulation(has_depthwise, is_preemptible).run(bench)
    # Each way to end was met.
    errors = {error for error, _ in ended}
    assert {EngineError.NONE, EngineError.WATCHDOG} <= errors
    assert errors & {EngineError.BAD_STREAM, EngineError.BAD_FIELD, EngineError.OUTSIDE_RANGE}
    assert ((EngineError.NONE, True) in ended) == is_preemptible
