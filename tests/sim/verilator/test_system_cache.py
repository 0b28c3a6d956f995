"""What the CPU has read before a list it reads anew behind it, wherever the arena ends."""

from pathlib import Path

import numpy as np
import pytest

from kiwicha.contract import cfu, configs
from kiwicha.contract.engine import EngineCall, JobKind
from kiwicha.contract.layout import Ref
from kiwicha.firmware.build import build_firmware
from kiwicha.sim.verilator.image_run import run_image
from kiwicha.sim.verilator.simulator import build_simulator
from tests.gateware.engine.random_jobs import random_work
from tests.gateware.engine.work_list import work_list
from tests.support.choices import by_day

CONFIG = configs.ENGINE_CONFIGS["64"]
SIZE = cfu.DATA_CACHE_BYTES
PAGE = 1 << 16
MEMORY = cfu.DRAM_BASE + 0x10_0000
ARENA, WORDS, PROGRAM = (MEMORY + PAGE * page for page in range(3))

# Fills the data cache with what the list overwrites; copies afterwards what the CPU reads there.
MAIN = """
#include "engine.h"
#include "kernels.h"
#include "kiwicha_soc.h"
#include "machine.h"

int main(void)
{{
    kiwicha_platform_init_dram();
    kiwicha_platform_enable_cfu();
    uint32_t *words = (uint32_t *){words:#x}u;
    const volatile uint32_t *stored = (const volatile uint32_t *){stored:#x}u;
    const struct kiwicha_memory memory = {{
        .program = (const uint8_t *){program:#x}u,
        .constants_end = {page:#x}u,
        .arena = (uint8_t *){arena:#x}u,
        .arena_bytes = {arena_bytes},
    }};
    for (uint32_t k = 0; k < {size} / 4; k++) (void)stored[k];
    if (kiwicha_run_engine(&memory, memory.program) != KIWICHA_STATUS_OK) return 1;
    if (kiwicha_wait_engine(&memory, NULL) != KIWICHA_STATUS_OK) return 2;
    for (uint32_t k = {size} / 4; k > 0; k--) words[k - 1] = stored[k - 1];
    return 0;
}}
"""


@pytest.mark.verilator
@pytest.mark.parametrize("rest_bytes", by_day(0, cfu.ALIGNMENT_BYTES))
def test_the_cpu_reads_what_a_list_has_written(rest_bytes: int, tmp_path: Path) -> None:
    rng = np.random.default_rng(6)
    work = random_work(rng, CONFIG.engine_macs, JobKind.TABLE, SIZE)
    made = work_list([work], CONFIG.engine_macs, SIZE, [False])
    image = made.image + bytes(-len(made.image) % 16)
    source = np.frombuffer(rng.bytes(SIZE), np.uint8)
    expected = source.copy()
    made.apply(expected)
    call = EngineCall(
        image=Ref(EngineCall.size_bytes(), len(image), is_constant=True),
        job_count=len(made.jobs),
        transfer_count=len(made.transfers),
        macs=CONFIG.engine_macs,
        scratchpad_bytes=CONFIG.scratchpad_bytes,
        overlapped_steps=0,
        goes_on=0,
        is_resident=0,
    )
    main = tmp_path / "main.c"
    text = MAIN.format(
        words=WORDS,
        stored=ARENA + SIZE,
        program=PROGRAM,
        page=PAGE,
        arena=ARENA,
        arena_bytes=2 * SIZE + rest_bytes,
        size=SIZE,
    )
    main.write_text(text, encoding="utf-8")
    simulator = build_simulator(CONFIG)
    ending = run_image(
        simulator,
        loads=[
            (cfu.ONCHIP_BASE, build_firmware(CONFIG, simulator.soc_header, main=main).raw),
            (ARENA, source.tobytes() + bytes(SIZE)),
            (PROGRAM, call.pack() + image),
        ],
        dumps=[(WORDS, SIZE)],
        max_cycles=1_000_000,
    )
    assert ending.code == 0
    assert ending.dumps[0] == expected.tobytes()
