"""Lists of compiled Programs on the engine alone: the compiler's jobs in the hardware."""

import numpy as np
import pytest

from kiwicha.compiler import compile_stages
from kiwicha.contract.engine import EngineCall
from kiwicha.contract.program import Kernel
from kiwicha.program.image import Program
from tests.gateware.engine.campaign import SCRATCHPAD_BYTES, Round, build_engine, run_rounds
from tests.support.choices import by_day
from tests.support.gateware.dram_port import DramTiming
from tests.support.models.softmax_layers import SOFTMAX_CASES, SOFTMAX_KINDS
from tests.support.oracle import oracle
from tests.support.oracle.on_engine import job_kinds

CONFIG = f"64-{SCRATCHPAD_BYTES // 1024}k-softmax"
DDR3 = DramTiming(latency_cycles=16, refresh_every_cycles=780, refresh_cycles=40)
WATCHDOG_CYCLES = 10_000_000


def run(program: Program, inputs: tuple[np.ndarray, ...]) -> list[bytes]:
    """Execute a Program all of whose steps are lists; return its outputs."""
    arena = bytearray(program.arena_bytes)
    for tensor, value in zip(program.inputs, inputs, strict=True):
        arena[tensor.ref.offset : tensor.ref.offset + value.nbytes] = value.tobytes()
    engine = build_engine(64, SCRATCHPAD_BYTES)
    for step in program.steps:
        assert step.kernel is Kernel.ENGINE
        call = step.params
        assert isinstance(call, EngineCall)
        image = program.constants[call.image.offset : call.image.offset + call.image.bytes]
        counts = call.job_count | call.transfer_count << 16
        given = Round(image, bytes(arena), counts, WATCHDOG_CYCLES)
        (outcome,) = run_rounds(engine, [given], DDR3, seed=1, host_stall=0)
        assert outcome.status == 0
        arena[:] = outcome.arena
    refs = [tensor.ref for tensor in program.outputs]
    return [bytes(arena[ref.offset : ref.offset + ref.bytes]) for ref in refs]


@pytest.mark.verilator
@pytest.mark.parametrize("name", by_day(*SOFTMAX_CASES))
def test_softmax(name: str) -> None:
    case = SOFTMAX_CASES[name]
    (answer,) = oracle.ask([case])
    assert answer.outputs is not None
    stages = compile_stages(case.model, CONFIG)
    assert set(job_kinds(stages)) == SOFTMAX_KINDS[name]
    assert run(stages.program, case.inputs) == [output.tobytes() for output in answer.outputs]
