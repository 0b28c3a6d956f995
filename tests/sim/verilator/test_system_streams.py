"""Streams of inputs: the CPU writes the next inputs while the engine works on the last ones."""

import itertools
from pathlib import Path

import numpy as np
import pytest

from kiwicha.compiler import Compilation, compile_model, compile_stages, with_double_buffer
from kiwicha.contract import cfu
from kiwicha.contract.program import BootBlock
from kiwicha.errors import UsageError
from kiwicha.firmware.build import build_firmware
from kiwicha.program.image import Program
from kiwicha.sim.reference import executor
from kiwicha.sim.soc.stream_memory import stream_memory, stream_result
from kiwicha.sim.verilator.image_run import run_image
from kiwicha.sim.verilator.program_run import run_program, run_stream
from kiwicha.sim.verilator.simulator import build_simulator
from kiwicha.zoo import models as zoo
from tests.support.choices import by_day
from tests.support.models import random_networks
from tests.support.models.two_heads import two_heads

pytestmark = pytest.mark.verilator

Sets = list[list[bytes]]


def random_sets(program: Program, count: int) -> Sets:
    rng = np.random.default_rng(3)
    return [[rng.bytes(tensor.ref.bytes) for tensor in program.inputs] for _ in range(count)]


def expected(program: Program, sets: Sets) -> list[tuple[bytes, ...]]:
    """Give the outputs of each set, which differ from those of the next."""
    found = [tuple(value.tobytes() for value in executor.run(program, one)) for one in sets]
    assert all(one != other for one, other in itertools.pairwise(found))
    return found


def test_a_stream_takes_little_longer_than_its_inferences() -> None:
    compilation: Compilation = compile_stages(zoo.resolve(zoo.DEMO)[1], "64")
    alone = compilation.program
    sets = random_sets(alone, 2)
    cycles = run_program(alone, sets[0], inferences=2).last_cycles
    program = with_double_buffer(compilation).program
    stream = run_stream(program, sets, inferences=3)
    assert list(stream.outputs) == [*expected(program, sets), stream.outputs[0]]
    assert list(stream.ends) == sorted(stream.ends)
    assert cycles < stream.period <= 1.02 * cycles


# Networks whose outputs differ from input to input.
SEEDS = 5, 7


@pytest.mark.parametrize("seed", by_day(None, *SEEDS))
def test_every_inference_of_a_stream_is_right(seed: int | None) -> None:
    # By day a model in which the CPU has work beside the engine and between its lists.
    model = two_heads() if seed is None else random_networks.engine_network(seed).model
    program = compile_model(model, "64", double_buffer=True)
    sets = random_sets(program, 5)
    stream = run_stream(program, sets, inferences=5)
    assert list(stream.outputs) == expected(program, sets)


def test_a_stream_needs_two_places_and_an_engine() -> None:
    model = two_heads()
    single, portable = compile_model(model, "64"), compile_model(model, "simd", double_buffer=True)
    for program in (single, portable):
        with pytest.raises(
            UsageError, match=r"^a stream must be of a Program with a double buffer"
        ):
            run_stream(program, random_sets(program, 1), inferences=1)
    program = compile_model(model, "64", double_buffer=True)
    with pytest.raises(UsageError, match=r"^sets of inputs must be 1 or more"):
        run_stream(program, [], inferences=1)


# Each return is of a check that failed.
APPLICATION = """
#include <string.h>
#include "kiwicha_isa.h"
#include "machine.h"
#include "platform.h"
#include "runtime.h"

int main(void);

static struct kiwicha_model model;
static uint8_t kept[32];

static void *at(uint32_t address)
{
    return (void *)(uintptr_t)address;
}

int main(void)
{
    kiwicha_platform_init_dram();
    kiwicha_platform_enable_cfu();
    const struct kiwicha_boot_block *boot = at(KIWICHA_BOOT_BLOCK_ADDRESS);
    if (kiwicha_start(&model, NULL, NULL, NULL) != KIWICHA_STATUS_BAD_ARGUMENT) return 20;
    if (kiwicha_open(&model, at(boot->program_address), boot->program_bytes,
                     at(boot->arena_address), boot->arena_bytes) != KIWICHA_STATUS_OK) return 21;
    if (kiwicha_poll(&model) != KIWICHA_STATUS_OK || kiwicha_wait(&model) != KIWICHA_STATUS_OK ||
        model.is_running) return 22;
    const struct kiwicha_io_record *input = &model.inputs[0], *output = &model.outputs[0];
    const uint32_t bytes = input->tensor.bytes;
    const uint32_t step = (bytes + 15) & ~15u;
    const uint8_t *images = at(boot->inputs_address);
    uint8_t *answers = at(boot->outputs_address);

    uint8_t *first = kiwicha_tensor_data(&model, input);
    memcpy(first, images, bytes);
    if (kiwicha_start(&model, NULL, NULL, NULL) != KIWICHA_STATUS_OK) return 23;
    if (!model.is_running) return 36;
    if (kiwicha_start(&model, NULL, NULL, NULL) != KIWICHA_STATUS_BAD_ARGUMENT) return 24;
    if (kiwicha_invoke(&model, NULL, NULL, NULL) != KIWICHA_STATUS_BAD_ARGUMENT) return 25;
    uint8_t *second = kiwicha_tensor_data(&model, input);
    if ((uint32_t)(second - first) != model.shift_bytes || first == second) return 26;
    memcpy(second, images + step, bytes);
    while (model.is_running) {
        if (kiwicha_poll(&model) != KIWICHA_STATUS_OK) return 27;
    }

    const uint8_t *answer = kiwicha_tensor_data(&model, output);
    memcpy(kept, answer, output->tensor.bytes);
    if (kiwicha_start(&model, NULL, NULL, NULL) != KIWICHA_STATUS_OK) return 29;
    if (kiwicha_tensor_data(&model, input) != first) return 30;
    if (kiwicha_tensor_data(&model, output) != answer) return 31;
    memcpy(first, images + 2 * step, bytes);
    if (kiwicha_wait(&model) != KIWICHA_STATUS_OK || model.is_running) return 32;
    if (kiwicha_tensor_data(&model, output) != answer + model.shift_bytes) return 33;
    for (uint32_t k = 0; k < output->tensor.bytes; k++) {
        if (answer[k] != kept[k]) return 34;
    }
    const uint32_t size = (output->tensor.bytes + 15) & ~15u;
    memcpy(answers, answer, output->tensor.bytes);
    memcpy(answers + size, answer + model.shift_bytes, output->tensor.bytes);
    if (kiwicha_invoke(&model, NULL, NULL, NULL) != KIWICHA_STATUS_OK) return 35;
    memcpy(answers + 2 * size, kiwicha_tensor_data(&model, output), output->tensor.bytes);
    return 0;
}
"""


def test_an_application_writes_and_reads_in_place(tmp_path: Path) -> None:
    program = compile_model(
        random_networks.engine_network(SEEDS[-1]).model, "64", double_buffer=True
    )
    assert len(program.inputs) == len(program.outputs) == 1
    assert program.outputs[0].ref.bytes <= 32
    simulator = build_simulator(program.config)
    source = tmp_path / "main.c"
    source.write_text(APPLICATION, encoding="utf-8")
    firmware = build_firmware(program.config, simulator.soc_header, main=source)
    sets = random_sets(program, 3)
    memory = stream_memory(program, sets, inferences=3)
    ending = run_image(
        simulator, loads=[(cfu.ONCHIP_BASE, firmware.raw), *memory.loads], dumps=memory.dumps
    )
    assert ending.code == 0
    assert len(ending.dumps[0]) == BootBlock.size_bytes()
    assert list(stream_result(program, ending.dumps).outputs) == expected(program, sets)
