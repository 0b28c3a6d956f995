"""Whether controllers keep to the times of their chips, and whether the checker would see it."""

import random
from collections.abc import Iterator
from typing import Any

import pytest
from litedram.core.controller import LiteDRAMController
from litedram.core.crossbar import LiteDRAMCrossbar
from migen import Module, passive, run_simulation

from kiwicha.contract.memories import (
    DDR3_HALF_RATE,
    DDR3_QUARTER_RATE,
    MEMORIES,
    Memory,
)
from kiwicha.sim.soc.dram import chip, controller_settings, phy_model
from kiwicha.sim.soc.dram_log import commands_of, dram_times
from kiwicha.sim.soc.dram_timing import DramTiming

ACTIVATE, PRECHARGE, READ, WRITE, REFRESH = 0b011, 0b010, 0b101, 0b100, 0b001
MEMORY = next(iter(MEMORIES.values()))
TIMES = dram_times(MEMORY)
LEAST_COMMANDS = 60


class Core(Module):
    """Controller and crossbar of a memory, with other times if wanted, and a port."""

    def __init__(self, memory: Memory, **times: int) -> None:
        module = chip(memory, memory.clock_hz)
        for name, cycles in times.items():
            assert getattr(module.timing_settings, name) > cycles
            setattr(module.timing_settings, name, cycles)
        self.submodules.controller = controller = LiteDRAMController(
            phy_settings=phy_model(memory, module).settings,
            geom_settings=module.geom_settings,
            timing_settings=module.timing_settings,
            clk_freq=memory.clock_hz,
            controller_settings=controller_settings(memory),
        )
        self.submodules.crossbar = LiteDRAMCrossbar(controller.interface)
        self.port = self.crossbar.get_port()
        self.bank_bits = module.geom_settings.bankbits
        self.column_bits = module.geom_settings.colbits - controller.interface.address_align


def use(core: Core, cycles: int) -> Iterator[Any]:
    """Read and write words of some banks and two rows, without a pause."""
    rng = random.Random(1)
    cmd = core.port.cmd
    yield core.port.wdata.valid.eq(1)
    yield core.port.rdata.ready.eq(1)
    yield cmd.valid.eq(1)
    taken = True
    for _ in range(cycles):
        if taken:
            row, bank = rng.choice((0, 0, 0, 1)), rng.randrange(4)
            yield cmd.addr.eq((row << core.bank_bits | bank) << core.column_bits)
            yield cmd.we.eq(rng.random() < 0.4)
        yield
        taken = yield cmd.ready


def watch(core: Core, memory: Memory, timing: DramTiming) -> Iterator[Any]:
    now = 0
    while True:
        commands = yield from commands_of(core.controller.dfi, memory.phases)
        for phase, command, bank, bit in commands:
            timing.take(now + phase, command, bank, is_all=bool(bit))
        now += memory.phases
        yield


def broken_rules(memory: Memory, **times: int) -> set[str]:
    core = Core(memory, **times)
    timing = DramTiming(dram_times(memory))
    # A refresh comes, and accesses behind it.
    cycles = chip(memory, memory.clock_hz).timing_settings.tREFI + 120
    run_simulation(core, [use(core, cycles), passive(watch)(core, memory, timing)])
    assert timing.commands > LEAST_COMMANDS
    return {text.partition(":")[0] for text in timing.violations}


@pytest.mark.nightly
@pytest.mark.parametrize("memory", MEMORIES.values(), ids=lambda memory: memory.name)
def test_controllers_keep_to_the_times_of_their_chips(memory: Memory) -> None:
    assert broken_rules(memory) == set()


# LiteDRAM rounds up, and at half rate a cycle of the system is all that most times ask for.
@pytest.mark.nightly
@pytest.mark.parametrize(
    ("memory", "name", "cycles"),
    [
        (DDR3_QUARTER_RATE, "tRCD", 1),
        (DDR3_QUARTER_RATE, "tRP", 1),
        (DDR3_QUARTER_RATE, "tRFC", 8),
        (DDR3_HALF_RATE, "tRFC", 8),
    ],
    ids=lambda value: getattr(value, "name", str(value)),
)
def test_a_time_that_is_too_short_is_seen(memory: Memory, name: str, cycles: int) -> None:
    assert broken_rules(memory, **{name: cycles}) == {name}


def check(*commands: tuple[int, int, int]) -> set[str]:
    """Give the rules that are broken by commands: time, command, bank."""
    timing = DramTiming(TIMES)
    for now, command, bank in commands:
        timing.take(now, command, bank, is_all=False)
    assert timing.count == len(timing.violations)
    return {text.partition(":")[0] for text in timing.violations}


PAIRS = {
    "tRCD": ([(0, ACTIVATE, 0)], READ, 0, TIMES.rcd),
    "tRAS": ([(0, ACTIVATE, 0)], PRECHARGE, 0, TIMES.ras),
    "tRRD": ([(0, ACTIVATE, 0)], ACTIVATE, 1, TIMES.rrd),
    "tCCD": ([(0, ACTIVATE, 0), (100, READ, 0)], READ, 0, TIMES.ccd),
    "tWTR": ([(0, ACTIVATE, 0), (100, WRITE, 0)], READ, 0, TIMES.write_to_read),
    "tWR": ([(0, ACTIVATE, 0), (100, WRITE, 0)], PRECHARGE, 0, TIMES.write_to_precharge),
    "tRTP": ([(0, ACTIVATE, 0), (100, READ, 0)], PRECHARGE, 0, TIMES.rtp),
    "tRP": ([(0, ACTIVATE, 0), (100, PRECHARGE, 0)], ACTIVATE, 0, TIMES.rp),
    "tRFC": ([(100, REFRESH, 0)], ACTIVATE, 0, TIMES.rfc),
    "tREFI": ([(100, REFRESH, 0)], ACTIVATE, 0, None),
    "tFAW": ([(TIMES.rrd * n, ACTIVATE, n) for n in range(4)], ACTIVATE, 4, None),
}


@pytest.mark.parametrize("rule", PAIRS)
def test_each_time_is_checked_to_the_cycle(rule: str) -> None:
    before, command, bank, cycles = PAIRS[rule]
    last = before[-1][0]
    if rule == "tREFI":
        limit = last + 9 * TIMES.refi
        assert check(*before, (limit, command, bank)) == set()
        assert check(*before, (limit + 1, command, bank)) == {rule}
        return
    exact = last + cycles if cycles is not None else TIMES.faw
    assert check(*before, (exact, command, bank)) == set()
    # Four activations as dense as can be take as long as tFAW.
    too_early = {"tFAW", "tRRD"} if rule == "tFAW" else {rule}
    assert check(*before, (exact - 1, command, bank)) == too_early


def test_rows_are_open_when_they_are_used() -> None:
    assert check((0, READ, 0)) == {"closed"}
    assert check((0, ACTIVATE, 0), (900, ACTIVATE, 0)) == {"open"}
    assert check((0, ACTIVATE, 0), (900, REFRESH, 0)) == {"open"}


def test_a_line_of_the_log_is_a_command() -> None:
    timing = DramTiming(TIMES)
    timing.take_line("something else\n")
    timing.take_line(f"dram 0 {READ} 3 0\n")
    assert timing.commands == 1
    assert timing.violations == ["closed: an access to a bank that is closed, bank 3, clock 0"]
