"""Tables of the page on performance."""

import dataclasses

import pytest

from kiwicha.contract.program import Kernel
from kiwicha.kernels.kernel import Cost
from kiwicha.kernels.registry import KERNELS
from tools.documents.performance_tables import performance_tables


def test_engines_and_memories_have_their_pace() -> None:
    lines = performance_tables({}).splitlines()
    assert "| `64` | 64 | 8 |" in lines
    assert "| `ddr3-quarter-rate` | 14.2 | 40 |" in lines


def test_a_kernel_has_what_it_declares(monkeypatch: pytest.MonkeyPatch) -> None:
    cost = Cost(step=1234.0, output=5.6, extra=7.0)
    changed = dataclasses.replace(KERNELS[Kernel.SOFTMAX], cost=cost)
    monkeypatch.setitem(KERNELS, Kernel.SOFTMAX, changed)
    lines = performance_tables({}).splitlines()
    assert "| SOFTMAX | 1,234 | 5.6 |  | 7 |" in lines
    assert not any(line.startswith("| ENGINE ") for line in lines)
