"""What an inference takes at most, in cycles: nothing is counted on to happen side by side.

In a list, jobs compute, weights are fetched and transfers move. As long as a list has not ended, at
least one of them goes on, so that the sum of what each needs alone is never exceeded.
"""

import math
from collections.abc import Sequence

from kiwicha.compiler.cpu.costs import cpu_cycles
from kiwicha.compiler.engine.cost.advance import JOB_START_CYCLES, JOB_WORDS
from kiwicha.compiler.engine.cost.job_work import job_work
from kiwicha.compiler.engine.cost.line_port import CONVERTED_LINE_CYCLES
from kiwicha.contract.codec import BEAT_BYTES, CHUNK_BITS, LANES
from kiwicha.contract.engine import (
    ENGINE_WATCHDOG_CYCLES,
    LINE_BYTES,
    TABLE_STREAM_KINDS,
    EngineCall,
    EngineJob,
    EngineTransfer,
    JobFlag,
    outputs_of,
)
from kiwicha.contract.latencies import (
    BLOCK_GROUP_CYCLES,
    BLOCK_STREAM_CYCLES,
    CONVERTER_LOAD_CYCLES,
    DECODER_GROUP_CYCLES,
    DECODER_STREAM_CYCLES,
    PARAMETER_WAIT_CYCLES,
    PORT_TURN_WORDS,
    READER_WORDS,
    WEIGHTS_READY_CYCLES,
    refill_cycles,
)
from kiwicha.contract.memories import Memory
from kiwicha.contract.moves import AnyJob
from kiwicha.program.codec.blocks import in_steps
from kiwicha.program.engine_list import read_list
from kiwicha.program.image import Program
from kiwicha.program.weight_streams import stream_shape

__all__ = ["worst_cycles", "worst_list_cycles"]

_SHARED_MEMORY = 2
"""By what DRAM is slower while the CPU, too, wants something of it all the time."""
_COLD_LIST_CYCLES = 2500
"""What the CPU needs to start a list and to go on after it, with nothing in its caches: 400
instructions at 3.5 cycles from on-chip memory, and 10 lines of data at 109."""
_COLD_STEP = 1.5
"""By what a step of the CPU takes longer than predicted where its tensors meet in the cache."""
_COLD_STEP_CYCLES = 5000
"""What it takes more with nothing in the caches: 1000 instructions, and 14 lines of data."""


def worst_cycles(program: Program) -> int:
    """Return the cycles that an inference takes at most.

    It holds for `kiwicha_invoke` on the system that the firmware is for: with the runtime in
    on-chip memory, with nobody but CPU and engine at DRAM, without interrupts, and without what
    custom operators and ``on_step`` take.

    Parameters
    ----------
    program : Program
        For any configuration.
    """
    config = program.config
    total = 0
    for step in program.steps:
        params = step.params
        if not isinstance(params, EngineCall):
            total += math.ceil(_COLD_STEP * cpu_cycles(step)) + _COLD_STEP_CYCLES
            continue
        image = program.constants[params.image.offset :][: params.image.bytes]
        found = read_list(params, image)
        engine = params.macs, config.requantizer_cycles, config.has_blocks
        cycles = worst_list_cycles(found.jobs, found.transfers, engine, config.memory)
        total += min(cycles, ENGINE_WATCHDOG_CYCLES) + _COLD_LIST_CYCLES
    return total


def worst_list_cycles(
    jobs: Sequence[AnyJob],
    transfers: Sequence[EngineTransfer],
    engine: tuple[int, int, bool],
    memory: Memory,
) -> int:
    """Return the cycles that a list takes at most, without the CPU's part.

    Parameters
    ----------
    jobs, transfers : sequence
        The list.
    engine : tuple of int and bool
        Products per cycle, and ``requantizer_cycles`` and ``has_blocks`` of its
        `kiwicha.contract.configs.Config`.
    memory : Memory
        What DRAM the system has.
    """
    words = JOB_WORDS * len(jobs) + len(transfers)
    total = memory.list_start_cycles + _memory_cycles(words, memory)
    total += sum(_job_cycles(job, engine, memory) for job in jobs)
    return math.ceil(total + sum(_transfer_cycles(item, memory) for item in transfers))


def _memory_cycles(lines: float, memory: Memory) -> float:
    """Return what lines take that come from DRAM or go there."""
    turns = 1 + lines / min(PORT_TURN_WORDS, READER_WORDS)
    waits = memory.latency_cycles + memory.turn_cycles + memory.store_turn_cycles
    return _SHARED_MEMORY * lines * LINE_BYTES / memory.bytes_per_cycle + turns * waits


def _job_cycles(job: AnyJob, engine: tuple[int, int, bool], memory: Memory) -> float:
    work = job_work(job, *engine)
    total = JOB_START_CYCLES + work.groups * (work.start + work.cycles) + work.drain
    if not isinstance(job, EngineJob):
        return total
    macs, requantizer_cycles, has_blocks = engine
    outputs = outputs_of(macs)
    # Where parameters wait for themselves, as long as a bank does elsewhere.
    refill = refill_cycles(outputs, outputs // requantizer_cycles) + PARAMETER_WAIT_CYCLES
    return (
        total
        + _memory_cycles(job.weights_bytes / LINE_BYTES, memory)
        + _decoder_cycles(job, macs, has_blocks)
        + work.groups * (refill + WEIGHTS_READY_CYCLES)
    )


def _decoder_cycles(job: EngineJob, macs: int, has_blocks: bool) -> float:
    """Return what the weights of a job take behind DRAM: its decoder and its buffer in turn."""
    shape = stream_shape(job, macs)
    heads = sum(shape.heads)
    if not job.flags & JobFlag.CODED:
        rate = 2 if job.kind in TABLE_STREAM_KINDS else 1
        return heads + job.groups * shape.body * rate
    if has_blocks:
        # Each beat is loaded, then each step done.
        steps = in_steps(shape)[1].sum()
        beats = job.weights_bytes / BEAT_BYTES
        return float(steps + beats + job.groups * BLOCK_GROUP_CYCLES + BLOCK_STREAM_CYCLES)
    chunks = (job.weights_bytes - BEAT_BYTES * heads) * 8 / CHUNK_BITS
    steps = shape.body * BEAT_BYTES // LANES
    return heads + job.groups * (steps + DECODER_GROUP_CYCLES) + chunks + DECODER_STREAM_CYCLES


def _transfer_cycles(transfer: EngineTransfer, memory: Memory) -> float:
    lines = 1 + -(-transfer.moved_bytes // LINE_BYTES)
    start = memory.store_start_cycles + memory.store_end_cycles
    if not transfer.is_store:
        start = memory.load_start_cycles + CONVERTER_LOAD_CYCLES
    pace = CONVERTED_LINE_CYCLES if transfer.flags else 1
    return start + pace * lines + _memory_cycles(lines, memory)
