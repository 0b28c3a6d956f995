"""Applications with a library, in C and C++, on the simulated system."""

import re
from collections.abc import Callable
from pathlib import Path

import pytest

from kiwicha.contract import cfu
from kiwicha.contract.configs import find_config
from kiwicha.firmware.build import SOC_HEADER_NAME
from kiwicha.firmware.compile import PLATFORM, compile_image
from kiwicha.firmware.elf import read_elf
from kiwicha.firmware.header import HEADER_NAME, header
from kiwicha.firmware.sources import FREESTANDING
from kiwicha.sim.verilator.image_run import Ending, run_image
from kiwicha.sim.verilator.simulator import build_simulator
from tests.library.conftest import APPLICATION, NOISE
from tests.support import library_builds
from tests.support.choices import by_day

FIRST = f"""
#include "machine.h"
int main(void);
int main(void)
{{
    kiwicha_platform_init_dram();
    kiwicha_platform_jump({cfu.IMAGE_ADDRESS:#x}u, 0);
}}
"""


def simulate(config: str, application: Path, folder: Path) -> Ending:
    """Run an application in DRAM, which a program in on-chip memory starts."""
    simulator = build_simulator(find_config(config))
    (folder / "first.c").write_text(FIRST)
    sources = [folder / "first.c", PLATFORM / "machine.c", PLATFORM / "start.S", *FREESTANDING[1:]]
    first = compile_image(
        {HEADER_NAME: header(find_config(config)), SOC_HEADER_NAME: simulator.soc_header},
        sources,
        (PLATFORM, PLATFORM.parent / "runtime", PLATFORM / "include"),
        base=cfu.ONCHIP_BASE,
        space_bytes=cfu.ONCHIP_BYTES,
    )
    image = read_elf(application.read_bytes()).image(cfu.IMAGE_ADDRESS)
    loads = [(cfu.ONCHIP_BASE, first.raw), (cfu.IMAGE_ADDRESS, image)]
    return run_image(simulator, loads=loads, max_cycles=20_000_000)


def bound_of(root: Path, name: str) -> int:
    text = (root / "model" / f"{name}.h").read_text()
    (bound,) = re.findall(r"WORST_CYCLES UINT64_C\((\d+)\)", text)
    return int(bound)


@pytest.mark.nightly
@pytest.mark.verilator
@pytest.mark.parametrize("config", by_day("64", "simd", "baseline"))
def test_applications_in_c_and_cpp_run(
    config: str,
    models: dict[str, bytes],
    example_output: str,
    application_output: str,
    tmp_path: Path,
) -> None:
    root = library_builds.write_library(
        tmp_path, config, second=models["second"], first=models["first"]
    )
    ending = simulate(config, library_builds.riscv_application(root, config), tmp_path)
    text, _, cycles = ending.uart.partition("cycles: ")
    assert (ending.code, text) == (0, example_output)
    assert 0 < int(cycles) <= bound_of(root, "first")

    # The example compiles as C++, too.
    library_builds.riscv_application(root, config, "example/main.c")
    application = library_builds.riscv_application(root, config, str(APPLICATION))
    ending = simulate(config, application, tmp_path)
    assert (ending.code, ending.uart) == (0, application_output)


@pytest.mark.verilator
@pytest.mark.nightly
def test_the_bound_on_cycles_holds_while_the_cpu_uses_dram(
    zoo_model: Callable[[str], Path], tmp_path: Path
) -> None:
    model = zoo_model("person_detect").read_bytes()
    root = library_builds.write_library(tmp_path, "64", person=model)
    application = library_builds.riscv_application(root, "64", str(NOISE))
    ending = simulate("64", application, tmp_path)
    assert ending.code == 0
    cycles, period, disturbed = (int(word, 16) for word in ending.uart.split())
    assert cycles < disturbed <= bound_of(root, "person")
    # With inputs in place, inferences follow each other at once.
    assert cycles < period <= 1.02 * cycles
