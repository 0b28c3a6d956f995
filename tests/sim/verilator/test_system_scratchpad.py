"""The CPU's own way to the scratchpad: words that jobs or it wrote, without DRAM between."""

import struct
from pathlib import Path

import numpy as np
import pytest

from kiwicha.contract import cfu, configs
from kiwicha.contract.cfu import Status
from kiwicha.contract.engine import EngineCall, JobKind
from kiwicha.contract.layout import Ref
from kiwicha.firmware.build import build_firmware
from kiwicha.sim.verilator.image_run import run_image
from kiwicha.sim.verilator.simulator import build_simulator
from tests.gateware.engine.random_jobs import random_work
from tests.gateware.engine.work_list import work_list

CONFIG = configs.ENGINE_CONFIGS["64"]
SIZE = 4096
PAGE = 1 << 16
MEMORY = cfu.DRAM_BASE + 0x10_0000
RESULTS, ARENA, WORDS, PROGRAM = (MEMORY + PAGE * page for page in range(4))
STATUSES = 10
SMALL_BYTES = 16

# A list leaves its bytes in DRAM and in the scratchpad. Then what the CPU wrote there is read.
MAIN = f"""
#include <stddef.h>

#include "engine.h"
#include "kernels.h"
#include "kiwicha_soc.h"
#include "machine.h"
#include "platform.h"

enum {{ SIZE = {SIZE}, WORDS = SIZE / 4, SMALL = {SMALL_BYTES} / 4 }};

int main(void)
{{
    kiwicha_platform_init_dram();
    kiwicha_platform_enable_cfu();
    uint32_t *results = (uint32_t *){RESULTS:#x}u;
    uint32_t *words = (uint32_t *){WORDS:#x}u;
    const uint32_t *stored = (const uint32_t *){ARENA + SIZE:#x}u;
    const struct kiwicha_engine_call *call = (const struct kiwicha_engine_call *){PROGRAM:#x}u;
    const struct kiwicha_memory memory = {{
        .program = (const uint8_t *){PROGRAM:#x}u,
        .constants_end = {PAGE:#x}u,
        .arena = (uint8_t *){ARENA:#x}u,
        .arena_bytes = 2 * SIZE,
    }};
    const uint32_t end = KIWICHA_CONFIG_SCRATCHPAD_BYTES;
    *results++ = kiwicha_run_engine(&memory, call);
    *results++ = kiwicha_peek_engine(0, words, 1);
    *results++ = kiwicha_wait_engine(&memory, NULL);
    *results++ = kiwicha_peek_engine(0, words, WORDS);
    *results++ = kiwicha_peek_engine(end - 4, words + WORDS, 2);
    *results++ = kiwicha_peek_engine(end, words + WORDS, 1);
    *results++ = kiwicha_peek_engine(2, words + WORDS, 1);
    *results++ = kiwicha_peek_engine(0, NULL, 1);
    *results++ = kiwicha_poke_engine(end - 8, words + 1, 2);
    *results++ = kiwicha_peek_engine(end - 8, words + WORDS, 2);
    uint32_t small[SMALL];
    const uint32_t start = kiwicha_platform_cycles();
    kiwicha_peek_engine(0, small, SMALL);
    const uint32_t middle = kiwicha_platform_cycles();
    kiwicha_platform_forget_cached();
    uint32_t sum = 0;
    for (uint32_t k = 0; k < SMALL; k++) sum += ((volatile const uint32_t *)stored)[k] - small[k];
    *results++ = middle - start;
    *results++ = kiwicha_platform_cycles() - middle;
    *results++ = sum;
    return 0;
}}
"""


@pytest.mark.verilator
def test_the_cpu_reads_and_writes_the_scratchpad(tmp_path: Path) -> None:
    rng = np.random.default_rng(5)
    works = [random_work(rng, CONFIG.engine_macs, JobKind.TABLE, SIZE) for _ in range(2)]
    made = work_list(works, CONFIG.engine_macs, SIZE, [False, False])
    image = made.image + bytes(-len(made.image) % 16)
    source = np.frombuffer(rng.bytes(SIZE), np.uint8)
    expected = source.copy()
    made.apply(expected)
    first = EngineCall.size_bytes() + -EngineCall.size_bytes() % 16
    call = EngineCall(
        image=Ref(first, len(image), is_constant=True),
        job_count=len(made.jobs),
        transfer_count=len(made.transfers),
        macs=CONFIG.engine_macs,
        scratchpad_bytes=CONFIG.scratchpad_bytes,
        overlapped_steps=0,
        goes_on=0,
        is_resident=0,
    )
    program = call.pack().ljust(first, b"\0") + image
    main = tmp_path / "main.c"
    main.write_text(MAIN, encoding="utf-8")
    simulator = build_simulator(CONFIG)
    ending = run_image(
        simulator,
        loads=[
            (cfu.ONCHIP_BASE, build_firmware(CONFIG, simulator.soc_header, main=main).raw),
            (ARENA, source.tobytes() + bytes(SIZE)),
            (PROGRAM, program),
        ],
        dumps=[(RESULTS, 4 * (STATUSES + 3)), (ARENA + SIZE, SIZE), (WORDS, SIZE + 8)],
        max_cycles=1_000_000,
    )
    assert ending.code == 0
    *statuses, peeked, loaded, differs = struct.unpack(f"<{STATUSES + 3}I", ending.dumps[0])
    bad = Status.BAD_ARGUMENT
    assert statuses == [0, Status.ENGINE, 0, 0, bad, bad, bad, bad, 0, 0]
    assert ending.dumps[1] == expected.tobytes()
    assert ending.dumps[2] == expected.tobytes() + expected[4:12].tobytes()
    assert differs == 0
    # A few words are there sooner than from DRAM, where they must be read again after a flush.
    assert peeked < loaded, f"{peeked} cycles, and {loaded} by way of DRAM"
