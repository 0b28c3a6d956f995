"""What the CPU does with words that are read in the cycle that writes them: nothing.

The synthesis for ECP5 counts on it, see `kiwicha.boards.flow.synthesis`.
"""

import re
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from kiwicha.boards.flow.synthesis import CPU_SOURCE
from kiwicha.commands import execution
from kiwicha.sim.verilator import simulator
from kiwicha.sim.verilator.power_up import without_zeros
from kiwicha.sim.verilator.program_run import run_program

pytestmark = [pytest.mark.verilator, pytest.mark.nightly]

MEMORY = r"^\s*(?:\(\*[^\n]*\*\)\s*)?reg\s+\[[^\]]*\]\s+(\w+)\s+\[0:\d+\]\s*;"
MEMORIES = 8
"""The registers, tags and words of the instruction cache, tags and four bytes of the data cache."""


def spoilt(text: str) -> str:
    """Return Verilog whose memories give inverted words where a read meets a write."""
    names = re.findall(MEMORY, text, re.MULTILINE)
    assert len(names) == MEMORIES
    # Two modules have tags of the same name.
    modules = re.split(r"(?<=\bendmodule\b)", text)
    return "".join(_spoilt_module(module, sorted(set(names))) for module in modules)


def _spoilt_module(module: str, names: list[str]) -> str:
    for name in names:
        write = re.search(rf"if\((.*)\) begin\s+{name}\[(.*)\] <= ", module)
        if write is None:
            continue
        condition, written = write.groups()
        module, reads = re.subn(
            rf"<= ({name}\[(.*)\]);",
            rf"<= (({condition}) && ({written}) == (\2)) ? ~\1 : \1;",
            module,
        )
        assert reads
    return module


def test_words_that_are_written_when_they_are_read_are_not_used(
    zoo_model: Callable[[str], Path], tmp_path: Path
) -> None:
    workload = execution.prepare(str(zoo_model("cfu_magic_wand")), "simd")
    inputs = execution.random_inputs(workload)
    usual = run_program(workload.program, inputs, check_boot=True)
    system = tmp_path / "system"
    shutil.copytree(simulator.elaborated(workload.config), system)
    source = system / CPU_SOURCE
    source.write_text(spoilt(source.read_text(encoding="utf-8")), encoding="utf-8")
    cfu = without_zeros((system / simulator.CFU).read_text(encoding="utf-8"))
    binary = simulator.compiled_simulator(system, cfu, ["--exe", *simulator.VERILATE])
    header = (system / simulator.SOC_HEADER).read_text(encoding="utf-8")
    other = simulator.Simulator(binary=binary, soc_header=header, has_trace=False)
    found = run_program(workload.program, inputs, check_boot=True, simulator=other)
    assert found.outputs == usual.outputs
    assert found.simulated_cycles == usual.simulated_cycles
