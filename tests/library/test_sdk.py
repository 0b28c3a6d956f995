"""The SDK: its own Makefile, clang and GCC, and what comes of it on the system."""

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from kiwicha.compiler import compile_stages
from kiwicha.contract import cfu
from kiwicha.contract.configs import find_config
from kiwicha.library import library, pack, sdk
from kiwicha.sim.verilator.image_run import Ending, run_image
from kiwicha.sim.verilator.simulator import build_simulator, system_headers
from tests.support import library_builds

CROSS = os.environ.get("CROSS")
"""What the names of GCC's tools begin with, path included."""


@pytest.mark.nightly
@pytest.mark.verilator
@pytest.mark.parametrize("name", ["64", "simd"])
def test_the_example_boots(
    name: str, models: dict[str, bytes], example_output: str, tmp_path: Path
) -> None:
    boot(name, models, example_output, tmp_path)


@pytest.mark.verilator
@pytest.mark.skipif(CROSS is None, reason="CROSS must be what the names of GCC's tools begin with")
@pytest.mark.parametrize("name", ["64", "simd"])
def test_gcc_makes_the_same(
    name: str, models: dict[str, bytes], example_output: str, tmp_path: Path
) -> None:
    boot(name, models, example_output, tmp_path, cross=CROSS)


def simulate(name: str, root: Path) -> Ending:
    """Run what an SDK has been built to."""
    loads = [
        (cfu.ONCHIP_BASE, (root / "build" / "first.bin").read_bytes()),
        (cfu.IMAGE_ADDRESS, (root / "build" / "application.bin").read_bytes()),
    ]
    return run_image(build_simulator(find_config(name)), loads=loads, max_cycles=20_000_000)


@pytest.mark.nightly
@pytest.mark.verilator
def test_an_application_sleeps_until_the_interrupt(
    models: dict[str, bytes],
    output_of: Callable[[str], tuple[str, bytes]],
    tmp_path: Path,
) -> None:
    config = find_config("64-preempt")
    files = library("first", compile_stages(models["first"], config), models["first"])
    made = sdk("first", config, files, system_headers(config))
    root = library_builds.unpack(pack(made, "."), tmp_path)
    library_builds.build_sdk(root, words=["EXAMPLE=sleep.c"])
    ending = simulate("64-preempt", root)
    rows = dict(line.split(": 0x") for line in ending.uart.splitlines())
    said = {what: int(value, 16) for what, value in rows.items()}
    assert (ending.code, said["sum of the output"]) == (0, sum(output_of("first")[1]))
    assert 0 < said["of them asleep"] < said["cycles"]
    # A few come before the count begins.
    assert said["cycles"] // 1000 <= said["ticks"] <= said["cycles"] // 1000 + 3


def boot(
    name: str,
    models: dict[str, bytes],
    example_output: str,
    tmp_path: Path,
    cross: str | None = None,
) -> None:
    """Compile the example, run it on the simulated system, and compare what it prints."""
    config = find_config(name)
    files = library("first", compile_stages(models["first"], config), models["first"])
    made = sdk("first", config, files, system_headers(config))
    root = library_builds.unpack(pack(made, "."), tmp_path)
    text = (root / "system" / "generated" / "csr.h").read_text()
    assert "#define CSR_UART_BASE" in text
    library_builds.build_sdk(root, cross)
    ending = simulate(name, root)
    printed, _, cycles = ending.uart.partition("cycles: ")
    assert (ending.code, printed) == (0, example_output)
    assert int(cycles) > 0
