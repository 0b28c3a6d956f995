"""Every error of the engine on the simulated system: the CPU goes on, the next list is right."""

import dataclasses
import struct
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from kiwicha.compiler import compile_model
from kiwicha.contract import cfu, configs
from kiwicha.contract.engine import (
    LINE_BYTES,
    TRANSFER_ERROR,
    EngineCall,
    EngineError,
    EngineJob,
    JobFlag,
    JobKind,
    has_packed,
)
from kiwicha.errors import SimulationError
from kiwicha.firmware.build import build_firmware
from kiwicha.sim.verilator.image_run import run_image
from kiwicha.sim.verilator.program_run import run_program
from kiwicha.sim.verilator.simulator import build_simulator
from tests.gateware.engine.random_jobs import random_work
from tests.gateware.engine.work_list import WorkList, work_list
from tests.support.models.two_heads import SHAPE, two_heads

pytestmark = pytest.mark.verilator
SIZE = 4096
PAGE = 1 << 16
TABLE = cfu.DRAM_BASE + 0x10_0000
RESULTS, ARENA, EXPECTED = (TABLE + PAGE * page for page in (1, 2, 3))
IMAGES = TABLE + 4 * PAGE
PATIENCE_CYCLES = 6000
WORDS_OF_RESULT = 3
KINDS = (JobKind.CONV, JobKind.DEPTHWISE, JobKind.TABLE)

# Each broken list of the table, then a good one whose result is compared.
MAIN = f"""
#include "cfu.h"
#include "kiwicha_isa.h"
#include "kiwicha_soc.h"
#include "machine.h"
#include "platform.h"

struct list {{ uint32_t image, bytes, counts, cycles; }};

static uint32_t execute(const struct list *list)
{{
    kiwicha_cfu_do(KIWICHA_GROUP_ENGINE, KIWICHA_ENGINE_OP_RANGE, 0, list->image, list->bytes);
    kiwicha_cfu_do(KIWICHA_GROUP_ENGINE, KIWICHA_ENGINE_OP_RANGE, 1, {ARENA:#x}u, {2 * SIZE}u);
    kiwicha_cfu_do(KIWICHA_GROUP_ENGINE, KIWICHA_ENGINE_OP_WATCHDOG, 0, list->cycles, 0);
    kiwicha_platform_drain_stores();
    kiwicha_cfu_do(KIWICHA_GROUP_ENGINE, KIWICHA_ENGINE_OP_START, 0, 0, list->counts);
    const uint32_t status =
        kiwicha_cfu_ask(KIWICHA_GROUP_ENGINE, KIWICHA_ENGINE_OP_WAIT, 0, 0, 0);
    kiwicha_platform_forget_cached();
    return status;
}}

int main(void)
{{
    kiwicha_platform_init_dram();
    kiwicha_platform_enable_cfu();
    const struct list *lists = (const struct list *){TABLE:#x}u;
    volatile uint32_t *results = (volatile uint32_t *){RESULTS:#x}u;
    volatile uint32_t *output = (volatile uint32_t *){ARENA + SIZE:#x}u;
    const uint32_t *expected = (const uint32_t *){EXPECTED:#x}u;
    for (const struct list *broken = lists + 1; broken->bytes != 0; ++broken) {{
        *results++ = execute(broken);
        for (uint32_t k = 0; k < {SIZE // 4}u; ++k) output[k] = ~expected[k];
        *results++ = execute(lists);
        uint32_t wrong = 0;
        for (uint32_t k = 0; k < {SIZE // 4}u; ++k) wrong += output[k] != expected[k];
        *results++ = wrong;
    }}
    return 0;
}}
"""


def with_job(good: WorkList, number: int, **fields: int) -> WorkList:
    jobs = list(good.jobs)
    jobs[number] = dataclasses.replace(jobs[number], **fields)
    return dataclasses.replace(good, jobs=jobs)


def with_transfer(good: WorkList, number: int, **fields: int) -> WorkList:
    transfers = list(good.transfers)
    transfers[number] = dataclasses.replace(transfers[number], **fields)
    return dataclasses.replace(good, transfers=transfers)


def broken_lists(
    good: WorkList, stuck: WorkList, spoilt: tuple[bytes, int], scratchpad_bytes: int
) -> list[tuple[EngineError, int | None, bytes]]:
    """Give each error, the number that comes with it, and the image that provokes it."""
    job_bytes = [job.weights_bytes for job in good.jobs]
    outside = EngineError.OUTSIDE_RANGE
    beyond = 1 << 24
    program = 1 << 31
    store = good.transfers[2].bytes
    # Both sides of a transfer begin at the same byte of their lines.
    first, second, third = (item.scratchpad_address % LINE_BYTES for item in good.transfers[:3])
    cases: list[tuple[EngineError, int | None, WorkList]] = [
        (EngineError.WATCHDOG, None, stuck),
        (EngineError.BAD_KIND, 1, with_job(good, 1, kind=77)),
        (EngineError.BAD_FIELD, 0, with_job(good, 0, interval=0)),
        (EngineError.BAD_FIELD, TRANSFER_ERROR + 1, with_transfer(good, 1, flags=4)),
        (outside, 2, with_job(good, 2, weights_offset=beyond)),
        (
            EngineError.OUTSIDE_RANGE,
            TRANSFER_ERROR + 1,
            with_transfer(good, 1, dram_offset=2 * SIZE + second),
        ),
        (
            EngineError.OUTSIDE_RANGE,
            TRANSFER_ERROR + 2,
            with_transfer(good, 2, dram_offset=program + third),
        ),
        (outside, TRANSFER_ERROR + 2, with_transfer(good, 2, bytes=store + 1)),
        (
            EngineError.OUTSIDE_SCRATCHPAD,
            1,
            with_job(good, 1, output_address=scratchpad_bytes),
        ),
        (
            EngineError.OUTSIDE_SCRATCHPAD,
            TRANSFER_ERROR,
            with_transfer(good, 0, scratchpad_address=scratchpad_bytes - LINE_BYTES + first),
        ),
        (EngineError.BAD_STREAM, 0, with_job(good, 0, weights_bytes=job_bytes[0] + 16)),
        (EngineError.BAD_STREAM, 2, with_job(good, 2, weights_bytes=job_bytes[2] - 16)),
    ]
    images = [(error, number, work.image) for error, number, work in cases]
    return [*images, (EngineError.BAD_STREAM, spoilt[1], spoilt[0])]


def padded(image: bytes) -> bytes:
    return image + bytes(-len(image) % 16)


@pytest.mark.parametrize(
    ("name", "coded_kind"),
    [
        ("64", JobKind.DEPTHWISE),
        pytest.param("128", JobKind.DEPTHWISE, marks=pytest.mark.nightly),
        pytest.param("128", JobKind.CONV, marks=pytest.mark.nightly),
        pytest.param("256", JobKind.CONV, marks=pytest.mark.nightly),
    ],
)
def test_every_error_is_reported_and_leaves_no_trace(
    name: str, coded_kind: JobKind, tmp_path: Path
) -> None:
    config = configs.ENGINE_CONFIGS[name]
    macs = config.engine_macs
    rng = np.random.default_rng(6)
    works = [random_work(rng, macs, kind, SIZE) for kind in KINDS]
    coded = [kind is coded_kind for kind in KINDS]
    good = work_list(works, macs, SIZE, coded)
    # Where there are packed products, the convolution's stream has them.
    assert bool(good.jobs[0].flags & JobFlag.PACKED) == has_packed(macs)
    stuck = work_list(works, macs, SIZE, coded, is_stuck=True)
    spoilt = good.spoilt(rng)
    assert spoilt is not None
    cases = broken_lists(good, stuck, spoilt, config.scratchpad_bytes)
    assert {error for error, _, _ in cases} == set(EngineError) - {EngineError.NONE}

    source = np.frombuffer(rng.bytes(SIZE), np.uint8)
    expected = source.copy()
    good.apply(expected)
    guard = rng.bytes(SIZE)
    table, images, address = b"", b"", IMAGES
    for image in (padded(image) for image in (good.image, *(image for _, _, image in cases))):
        cycles = PATIENCE_CYCLES if image == stuck.image else 10**6
        table += struct.pack("<4I", address, len(image), good.counts, cycles)
        images, address = images + image, address + len(image)
    main = tmp_path / "main.c"
    main.write_text(MAIN, encoding="utf-8")
    simulator = build_simulator(config)
    ending = run_image(
        simulator,
        loads=[
            (cfu.ONCHIP_BASE, build_firmware(config, simulator.soc_header, main=main).raw),
            (TABLE, table + bytes(16)),
            (ARENA, source.tobytes() + bytes(SIZE) + guard),
            (EXPECTED, expected.tobytes()),
            (IMAGES, images),
        ],
        dumps=[
            (RESULTS, 4 * WORDS_OF_RESULT * len(cases)),
            (ARENA, SIZE),
            (ARENA + 2 * SIZE, SIZE),
            (IMAGES, len(images)),
        ],
        max_cycles=5_000_000,
    )
    assert ending.code == 0
    results = list(struct.iter_unpack(f"<{WORDS_OF_RESULT}I", ending.dumps[0]))
    for (error, number, _), (status, good_status, wrong) in zip(cases, results, strict=True):
        assert status >> 16 == error, f"{error!r} {number}: {status:#x}"
        assert number in (None, status & 0xFFFF), f"{error!r} {number}: {status:#x}"
        assert (good_status, wrong) == (0, 0), f"after {error!r} {number}"
    assert ending.dumps[1:] == (source.tobytes(), guard, images)


@pytest.mark.parametrize(
    ("field", "value", "text"),
    [("kind", 77, "BAD_KIND at job 0"), ("flags", 4, "BAD_FIELD at transfer 0")],
)
def test_the_report_names_error_and_place(field: str, value: int, text: str) -> None:
    program = compile_model(two_heads(), "64")
    number, run = next(
        (number, step.params)
        for number, step in enumerate(program.steps)
        if isinstance(step.params, EngineCall)
    )
    first = run.image.offset
    place = first
    if field == "flags":
        place += run.job_count * EngineJob.size_bytes() + 14
    constants = bytearray(program.constants)
    constants[place] = value
    broken = dataclasses.replace(program, constants=bytes(constants))
    image: Any = bytes(int(np.prod(SHAPE)))
    message = rf"^the firmware stopped: .* \(status ENGINE in step {number}, {text}\)$"
    with pytest.raises(SimulationError, match=message):
        run_program(broken, [image])
