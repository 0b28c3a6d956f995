"""Runs that are checked for commands that come to DRAM too early."""

import dataclasses
import json
from pathlib import Path

import pytest

from kiwicha.contract.configs import find_config
from kiwicha.contract.memories import MEMORIES, Memory
from kiwicha.errors import SimulationError
from kiwicha.sim.soc.dram_log import dram_times
from kiwicha.sim.verilator.fingerprint import run_fingerprint
from kiwicha.sim.verilator.image_run import run_image
from kiwicha.sim.verilator.program_run import run_program
from kiwicha.sim.verilator.simulator import CHECK_DRAM, Simulator, build_simulator
from tests.support.programs.copies import copy_program

MEMORY = next(iter(MEMORIES.values()))


def test_a_command_too_early_is_reported(tmp_path: Path) -> None:
    """The run itself has ended well."""
    script = tmp_path / "simulator"
    end = json.dumps({"event": "end", "finished": True})
    script.write_text(f"#!/bin/sh\necho noise\necho dram 9000 5 3 0\necho '{end}' >&2\n")
    script.chmod(0o755)
    simulator = Simulator(binary=script, soc_header="", has_trace=False, checked=dram_times(MEMORY))
    text = (
        "commands to DRAM must keep to the times of its chip, 1 of 1 do not:\n"
        "closed: an access to a bank that is closed, bank 3, clock 9000"
    )
    with pytest.raises(SimulationError, match=f"^{text}$"):
        run_image(simulator, loads=[])


@pytest.mark.nightly
@pytest.mark.verilator
@pytest.mark.parametrize("memory", MEMORIES.values(), ids=lambda memory: memory.name)
def test_a_checked_run_takes_the_same_cycles(
    memory: Memory, monkeypatch: pytest.MonkeyPatch
) -> None:
    config = find_config("simd").with_memory(memory)
    program = copy_program(config, size=4000, steps=3)
    monkeypatch.delenv(CHECK_DRAM, raising=False)
    fingerprint = run_fingerprint(program)
    plain, checked = (
        run_program(
            program,
            [bytes(4000)],
            simulator=build_simulator(config, checks_dram=checks_dram),
        )
        for checks_dram in (False, True)
    )
    assert dataclasses.replace(plain, wall_seconds=0) == dataclasses.replace(
        checked, wall_seconds=0
    )
    monkeypatch.setenv(CHECK_DRAM, "1")
    assert run_fingerprint(program) == fingerprint

    simulator = build_simulator(config)
    times = simulator.checked
    assert times == dram_times(memory)
    longer = dataclasses.replace(times, rfc=2 * times.rfc + 20)
    with pytest.raises(SimulationError, match="\ntRFC: "):
        run_program(
            program, [bytes(4000)], simulator=dataclasses.replace(simulator, checked=longer)
        )
