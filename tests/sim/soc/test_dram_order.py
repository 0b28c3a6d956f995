"""The order in which DRAM controllers execute the commands of a port."""

import random
from collections.abc import Iterator
from typing import Any

import pytest
from litedram.core.controller import LiteDRAMController
from litedram.core.crossbar import LiteDRAMCrossbar
from migen import Module, passive, run_simulation

from kiwicha.contract.memories import MEMORIES, Memory
from kiwicha.sim.soc.dram import chip, controller_settings, phy_model
from tests.support.choices import by_day

READS = 100


class Core(Module):
    """Controller and crossbar of a memory, and a port."""

    def __init__(self, memory: Memory) -> None:
        module = chip(memory, memory.clock_hz)
        self.submodules.controller = controller = LiteDRAMController(
            phy_settings=phy_model(memory, module).settings,
            geom_settings=module.geom_settings,
            timing_settings=module.timing_settings,
            clk_freq=memory.clock_hz,
            controller_settings=controller_settings(memory),
        )
        self.submodules.crossbar = LiteDRAMCrossbar(controller.interface)
        self.port = self.crossbar.get_port()
        interface = controller.interface
        self.banks = [getattr(interface, f"bank{n}") for n in range(module.nbanks)]
        self.bank_bits = module.geom_settings.bankbits
        self.column_bits = module.geom_settings.colbits - interface.address_align


def ask(core: Core) -> Iterator[Any]:
    """Read words of random banks and of two rows of each, with pauses."""
    rng = random.Random(1)
    cmd = core.port.cmd
    for _ in range(READS):
        row, bank = rng.random() < 0.2, rng.randrange(len(core.banks))
        yield cmd.addr.eq((row << core.bank_bits | bank) << core.column_bits)
        yield cmd.valid.eq(1)
        yield
        while not (yield cmd.ready):
            yield
        if rng.random() < 0.3:
            yield cmd.valid.eq(0)
            for _ in range(rng.randrange(40)):
                yield
    yield cmd.valid.eq(0)
    for _ in range(200):
        yield


def watch(core: Core, asked: list[int], done: list[int]) -> Iterator[Any]:
    """Note the banks of commands as they are taken, and as they are executed."""
    while True:
        for number, bank in enumerate(core.banks):
            if (yield bank.valid) and (yield bank.ready):
                asked.append(number)
            if (yield bank.rdata_valid):
                done.append(number)
        yield


@pytest.mark.nightly
@pytest.mark.slow
@pytest.mark.parametrize("memory", by_day(*MEMORIES.values()), ids=lambda memory: memory.name)
def test_reads_come_in_the_order_of_their_commands(memory: Memory) -> None:
    core = Core(memory)
    asked: list[int] = []
    done: list[int] = []
    run_simulation(core, [ask(core), passive(watch)(core, asked, done)])
    assert len(asked) == READS
    assert done == asked
