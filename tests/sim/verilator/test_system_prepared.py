"""Simulations that start at the first inference, beside those in which firmware does it all."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from kiwicha.compiler import compile_model
from kiwicha.program.image import Program
from kiwicha.sim.verilator.program_run import SimulatedRun, run_program, run_stream
from tests.support.choices import at_night
from tests.support.models.two_heads import two_heads

pytestmark = pytest.mark.verilator

MODEL = "person_detect"
COLD_CYCLES = 400
"""Checking has left in the caches what a first inference reads again, within so many cycles; on
`simd`, where every step is code of the CPU, three times as much."""
REFRESH_CYCLES, REFRESH_SHARE = 10, 0.003
"""What an inference's cycles differ by when it starts at another time: a refresh of the DRAM may
meet a transfer, or not. Those of 8 inferences in a row differ by as much."""
START_CYCLES, COPY_CYCLES = 4000, 4
"""What is left outside inferences: start and end, and for each byte of the second input."""
OUTSIDE_SHARE = 0.2
"""Of all cycles of two inferences of a public model on an engine."""


def both_ways(program: Program, inputs: list[bytes]) -> tuple[SimulatedRun, SimulatedRun]:
    prepared, full = (
        run_program(program, inputs, inferences=2, check_boot=check_boot)
        for check_boot in (False, True)
    )
    return prepared, full


@pytest.mark.parametrize("config", ["simd", "64", at_night("128")])
def test_starting_late_changes_neither_outputs_nor_cycles(config: str) -> None:
    program = compile_model(two_heads(), config)
    size = program.inputs[0].ref.bytes
    prepared, full = both_ways(program, [bytes(k % 251 for k in range(size))])
    check(program, prepared, full)


def check(program: Program, prepared: SimulatedRun, full: SimulatedRun) -> None:
    size = program.inputs[0].ref.bytes
    cold = COLD_CYCLES if program.config.engine_macs else 3 * COLD_CYCLES
    assert prepared.outputs == full.outputs
    assert any(set(output) != {0} for output in full.outputs)
    refreshes = REFRESH_CYCLES + REFRESH_SHARE * full.last_cycles
    assert abs(prepared.last_cycles - full.last_cycles) <= refreshes
    assert -refreshes <= prepared.first_cycles - full.first_cycles <= cold + refreshes
    assert [len(row) for row in prepared.job_ends[1]] == [len(row) for row in full.job_ends[1]]
    assert outside(prepared) <= START_CYCLES + COPY_CYCLES * size
    assert outside(full) - outside(prepared) > COPY_CYCLES / 2 * size + START_CYCLES


def outside(run: SimulatedRun) -> int:
    """Give the cycles that belong to no inference."""
    return run.simulated_cycles - run.first_cycles - run.last_cycles


@pytest.mark.parametrize("config", ["64", at_night("simd"), at_night("128")])
def test_a_public_model_is_little_but_inferences(
    zoo_model: Callable[[str], Path], golden_cases: Callable[[str], list[Any]], config: str
) -> None:
    program, golden = compile_model(zoo_model(MODEL), config), golden_cases(MODEL)[0]
    prepared, full = both_ways(program, [golden.input])
    assert prepared.outputs == (golden.output,)
    check(program, prepared, full)
    assert outside(prepared) < OUTSIDE_SHARE * prepared.simulated_cycles


def test_a_stream_gives_the_same_both_ways() -> None:
    program = compile_model(two_heads(), "64", double_buffer=True)
    size = program.inputs[0].ref.bytes
    sets = [[bytes((k * step) % 251 for k in range(size))] for step in (1, 3)]
    prepared, full = (
        run_stream(program, sets, inferences=3, check_boot=check_boot)
        for check_boot in (False, True)
    )
    assert prepared.outputs == full.outputs
    assert len(set(full.outputs)) == 2
    assert prepared.ends[0] < full.ends[0]
    assert abs(prepared.period - full.period) <= REFRESH_CYCLES + REFRESH_SHARE * full.period
