"""Weights that stay on chip on the simulated system: models in turn, and what errors leave."""

import struct
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest

from kiwicha.compiler import compile_model
from kiwicha.contract import cfu
from kiwicha.contract.cfu import Status
from kiwicha.contract.engine import EngineCall, EngineJob, JobFlag
from kiwicha.firmware.build import build_firmware
from kiwicha.program.engine_list import read_list
from kiwicha.program.image import Program
from kiwicha.sim.reference import executor
from kiwicha.sim.verilator.image_run import run_image
from kiwicha.sim.verilator.program_run import run_sequence
from kiwicha.sim.verilator.simulator import build_simulator
from tests.support.choices import by_day
from tests.support.models import random_networks

pytestmark = [pytest.mark.verilator, pytest.mark.nightly]

PAGE = 1 << 16
MODELS = cfu.DRAM_BASE + 0x10_0000
TURNS, RESULTS, FIRST = (MODELS + PAGE * page for page in (1, 2, 3))
OUTPUT_BYTES = 64
RESULT_BYTES = 4 + OUTPUT_BYTES

# Flips a bit of a Program in DRAM, invokes a model, and puts the bit back.
MAIN = f"""
#include <string.h>
#include "kiwicha_isa.h"
#include "machine.h"
#include "platform.h"
#include "runtime.h"

struct place {{ uint32_t program, program_bytes, arena, arena_bytes, input; }};
struct turn {{ uint32_t model, opens, broken; }};
static struct kiwicha_model models[3];

static void *at(uint32_t address)
{{
    return (void *)(uintptr_t)address;
}}

static enum kiwicha_status open_model(uint32_t number)
{{
    const struct place *place = (const struct place *)at({MODELS:#x}u) + number;
    return kiwicha_open(&models[number], at(place->program), place->program_bytes,
                        at(place->arena), place->arena_bytes);
}}

int main(void)
{{
    kiwicha_platform_init_dram();
    kiwicha_platform_enable_cfu();
    for (uint32_t number = 0; number < 3; ++number) {{
        if (open_model(number) != KIWICHA_STATUS_OK) return 20;
    }}
    uint8_t *result = at({RESULTS:#x}u);
    for (const struct turn *turn = at({TURNS:#x}u); turn->model < 3; ++turn) {{
        if (turn->opens && open_model(turn->model) != KIWICHA_STATUS_OK) return 21;
        const struct place *place = (const struct place *)at({MODELS:#x}u) + turn->model;
        struct kiwicha_model *model = &models[turn->model];
        const struct kiwicha_io_record *input = &model->inputs[0], *output = &model->outputs[0];
        memcpy(kiwicha_tensor_data(model, input), at(place->input), input->tensor.bytes);
        volatile uint8_t *broken = turn->broken ? at(turn->broken) : NULL;
        if (broken) *broken ^= 1;
        const uint32_t status = kiwicha_invoke(model, NULL, NULL, NULL);
        if (broken) *broken ^= 1;
        memcpy(result, &status, 4);
        memcpy(result + 4, kiwicha_tensor_data(model, output), output->tensor.bytes);
        result += {RESULT_BYTES};
    }}
    return 0;
}}
"""


@dataclass(frozen=True)
class Model:
    """A Program, where it lies, and what it computes."""

    program: Program
    number: int
    input: bytes

    @property
    def address(self) -> int:
        """Where the Program lies; its input and its arena are behind it."""
        return FIRST + 4 * PAGE * self.number

    @property
    def place(self) -> bytes:
        """Return what the application must know of it."""
        size = len(self.program.to_bytes())
        arena, value = self.address + 2 * PAGE, self.address + PAGE
        return struct.pack("<5I", self.address, size, arena, self.program.arena_bytes, value)

    @property
    def output(self) -> bytes:
        """Return what it computes."""
        (found,) = executor.run(self.program, [self.input])
        return found.tobytes()

    def inside(self, *, is_kept: bool) -> int:
        """Return the address of a byte of a stream that stays, or of a coded one behind it."""
        (call,) = (step.params for step in self.program.steps)
        assert isinstance(call, EngineCall)
        image = self.program.constants[call.image.offset :][: call.image.bytes]
        jobs = [job for job in read_list(call, image).jobs if isinstance(job, EngineJob)]
        first = next(number for number, job in enumerate(jobs) if job.flags & JobFlag.LOADS)
        job = next(
            job
            for job in jobs[first:]
            if job.flags & JobFlag.CODED and bool(job.flags & JobFlag.LOADS) == is_kept
        )
        start = self.address + self.program.to_bytes().index(image)
        return start + job.weights_offset + job.weights_bytes // 2


def made(seed: int, number: int) -> Model:
    program = compile_model(random_networks.engine_network(seed).model, "64-blocks-resident")
    assert len(program.inputs) == len(program.outputs) == 1
    assert program.outputs[0].ref.bytes <= OUTPUT_BYTES
    rng = np.random.default_rng(seed)
    return Model(program, number, rng.bytes(program.inputs[0].ref.bytes))


def test_models_in_turn_and_errors_leave_no_wrong_weights(tmp_path: Path) -> None:
    """A stream that stays is broken: this is seen where it is read, and only there."""
    one, other, third = (made(seed, number) for number, seed in enumerate((6, 8, 5)))
    kept, later = one.inside(is_kept=True), one.inside(is_kept=False)
    kept_of_other = other.inside(is_kept=True)
    good, bad = Status.OK, Status.ENGINE
    turns = [
        (one, 0, 0, good),
        (one, 0, kept, good),
        # Loading ends in the middle, and has overwritten what was there.
        (other, 0, kept_of_other, bad),
        (one, 0, kept, bad),
        (one, 0, 0, good),
        # A model that keeps nothing leaves what is there.
        (third, 0, 0, good),
        (one, 0, kept, good),
        # Any error of a list with kept weights is one after which they are loaded.
        (one, 0, later, bad),
        (one, 0, kept, bad),
        (other, 0, 0, good),
        (other, 0, kept_of_other, good),
        (one, 0, later, bad),
        (other, 0, kept_of_other, bad),
        (one, 0, kept, bad),
        (one, 0, 0, good),
        (one, 0, kept, good),
        # Another Program may be at the same place.
        (third, 1, 0, good),
        (one, 0, kept, bad),
    ]
    models = (one, other, third)
    table = b"".join(
        struct.pack("<3I", model.number, opens, broken) for model, opens, broken, _ in turns
    )
    main = tmp_path / "main.c"
    main.write_text(MAIN, encoding="utf-8")
    simulator = build_simulator(one.program.config)
    firmware = build_firmware(one.program.config, simulator.soc_header, main=main)
    ending = run_image(
        simulator,
        loads=[
            (cfu.ONCHIP_BASE, firmware.raw),
            (MODELS, b"".join(model.place for model in models)),
            (TURNS, table + struct.pack("<3I", 3, 0, 0)),
            *((model.address, model.program.to_bytes()) for model in models),
            *((model.address + PAGE, model.input) for model in models),
        ],
        dumps=[(RESULTS, RESULT_BYTES * len(turns))],
    )
    assert ending.code == 0
    for number, (model, _, _, status) in enumerate(turns):
        found = ending.dumps[0][RESULT_BYTES * number :][:RESULT_BYTES]
        assert (number, int.from_bytes(found[:4], "little")) == (number, status)
        if status is good:
            assert found[4:][: len(model.output)] == model.output, number


@pytest.mark.parametrize("config", by_day("64-blocks-resident", "256-blocks-resident"))
def test_inferences_in_a_row(config: str) -> None:
    program = compile_model(random_networks.engine_network(6).model, config)
    rng = np.random.default_rng(1)
    sets = [[rng.bytes(tensor.ref.bytes) for tensor in program.inputs] for _ in range(3)]
    result = run_sequence(program, sets)
    expected = [tuple(value.tobytes() for value in executor.run(program, one)) for one in sets]
    assert list(result.outputs) == expected
    assert result.cycles[2] < result.cycles[0]
