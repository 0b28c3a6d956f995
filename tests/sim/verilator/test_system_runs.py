"""Programs and bare firmware on the simulated system on chip."""

import dataclasses
import random
import struct
from pathlib import Path
from typing import Any

import pytest

from kiwicha.contract import cfu
from kiwicha.contract.cfu import Status
from kiwicha.contract.configs import CONFIGS, Config
from kiwicha.errors import CapacityError, SimulationError, UsageError
from kiwicha.firmware.build import Image, build_firmware
from kiwicha.sim.verilator.image_run import Ending, run_image
from kiwicha.sim.verilator.program_run import run_program
from kiwicha.sim.verilator.simulator import Simulator, build_simulator
from tests.support.choices import by_day
from tests.support.programs.copies import copy_program

pytestmark = pytest.mark.verilator

OTHER_CONFIG = Config("other", has_simd=True, summary="a configuration that no gateware has")


@pytest.fixture(scope="session")
def simulator() -> Simulator:
    return build_simulator(CONFIGS["simd"])


def run_main(simulator: Simulator, folder: Path, source: str, **options: Any) -> Ending:
    """Run firmware with another ``main``."""
    image = build_main(simulator, folder, source)
    loads = [(cfu.ONCHIP_BASE, image.raw), *options.pop("loads", [])]
    return run_image(simulator, loads=loads, max_cycles=2_000_000, **options)


def build_main(simulator: Simulator, folder: Path, source: str) -> Image:
    path = folder / "main.c"
    path.write_text(
        '#include "kiwicha_isa.h"\n#include "kiwicha_soc.h"\n#include "machine.h"\n'
        '#include "platform.h"\nint main(void);\n' + source,
        encoding="utf-8",
    )
    return build_firmware(CONFIGS["baseline"], simulator.soc_header, main=path)


@pytest.mark.parametrize("config", CONFIGS.values(), ids=lambda config: config.name)
def test_a_program_runs(simulator: Simulator, config: Config) -> None:
    program = copy_program(config, size=80, steps=3)
    data = random.Random(1).randbytes(80)
    result = run_program(program, [data], inferences=2, simulator=simulator)
    assert result.outputs == (data,)
    assert [len(cycles) for cycles in result.step_cycles] == [3, 3]
    assert all(20 < cycles < 10_000 for table in result.step_cycles for cycles in table)
    assert sum(result.step_cycles[0]) <= result.first_cycles < 100_000
    assert sum(result.step_cycles[1]) <= result.last_cycles <= result.first_cycles
    assert result.first_cycles + result.last_cycles < result.simulated_cycles
    assert result.wall_seconds > 0
    assert not result.uart


def test_cycles_are_reproducible(simulator: Simulator) -> None:
    program = copy_program(CONFIGS["baseline"])
    runs = [run_program(program, [bytes(64)], simulator=simulator) for _ in range(2)]
    first, second = (dataclasses.replace(run, wall_seconds=0.0) for run in runs)
    assert first == second


def test_the_cycle_limit_ends_a_run(simulator: Simulator) -> None:
    with pytest.raises(SimulationError, match=r"^the simulation must end within 3000 cycles, "):
        run_program(
            copy_program(CONFIGS["baseline"]), [bytes(64)], max_cycles=3000, simulator=simulator
        )


def test_progress_is_reported(simulator: Simulator, tmp_path: Path) -> None:
    seen: list[tuple[int, int]] = []
    image = build_main(simulator, tmp_path, "int main(void) { for (;;) { } }")
    with pytest.raises(SimulationError, match=r"^the simulation must end within 1500000 cycles"):
        run_image(
            simulator,
            loads=[(cfu.ONCHIP_BASE, image.raw)],
            max_cycles=1_500_000,
            on_progress=lambda cycles, steps: seen.append((cycles, steps)),
        )
    assert seen
    assert seen == sorted(seen)
    assert all(0 < cycles < 1_500_000 and steps == 0 for cycles, steps in seen)


def test_a_trap_is_reported(simulator: Simulator, tmp_path: Path) -> None:
    # Cause 2 is an illegal instruction, and the CPU passes the instruction itself on.
    image = build_main(
        simulator, tmp_path, 'int main(void) { __asm__(".word 0xffffffff"); return 0; }'
    )
    program = copy_program(CONFIGS["baseline"])
    with pytest.raises(
        SimulationError,
        match=r"^the firmware stopped: the CPU trapped: .* \(status TRAP after 0 finished steps; "
        r"trap: cause 00000002 at 0000[0-9a-f]{4} value [0-9a-f]{8}\)$",
    ):
        run_program(program, [bytes(64)], simulator=simulator, firmware=image)


def test_custom_instructions_trap_while_the_cfu_is_off(
    simulator: Simulator, tmp_path: Path
) -> None:
    source = 'int main(void) { __asm__ volatile(".insn r 0x0B, 0, 0, x0, x0, x0"); return 0; }'
    ending = run_main(simulator, tmp_path, source)
    assert ending.code == Status.TRAP
    assert "cause 00000002" in ending.uart


def test_a_missing_boot_block_is_reported(simulator: Simulator) -> None:
    firmware = build_firmware(CONFIGS["baseline"], simulator.soc_header)
    ending = run_image(simulator, loads=[(cfu.ONCHIP_BASE, firmware.raw)], max_cycles=100_000)
    assert ending.code == Status.BAD_BOOT_BLOCK


def test_a_program_of_another_configuration_is_refused(simulator: Simulator) -> None:
    firmware = build_firmware(CONFIGS["baseline"], simulator.soc_header)
    with pytest.raises(SimulationError, match=r"^the firmware stopped: .*\(status BAD_CONFIG\)$"):
        run_program(
            copy_program(CONFIGS["simd"]),
            [bytes(64)],
            check_boot=True,
            simulator=simulator,
            firmware=firmware,
        )


def test_gateware_of_another_configuration_is_refused(simulator: Simulator) -> None:
    firmware = build_firmware(OTHER_CONFIG, simulator.soc_header)
    with pytest.raises(SimulationError, match=r"^the firmware stopped: .*\(status CFU_MISMATCH\)$"):
        run_program(
            copy_program(OTHER_CONFIG),
            [bytes(64)],
            check_boot=True,
            simulator=simulator,
            firmware=firmware,
        )


def test_memory_is_where_the_cpu_sees_it(simulator: Simulator, tmp_path: Path) -> None:
    # The source crosses rows and banks at unaligned places, the target ends with the DRAM; the
    # exit follows the last store directly.
    words = 5000
    source = cfu.DRAM_BASE + 0x3FF4
    target = cfu.DRAM_BASE + cfu.DRAM_BYTES - 4 * words
    image = random.Random(2).randbytes(4 * words)
    ending = run_main(
        simulator,
        tmp_path,
        "int main(void) {\n"
        f"    const volatile uint32_t *from = (const volatile uint32_t *){source:#x}u;\n"
        f"    volatile uint32_t *to = (volatile uint32_t *){target:#x}u;\n"
        f"    for (uint32_t k = 0; k < {words}u; ++k) to[k] = ~from[k];\n"
        "    return 7;\n}\n",
        loads=[(source, image)],
        dumps=[(target, 4 * words), (source, 4 * words)],
    )
    assert ending.code == 7
    assert ending.dumps == (bytes(byte ^ 0xFF for byte in image), image)


@pytest.mark.parametrize("size", [1, 2])
def test_narrow_stores_leave_their_neighbours(
    simulator: Simulator, tmp_path: Path, size: int
) -> None:
    place = cfu.DRAM_BASE + 0x2000
    count = 64
    image = random.Random(size).randbytes(count)
    # Every third element is replaced, in an order that comes back to the same words.
    ending = run_main(
        simulator,
        tmp_path,
        "int main(void) {\n"
        f"    volatile uint{8 * size}_t *place = (volatile uint{8 * size}_t *){place:#x}u;\n"
        f"    for (uint32_t k = 0; k < {count // size}u; ++k)\n"
        f"        if (k % 3 == 0) place[k] = (uint{8 * size}_t)(place[k] + 1);\n"
        "    return 0;\n}\n",
        loads=[(place, image)],
        dumps=[(place, count)],
    )
    expected = bytearray(image)
    kind = {1: "B", 2: "H"}[size]
    for index in range(0, count // size, 3):
        (value,) = struct.unpack_from("<" + kind, image, index * size)
        struct.pack_into("<" + kind, expected, index * size, (value + 1) & ((1 << 8 * size) - 1))
    assert ending.dumps == (bytes(expected),)


RANDOM_ACCESSES = """
int main(void) {
    uint32_t state = SEED, sum = 0;
    for (uint32_t k = 0; k < COUNT; ++k) {
        state = state * 1664525u + 1013904223u;
        uint32_t choice = state >> 8;
        uint32_t address = BASE + (choice & 3u) * 4096u + ((choice >> 2) & 0x7fu);
        volatile uint32_t *word = (volatile uint32_t *)(address & ~3u);
        volatile uint32_t *next = (volatile uint32_t *)((address & ~3u) ^ 4u);
        volatile uint32_t *far = (volatile uint32_t *)((address & ~3u) ^ 4096u);
        switch ((choice >> 9) & 3u) {
        case 0: *(volatile uint8_t *)address = (uint8_t)k; sum = sum * 3u + *word; break;
        case 1: *(volatile uint16_t *)(address & ~1u) = (uint16_t)k; sum = sum * 3u + *next; break;
        case 2: *word = k; *far = ~k; sum = sum * 3u + *word; break;
        default: sum = sum * 3u + *word; break;
        }
    }
    return (int)sum;
}
"""


@pytest.mark.parametrize("seed", by_day(1, 2))
def test_random_loads_and_stores(simulator: Simulator, tmp_path: Path, seed: int) -> None:
    # Four pages fall on the same lines of the data cache, so that most loads reach the DRAM, right
    # after stores to the same or the neighbouring word and with other stores on their way.
    base, count, size = cfu.DRAM_BASE + 0x8000, 10_000, 4 * 4096
    memory = bytearray(random.Random(seed).randbytes(size))
    constants = {"SEED": seed, "COUNT": count, "BASE": base}
    ending = run_main(
        simulator,
        tmp_path,
        "".join(f"#define {name} {value}u\n" for name, value in constants.items())
        + RANDOM_ACCESSES,
        loads=[(base, bytes(memory))],
        dumps=[(base, size)],
    )
    state, total = seed, 0
    for k in range(count):
        state = (state * 1664525 + 1013904223) & 0xFFFF_FFFF
        choice = state >> 8
        at = (choice & 3) * 4096 + ((choice >> 2) & 0x7F)
        loaded_at = word_at = at & ~3
        match (choice >> 9) & 3:
            case 0:
                memory[at] = k & 0xFF
            case 1:
                struct.pack_into("<H", memory, at & ~1, k)
                loaded_at = word_at ^ 4
            case 2:
                struct.pack_into("<I", memory, word_at, k)
                struct.pack_into("<I", memory, word_at ^ 4096, k ^ 0xFFFF_FFFF)
        total = (total * 3 + int.from_bytes(memory[loaded_at : loaded_at + 4], "little")) % 2**32
    assert ending.dumps == (bytes(memory),)
    assert ending.code == total


def test_the_cycle_counter_counts_every_cycle(simulator: Simulator, tmp_path: Path) -> None:
    # DRAM reads stall the CPU meanwhile; what follows the reading is the exit.
    ending = run_main(
        simulator,
        tmp_path,
        "int main(void) {\n"
        "    const volatile uint32_t *place = (const volatile uint32_t *)0x40000000u;\n"
        "    for (uint32_t k = 0; k < 500; ++k) (void)place[64 * k];\n"
        "    return (int)kiwicha_platform_cycles();\n}\n",
    )
    assert 10_000 < ending.code <= ending.cycles < ending.code + 300


def test_the_uart_carries_bytes_both_ways(simulator: Simulator, tmp_path: Path) -> None:
    # LiteX's receiver drops the byte it shows when its pending bit 1 is cleared.
    text = "The quick brown fox jumps over the lazy dog.\n"
    ending = run_main(
        simulator,
        tmp_path,
        "#define REGISTER(address) (*(volatile uint32_t *)(address))\n"
        "int main(void) {\n"
        f"    for (uint32_t k = 0; k < {len(text)}; ++k) {{\n"
        "        while (REGISTER(KIWICHA_CSR_UART_RXEMPTY) != 0) { }\n"
        "        char one[2] = {(char)REGISTER(KIWICHA_CSR_UART_RXTX), 0};\n"
        "        REGISTER(KIWICHA_CSR_UART_EV_PENDING) = 2;\n"
        "        kiwicha_platform_print(one);\n"
        "    }\n    return 0;\n}\n",
        uart_input=text.encode(),
    )
    assert (ending.code, ending.uart) == (0, text)


def test_inputs_must_fit(simulator: Simulator) -> None:
    program = copy_program(CONFIGS["baseline"])
    for inputs, inferences, text in (
        ([], 1, "there must be 1 inputs, not 0"),
        ([bytes(63)], 1, "input 0 must have 64 bytes, not 63 (x)"),
        ([bytes(64)], 0, "inferences must be 1 or more, not 0"),
    ):
        with pytest.raises(UsageError) as caught:
            run_program(program, inputs, inferences=inferences, simulator=simulator)
        assert str(caught.value) == text


def test_a_job_larger_than_dram_is_refused(simulator: Simulator) -> None:
    program = dataclasses.replace(copy_program(CONFIGS["baseline"]), arena_bytes=cfu.DRAM_BYTES)
    with pytest.raises(CapacityError, match=r"^Program, arena and tensors must fit into "):
        run_program(program, [bytes(64)], simulator=simulator)


@pytest.mark.parametrize(
    ("script", "text"),
    [
        ("kill -SEGV $$", "the simulator failed (signal SIGSEGV): it printed nothing"),
        ("echo broken >&2; exit 9", "the simulator failed (exit status 9): broken"),
        ("exit 0", "the simulator failed (exit status 0): it printed nothing"),
    ],
)
def test_a_simulator_that_fails_is_reported(script: str, text: str, tmp_path: Path) -> None:
    binary = tmp_path / "simulator"
    binary.write_text(f"#!/bin/sh\n{script}\n", encoding="utf-8")
    binary.chmod(0o755)
    with pytest.raises(SimulationError) as caught:
        run_image(Simulator(binary, "", has_trace=False), loads=[])
    assert str(caught.value) == text


@pytest.mark.nightly
def test_a_trace_is_written_from_its_start_on(tmp_path: Path) -> None:
    program = copy_program(CONFIGS["baseline"])
    sizes = []
    for start in (0, 4000):
        trace = tmp_path / f"from{start}.fst"
        result = run_program(program, [bytes(64)], trace=trace, trace_start=start)
        sizes.append(trace.stat().st_size)
        assert result.outputs == (bytes(64),)
    assert sizes[0] > sizes[1] > 1000
