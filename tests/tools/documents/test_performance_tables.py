"""Tables of the page on performance."""

import dataclasses

import pytest

from kiwicha.contract.program import Kernel
from kiwicha.kernels.kernel import Cost
from kiwicha.kernels.registry import KERNELS
from tools.documents.move_tables import MoveExample, move_tables
from tools.documents.performance_tables import performance_tables
from tools.documents.resize_table import ResizeExample, resize_table


def test_engines_and_memories_have_their_pace() -> None:
    lines = performance_tables({}).splitlines()
    assert "| `64` | 64 | 8 |" in lines
    assert "| `ddr3-quarter-rate` | 14.2 | 40 |" in lines


def test_moves_have_the_rate_of_their_jobs_and_of_all() -> None:
    (line,) = move_tables([MoveExample("TRANSPOSE", (16, 64, 16), (1, 0, 2))]).splitlines()[2:]
    # Runs of 16 bytes in whole lines.
    assert line.startswith("| TRANSPOSE (16, 64, 16) by (1, 0, 2) | 16,384 | 16.00 | ")
    assert line.endswith(" of 7.1 |")


def test_images_have_their_place_and_cycles() -> None:
    examples = [ResizeExample(4, 8, 8), ResizeExample(10, 15, 8, "centers")]
    lines = resize_table(examples).splitlines()[2:]
    assert [line.split(" | ")[3] for line in lines] == ["engine", "cpu"]
    assert float(lines[1].split(" | ")[4].rstrip(" |")) > 20


def test_a_kernel_has_what_it_declares(monkeypatch: pytest.MonkeyPatch) -> None:
    cost = Cost(step=1234.0, output=5.6, extra=7.0)
    changed = dataclasses.replace(KERNELS[Kernel.SOFTMAX], cost=cost)
    monkeypatch.setitem(KERNELS, Kernel.SOFTMAX, changed)
    lines = performance_tables({}).splitlines()
    assert "| SOFTMAX | 1,234 | 5.6 |  | 7 |" in lines
    assert not any(line.startswith("| ENGINE ") for line in lines)
