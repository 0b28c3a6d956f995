"""The CPU with the longer pipeline: which systems have it, and what is different."""

import re
from pathlib import Path

import pytest

from kiwicha.boards.board import NAMES, load
from kiwicha.boards.family import Family
from kiwicha.contract.memories import DDR3_QUARTER_RATE
from kiwicha.sim.soc.cpu import has_long_pipeline, long_pipeline, write_long_pipeline


def test_boards_with_an_ecp5_have_it() -> None:
    boards = [load(name) for name in NAMES]
    for board in boards:
        assert has_long_pipeline(board.memory) is (board.family is Family.ECP5), board.name
    assert not has_long_pipeline(DDR3_QUARTER_RATE)


def test_the_address_of_the_cache_is_a_register(tmp_path: Path) -> None:
    text = write_long_pipeline(tmp_path).read_text(encoding="utf-8")
    (address,) = re.findall(r"\.io_cpu_prefetch_pc +\((\w+)", text)
    (source,) = re.findall(rf"assign {address} = (\w+);", text)
    assert re.search(rf"^ +reg +\[31:0\] +{source} ", text, flags=re.MULTILINE)
    assert f"{source} <= " in text


def test_another_text_is_refused(tmp_path: Path) -> None:
    # What has it already is another text.
    text = write_long_pipeline(tmp_path).read_text(encoding="utf-8")
    with pytest.raises(
        ValueError, match=r"^VexRiscv's Verilog must have one place like .*, not 0;"
    ):
        long_pipeline(text)
