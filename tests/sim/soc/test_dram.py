"""The memory of the simulated system is that of the boards it is meant for."""

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from kiwicha.boards.board import NAMES, load
from kiwicha.boards.memories import BOARD_MEMORIES, board_with, memory_of
from kiwicha.contract.memories import DDR3_HALF_RATE, DDR3_QUARTER_RATE, MEMORIES
from kiwicha.errors import UsageError
from kiwicha.sim.soc.dram import chip, phy_model
from tests.support.choices import by_day

PHY_FACTS = ("memtype", "databits", "dfi_databits", "nphases", "cwl", "read_latency")


def _number(value: Any) -> int:
    """Return a setting, which in some PHYs software can change, as it is after reset."""
    return int(getattr(value, "reset", value).value if hasattr(value, "reset") else value)


@pytest.mark.parametrize("name", NAMES)
def test_the_model_has_the_settings_of_the_boards_phy(name: str) -> None:
    board = load(name)
    memory = board.memory
    assert memory is BOARD_MEMORIES[name]
    assert min(board.dram_bytes, memory.dram_bytes) == memory.dram_bytes
    parts = board.parts(board.sys_clk_hz)
    model = phy_model(memory, chip(memory, memory.clock_hz)).settings
    real = parts.sdram_phy.settings
    for fact in PHY_FACTS:
        assert getattr(model, fact) == getattr(real, fact), fact
    assert model.write_latency == real.write_latency
    assert _number(model.rdphase) == _number(real.rdphase)
    assert _number(model.wrphase) == _number(real.wrphase)
    mine = vars(chip(memory, memory.clock_hz).timing_settings)
    its = vars(parts.sdram_module.timing_settings)
    assert {k: v for k, v in mine.items() if k != "self"} == {
        k: v for k, v in its.items() if k != "self"
    }


def test_a_refresh_of_four_gigabits_takes_its_time_at_any_clock() -> None:
    cycles = {hz: chip(DDR3_HALF_RATE, hz).timing_settings.tRFC for hz in (60_000_000, 50_000_000)}
    for hz, count in cycles.items():
        # Up to a cycle is added for the phase, and up to one for rounding.
        assert 260e-9 * hz <= count < 260e-9 * hz + 2


@pytest.mark.parametrize("memory", by_day(*MEMORIES.values()), ids=lambda memory: memory.name)
def test_words_of_the_model_fill_the_chip(memory: Any, tmp_path: Path) -> None:
    words = ["simd", memory.name, str(tmp_path)]
    subprocess.run([sys.executable, "-m", "kiwicha.sim.soc.elaborate", *words], check=True)
    header = (tmp_path / "memories.h").read_text(encoding="utf-8")
    numbers = {
        line.split()[2]: int(line.split()[-1].rstrip(";"), 0)
        for line in header.splitlines()
        if line.startswith("constexpr")
    }
    module = chip(memory, memory.clock_hz)
    size = module.nbanks * module.nrows * module.ncols * 2
    text = (tmp_path / "soc.v").read_text(encoding="utf-8")
    bank = size // module.nbanks // numbers["kDramWordBytes"]
    bits = 8 * numbers["kDramWordBytes"]
    for number in range(module.nbanks):
        assert f"reg [{bits - 1}:0] dram_bank{number}[0:{bank - 1}];" in text
    assert numbers["kDramBytes"] == memory.dram_bytes <= size
    assert numbers["kDramRowBytes"] * module.nrows * module.nbanks == size


def test_boards_are_found_by_their_memory() -> None:
    assert memory_of(None) is DDR3_QUARTER_RATE
    assert board_with(DDR3_QUARTER_RATE.name) is None
    for memory in list(MEMORIES.values())[1:]:
        board = board_with(memory.name)
        assert board is not None
        assert memory_of(board) is memory
    with pytest.raises(UsageError, match=r"^board must be one of .*, not 'ecpix'; the nearest is"):
        memory_of("ecpix")
