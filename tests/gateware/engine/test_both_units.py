"""Lists of the compiler for array and depthwise unit: rows follow rows, whatever memory does."""

import pytest

from kiwicha.compiler import compile_stages
from kiwicha.contract.engine import LINE_BYTES, EngineCall, EngineJob, JobKind, has_packed
from kiwicha.program.engine_list import EngineList, read_list
from kiwicha.program.image import Program
from kiwicha.sim.reference.engine import Engine
from kiwicha.sim.reference.memory import Memory
from tests.gateware.engine.campaign import SCRATCHPAD_BYTES, Round, build_engine, run_rounds
from tests.support.gateware.dram_port import DramTiming
from tests.support.models import random_networks
from tests.support.oracle.oracle import Case

WATCHDOG_CYCLES = 10_000_000
SEEDS = range(14)
TIMINGS = (
    DramTiming(latency_cycles=16, refresh_every_cycles=780, refresh_cycles=40),
    DramTiming(latency_cycles=20, jitter_cycles=30, stall=0.3),
)


def only_list(program: Program) -> tuple[EngineCall, EngineList, bytes] | None:
    """Return the list of a Program that is nothing else, and its image."""
    call = program.steps[0].params
    if len(program.steps) != 1 or not isinstance(call, EngineCall):
        return None
    image = program.constants[call.image.offset :][: call.image.bytes]
    return call, read_list(call, image), image


def arena_of(program: Program, case: Case) -> bytes:
    """Return the arena with the inputs in it."""
    arena = bytearray(-(-program.arena_bytes // LINE_BYTES) * LINE_BYTES)
    for tensor, values in zip(program.inputs, case.inputs, strict=True):
        arena[tensor.ref.offset : tensor.ref.offset + values.nbytes] = values.tobytes()
    return bytes(arena)


@pytest.mark.nightly
@pytest.mark.verilator
@pytest.mark.parametrize("macs", [64, 128, 256])
def test_rows_follow_rows(macs: int) -> None:
    rounds, expected, lists = [], [], []
    for seed in SEEDS:
        channels = (16, 24, 40) if has_packed(macs) else None
        case = random_networks.depthwise_pairs(seed, size=12, channels=channels)
        config = f"{macs}-{SCRATCHPAD_BYTES // 1024}k-depthwise"
        program = compile_stages(case.model, config).program
        found = only_list(program)
        if found is None:
            continue
        call, its_list, image = found
        memory = Memory(program.arena_bytes, program.constants)
        for tensor, values in zip(program.inputs, case.inputs, strict=True):
            memory.store(tensor.ref, values)
        expected.append(Engine().run(memory, call).tobytes())
        counts = call.job_count | call.transfer_count << 16
        rounds.append(Round(image, arena_of(program, case), counts, WATCHDOG_CYCLES))
        lists.append(its_list)
    jobs = [job for its_list in lists for job in its_list.jobs if isinstance(job, EngineJob)]
    on_unit = [job for job in jobs if job.kind == JobKind.DEPTHWISE_UNIT]
    assert sum(bool(job.wait_group_step) for job in on_unit) > 3
    assert any(job.waits_in_pairs for job in on_unit) == has_packed(macs)
    assert sum(bool(job.wait_row_step) for job in jobs if job.kind == JobKind.CONV) > 3
    program_path = build_engine(macs, SCRATCHPAD_BYTES, has_depthwise=True)
    for number, timing in enumerate(TIMINGS):
        outcomes = run_rounds(program_path, rounds, timing, seed=number, host_stall=0)
        for its_list, outcome, stored in zip(lists, outcomes, expected, strict=True):
            assert outcome.status == 0
            got = b"".join(
                outcome.arena[item.dram_offset :][: item.moved_bytes]
                for item in its_list.transfers
                if item.is_store
            )
            assert got == stored
