"""The SDK's application as LiteX builds one: its Make files, start-up code and terminal."""

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path

import pytest

from kiwicha import tools
from kiwicha.compiler import compile_stages
from kiwicha.contract import cfu
from kiwicha.contract.configs import find_config
from kiwicha.library import library, pack, sdk
from kiwicha.sim.verilator.simulator import build_simulator, system_headers
from tests.support import library_builds
from tests.support.boards.litex_terminal import LateLine, said_by_terminal
from tests.support.boards.simulated_board import simulated_board

GCC = next(
    (name for name in ("riscv64-unknown-elf-gcc", "riscv32-unknown-elf-gcc") if shutil.which(name)),
    None,
)
needs_gcc = pytest.mark.skipif(GCC is None, reason="LiteX's Make files need a GCC for RISC-V")

ASK_LITEX = """
import json
import sys
from litex.build.generic_platform import GenericPlatform, Pins
from litex.soc.integration import export
from litex.soc.integration.soc_core import SoCCore

platform = GenericPlatform("test", [("serial", 0, Pins(1))], name="top")
soc = SoCCore(
    platform, 100_000_000, cpu_type="vexriscv", cpu_variant="full+cfu", cpu_cfu="cfu.v",
    uart_name="stub",
)
json.dump(dict(export.get_cpu_mak(soc.cpu, True)), sys.stdout)
"""
"""What LiteX writes of a CPU like ours into ``variables.mak``."""


def unpacked(name: str, model: bytes, folder: Path) -> Path:
    config = find_config(name)
    files = library("first", compile_stages(model, config), model)
    made = sdk("first", config, files, system_headers(config))
    return library_builds.unpack(pack(made, "."), folder)


@needs_gcc
@pytest.mark.slow
def test_variables_are_those_of_litex(models: dict[str, bytes], tmp_path: Path) -> None:
    (tmp_path / "cfu.v").write_text("module Cfu(); endmodule\n")
    done = subprocess.run(
        [sys.executable, "-c", ASK_LITEX], check=True, cwd=tmp_path, capture_output=True, text=True
    )
    theirs = json.loads(done.stdout)
    root = unpacked("simd", models["first"], tmp_path / "sdk")
    rule = f"include generated/variables.mak\nall:\n\t@printf '%s\\n' {_quoted(theirs)}\n"
    (root / "system" / "ask.mk").write_text(rule)
    done = library_builds.run_make(root / "system", "-f", "ask.mk", f"PYTHON={sys.executable}")
    assert done.returncode == 0, done.stderr
    ours = dict(line.partition("=")[::2] for line in done.stdout.splitlines())
    assert {name: value.split() for name, value in ours.items()} == {
        name: value.split() for name, value in theirs.items()
    }


def _quoted(names: Iterable[str]) -> str:
    return " ".join(f"'{name}=$({name})'" for name in names)


@needs_gcc
@pytest.mark.nightly
@pytest.mark.verilator
@pytest.mark.parametrize("name", ["simd", "64"])
def test_litex_builds_and_boots_the_example(
    name: str, models: dict[str, bytes], example_output: str, tmp_path: Path
) -> None:
    root = unpacked(name, models["first"], tmp_path / "sdk")
    search = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    done = subprocess.run(
        [*tools.make().command, "-C", str(root / "system"), "-f", "litex.mk", "all"],
        env={**os.environ, "PATH": search},
        capture_output=True,
        text=True,
        check=False,
    )
    # GNU's linker warns of code and data in one piece of memory, which is how LiteX has it.
    said = [line for line in done.stderr.splitlines() if "RWX permissions" not in line]
    assert (done.returncode, said) == (0, [])
    line, config = LateLine(), find_config(name)
    board = tmp_path / "board"
    board.mkdir()
    with simulated_board(build_simulator(config), board, config=config, spoil=line) as port:
        image = root / "build" / "litex" / "litex.bin"
        text = said_by_terminal(image, line, port, address=cfu.DRAM_BASE)
    assert "Received firmware download request from the device." in text
    assert example_output in text
