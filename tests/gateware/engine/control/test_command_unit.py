"""The custom instructions: latencies, and who is told what."""

import functools

import pytest
from amaranth.sim import SimulatorContext

from kiwicha.contract.engine import PAUSED_FLAG, EngineError, EngineOp
from kiwicha.gateware.engine.control.command_unit import CommandUnit
from kiwicha.gateware.engine.control.interfaces import SequencerSignature
from tests.support.gateware.unit_simulation import UnitSimulation

LIMIT_CYCLES = 40
RUNNING = 1 << 31
COUNTS = (0x5A3C_691E, 0xA5C3_96E1)
"""Each bit once."""


def word_of(index: int, count: int) -> int:
    """Return the word that an access reads, when a count is this."""
    return 0x1111_1111 * (1 + index) ^ count >> 1


@functools.cache
def simulation() -> UnitSimulation[CommandUnit]:
    return UnitSimulation(CommandUnit())


@functools.cache
def preemptible() -> UnitSimulation[CommandUnit]:
    return UnitSimulation(CommandUnit(is_preemptible=True))


def execute(
    commands: list[tuple[EngineOp, int, int, int]],
    *,
    is_running: bool = False,
    error: EngineError = EngineError.NONE,
    number: int = 0,
    count: int = COUNTS[0],
) -> list[tuple[int, int]]:
    """Give the response of each command, and the cycles it took."""
    dut = simulation().component
    answers: list[tuple[int, int]] = []

    async def bench(ctx: SimulatorContext) -> None:
        ctx.set(dut.sequencer.is_running, is_running)
        ctx.set(dut.sequencer.status, {"number": number, "error": error})
        ctx.set(dut.counters.count, count)
        ctx.set(dut.accesses.ready, 1)
        for op, index, inputs_0, inputs_1 in commands:
            fields = {"op": op, "index": index, "inputs_0": inputs_0, "inputs_1": inputs_1}
            ctx.set(dut.commands.payload, fields)
            ctx.set(dut.commands.valid, 1)
            assert ctx.get(dut.commands.ready)
            for cycle in range(LIMIT_CYCLES):
                ctx.set(dut.word, word_of(ctx.get(dut.index), count))
                if ctx.get(dut.responses.valid):
                    answers.append((ctx.get(dut.responses.payload), cycle))
                    break
                await ctx.tick()
                ctx.set(dut.commands.valid, 0)
            else:
                answers.append((-1, LIMIT_CYCLES))
                return
            ctx.set(dut.responses.ready, 1)
            await ctx.tick()
            ctx.set(dut.responses.ready, 0)

    simulation().run(bench)
    return answers


@pytest.mark.parametrize(
    ("command", "answer", "latency"),
    [
        ((EngineOp.RANGE, 0, 0, 64), 0, 2),
        ((EngineOp.START, 0, 0, 1), 0, 2),
        ((EngineOp.WAIT, 0, 0, 0), EngineError.BAD_STREAM << 16 | 513, 2),
        ((EngineOp.STATUS, 0, 0, 0), EngineError.BAD_STREAM << 16 | 513, 2),
        ((EngineOp.WATCHDOG, 0, 100, 0), 0, 2),
        ((EngineOp.PEEK, 1, 8, 5), 0, 3),
    ],
)
def test_answers_when_stopped(
    command: tuple[EngineOp, int, int, int], answer: int, latency: int
) -> None:
    expected = [(answer, latency)] * 2
    assert execute([command] * 2, error=EngineError.BAD_STREAM, number=513) == expected


@pytest.mark.parametrize("count", COUNTS)
def test_answers_with_what_is_read(count: int) -> None:
    reads = [
        ((EngineOp.COUNTER, 1, 0, 0), (count, 4)),
        ((EngineOp.JOB_END, 0, 3, 0), (count, 4)),
        ((EngineOp.PEEK, 0, 8, 0), (word_of(2, count), 6)),
    ]
    assert execute([read for read, _ in reads] * 2, count=count) == [got for _, got in reads] * 2


@pytest.mark.parametrize(
    ("op", "answer"),
    [
        (EngineOp.RANGE, 1),
        (EngineOp.START, 1),
        (EngineOp.STATUS, RUNNING),
        (EngineOp.WATCHDOG, 0),
        (EngineOp.PEEK, 0),
    ],
)
def test_answers_when_running(op: EngineOp, answer: int) -> None:
    assert execute([(op, 0, 16, 16)], is_running=True) == [(answer, 2)]


@pytest.mark.parametrize("index", [0, 5, 10, 15])
@pytest.mark.parametrize("op", EngineOp)
def test_tells_each_what_it_is_asked(op: EngineOp, index: int) -> None:
    """Whoever is told something gets its operands, once; the others are told nothing."""
    dut = simulation().component
    address, value = 0x4032_1688 | index << 8, 0x0705_0300 | index
    line = (address >> 4) % (1 << len(dut.accesses.payload.line))
    told: list[tuple[str, tuple[int, ...]]] = []

    def note(ctx: SimulatorContext) -> None:
        setting, counters, access = dut.ranges, dut.counters, dut.accesses
        if ctx.get(setting.sets):
            given = setting.sets_arena, setting.range.address, setting.range.words
            told.append(("range", tuple(map(ctx.get, given))))
        if ctx.get(dut.sequencer.start):
            told.append(("start", ()))
        if ctx.get(access.valid) and ctx.get(access.ready):
            given = access.payload.line, access.payload.is_write, access.payload.mask
            told.append((
                "access",
                (*map(ctx.get, given), ctx.get(access.payload.data), ctx.get(dut.index)),
            ))
        if ctx.get(dut.responses.valid) and op in {EngineOp.COUNTER, EngineOp.JOB_END}:
            given = counters.index, counters.job, counters.reads_job
            told.append(("counter", tuple(map(ctx.get, given))))

    async def bench(ctx: SimulatorContext) -> None:
        fields = {"op": op, "index": index, "inputs_0": address, "inputs_1": value}
        ctx.set(dut.commands.payload, fields)
        ctx.set(dut.commands.valid, 1)
        for cycle in range(LIMIT_CYCLES):
            # An access waits.
            ctx.set(dut.accesses.ready, cycle > 6)
            note(ctx)
            if ctx.get(dut.responses.valid):
                break
            await ctx.tick()
            ctx.set(dut.commands.valid, 0)
        listed = dut.sequencer.list
        if op == EngineOp.START:
            assert ctx.get(listed.offset) == address >> 4
            assert (ctx.get(listed.jobs), ctx.get(listed.transfers)) == divmod(value, 1 << 16)[::-1]
        watchdog = address if op == EngineOp.WATCHDOG else SequencerSignature.MOST_CYCLES
        assert ctx.get(dut.sequencer.watchdog_cycles) == watchdog

    simulation().run(bench)
    word = address >> 2 & 3
    in_range = [(address >> 4) % (1 << len(dut.ranges.range.address)), value >> 4]
    wanted: dict[EngineOp, list[tuple[str, tuple[int, ...]]]] = {
        EngineOp.RANGE: [("range", (index & 1, *in_range))],
        EngineOp.START: [("start", ())],
        EngineOp.COUNTER: [("counter", (index, address % (1 << len(dut.counters.job)), 0))],
        EngineOp.JOB_END: [("counter", (index, address % (1 << len(dut.counters.job)), 1))],
        EngineOp.PEEK: [
            (
                "access",
                (line, index & 1, 15 << 4 * word, value * 0x1_0000_0001_0000_0001_0000_0001, word),
            )
        ],
    }
    assert told == wanted.get(op, [])


def test_lists_pause_only_where_that_is_asked_for() -> None:
    assert not CommandUnit().is_preemptible
    assert "pause" not in CommandUnit().sequencer.signature.members


def test_wait_waits() -> None:
    assert execute([(EngineOp.WAIT, 0, 0, 0)], is_running=True) == [(-1, LIMIT_CYCLES)]


@pytest.mark.parametrize("is_running", [False, True])
def test_lists_are_asked_to_pause_and_go_on(is_running: bool) -> None:
    dut = preemptible().component
    behind: list[tuple[int, int]] = []

    async def ask(ctx: SimulatorContext, op: EngineOp, index: int, value: int) -> int:
        fields = {"op": op, "index": index, "inputs_0": value, "inputs_1": 0}
        ctx.set(dut.commands.payload, fields)
        ctx.set(dut.commands.valid, 1)
        for _ in range(LIMIT_CYCLES):
            if ctx.get(dut.sequencer.start):
                behind.append((
                    ctx.get(dut.sequencer.behind.jobs),
                    ctx.get(dut.sequencer.behind.transfers),
                ))
            if ctx.get(dut.responses.valid):
                break
            await ctx.tick()
            ctx.set(dut.commands.valid, 0)
        answer = ctx.get(dut.responses.payload)
        ctx.set(dut.responses.ready, 1)
        await ctx.tick()
        ctx.set(dut.responses.ready, 0)
        return int(answer)

    async def bench(ctx: SimulatorContext) -> None:
        ctx.set(dut.sequencer.is_running, is_running)
        ctx.set(dut.sequencer.status, {"number": 7, "error": 0})
        ctx.set(dut.sequencer.is_paused, 1)
        ctx.set(dut.sequencer.progress, {"jobs": 7, "transfers": 9})
        status = PAUSED_FLAG | 7 | is_running << 31
        assert await ask(ctx, EngineOp.STATUS, 0, 0) == status
        assert not ctx.get(dut.sequencer.pause)
        assert await ask(ctx, EngineOp.STATUS, 2, 0) == 7 | 9 << 16
        assert not ctx.get(dut.sequencer.pause)
        assert await ask(ctx, EngineOp.STATUS, 1, 0) == status
        assert ctx.get(dut.sequencer.pause)
        assert await ask(ctx, EngineOp.START, 1, 7 | 9 << 16) == is_running
        assert ctx.get(dut.sequencer.pause)
        for _ in range(2):
            assert await ask(ctx, EngineOp.START, 0, 0) == is_running
            assert ctx.get(dut.sequencer.pause) == is_running

    preemptible().run(bench)
    # For one list, and a list that runs is not changed.
    assert behind == ([] if is_running else [(7, 9), (0, 0)])
