"""The SDK: its own Makefile, another compiler than GCC, and what comes of it on the system."""

import subprocess
import sys
from pathlib import Path

import pytest

from kiwicha import cache, tools
from kiwicha.compiler import compile_stages
from kiwicha.contract import cfu
from kiwicha.contract.configs import find_config
from kiwicha.library import library, pack, sdk
from kiwicha.sim.verilator.image_run import run_image
from kiwicha.sim.verilator.simulator import build_simulator, system_headers
from tests.support import library_builds

_ZIG = f"{sys.executable} -m ziglang"


def build(root: Path) -> None:
    """Run the SDK's Makefile with Zig's clang; nothing may be said."""
    done = subprocess.run(
        [
            *(*tools.make().command, "-s", "-C", str(root / "system")),
            *(f"CC={_ZIG} cc -target riscv32-freestanding-none", f"AR={_ZIG} ar"),
            *(f"OBJCOPY={_ZIG} objcopy", "LIBS="),
            "TARGET=-mcpu=generic_rv32+m+relax+zicsr -mabi=ilp32 -fno-sanitize=undefined -Werror",
        ],
        env={"ZIG_GLOBAL_CACHE_DIR": str(cache.cache_dir() / "zig"), "PATH": "/usr/bin:/bin"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


@pytest.mark.nightly
@pytest.mark.verilator
@pytest.mark.parametrize("name", ["64", "simd"])
def test_the_example_boots(
    name: str, models: dict[str, bytes], example_output: str, tmp_path: Path
) -> None:
    config = find_config(name)
    files = library("first", compile_stages(models["first"], config), models["first"])
    made = sdk(files, system_headers(config))
    root = library_builds.unpack(pack(made, "."), tmp_path)
    text = (root / "system" / "generated" / "csr.h").read_text()
    assert "#define CSR_UART_BASE" in text
    build(root)
    loads = [
        (cfu.ONCHIP_BASE, (root / "build" / "first.bin").read_bytes()),
        (cfu.IMAGE_ADDRESS, (root / "build" / "application.bin").read_bytes()),
    ]
    ending = run_image(build_simulator(config), loads=loads, max_cycles=20_000_000)
    printed, _, cycles = ending.uart.partition("cycles: ")
    assert (ending.code, printed) == (0, example_output)
    assert int(cycles) > 0
