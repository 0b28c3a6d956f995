"""Netlists for boards beside their sources."""

from typing import Any

import pytest

from kiwicha.errors import ToolError
from kiwicha.gateware.engine.addressing.kernel_rows import KernelRows
from kiwicha.gateware.engine.array.packed_sum import PackedSum
from kiwicha.gateware.engine.control.pause import Pause
from kiwicha.gateware.engine.memory.line_words import LineWords
from kiwicha.gateware.engine.requantize.tag_queue import TagQueue
from tools.verification import netlists
from tools.verification.netlist_proof import Proof
from tools.verification.netlists import FAMILIES, Means, compare, cut


@pytest.fixture(params=Means)
def means(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Means:
    """Return what is to prove; if that is not the induction this gives no answer."""
    if request.param is not Means.INDUCTION:
        monkeypatch.setattr(netlists, "prove", lambda folder, seconds: Proof())
    return Means(request.param)


def test_memories_and_multipliers_become_ports() -> None:
    cells = {
        "a": {"type": "$mem_v2", "connections": {"RD_DATA": [2], "WR_DATA": [3, 4], "RD_EN": []}},
        "b": {"type": "$mul", "connections": {"A": [5], "B": [6], "Y": [7]}},
        "c": {"type": "$add", "connections": {"A": [5], "B": [6], "Y": [8]}},
        "d": {"type": "$mul", "connections": {"A": [5], "B": ["1", "1"], "Y": [9]}},
    }
    module: dict[str, Any] = {"ports": {}, "netnames": {}, "cells": cells, "memories": {"m": {}}}
    assert cut({"modules": {"top": module}}) == {"$mem_v2": 1, "$mul": 1}
    assert set(module["cells"]) == {"c", "d"}
    assert module["ports"] == {
        "cut_mem_v2_1_RD_DATA": {"direction": "input", "bits": [2]},
        "cut_mem_v2_1_WR_DATA": {"direction": "output", "bits": [3, 4]},
        "cut_mul_1_A": {"direction": "output", "bits": [5]},
        "cut_mul_1_B": {"direction": "output", "bits": [6]},
        "cut_mul_1_Y": {"direction": "input", "bits": [7]},
    }
    assert set(module["netnames"]) == set(module["ports"])
    assert "memories" not in module


@pytest.mark.nightly
@pytest.mark.synth
@pytest.mark.parametrize("family", FAMILIES)
def test_netlists_are_equal_to_their_sources(family: str, means: Means) -> None:
    for component in (LineWords(), Pause()):
        found = compare(component, family, seconds=600)
        assert found.is_proven
        assert found.means is means
    queue = compare(TagQueue(tag_bits=5), family, seconds=600)
    assert queue.is_proven
    assert queue.cut == {"$mem_v2": 1}


@pytest.mark.nightly
@pytest.mark.synth
@pytest.mark.parametrize("family", FAMILIES)
def test_a_netlist_with_a_fault_is_not_equal(family: str, means: Means) -> None:
    found = compare(Pause(), family, seconds=600, change=("$and", "$or"))
    assert found.unproven > 0
    assert not found.is_proven
    assert found.seconds == 0
    assert found.means is means
    assert bool(found.names) is (means is Means.INDUCTION)
    # ABC tells that there is a difference, and not where.
    assert bool(found.proven) is (means is Means.INDUCTION)


@pytest.mark.nightly
@pytest.mark.synth
@pytest.mark.parametrize(
    ("family", "spoil"),
    [
        ("xc7", "setparam -set INIT 1'1 t:FDRE"),
        ("xc7", "setparam -set INIT 15 t:SRL16E"),
        ("ecp5", 'setparam -set REGSET "SET" t:TRELLIS_FF'),
    ],
)
def test_a_netlist_with_other_first_values_is_not_equal(
    family: str, spoil: str, means: Means
) -> None:
    # None of its registers is ever reset, so that only the first values are others.
    found = compare(PackedSum(lanes=2), family, seconds=600, spoil=spoil)
    assert found.unproven == 0
    assert found.starts is False
    assert found.means is means
    assert not found.is_proven


@pytest.mark.nightly
@pytest.mark.synth
@pytest.mark.parametrize("family", FAMILIES)
def test_registers_are_found_where_the_netlist_has_them_in_other_ways(
    family: str, means: Means
) -> None:
    found = compare(PackedSum(lanes=2), family, seconds=600)
    assert found.is_proven
    # Four registers in a row; the vendor has a cell for that.
    assert found.shifted == (4 if family == "xc7" else 0)
    rows = compare(KernelRows(), family, seconds=600)
    assert rows.is_proven
    assert rows.absent > 0
    assert {found.means, rows.means} == {means}


@pytest.mark.nightly
@pytest.mark.synth
@pytest.mark.parametrize(
    ("family", "spoil"),
    [
        ("xc7", "setparam -set IS_C_INVERTED 1'1 t:FDRE"),
        ("xc7", "setparam -set IS_CLK_INVERTED 1'1 t:SRL16E"),
        ("ecp5", 'setparam -set CLKMUX "INV" t:TRELLIS_FF'),
    ],
)
def test_a_netlist_with_another_clock_is_refused(family: str, spoil: str, means: Means) -> None:
    reason = "of_another_clock" if means is Means.INDUCTION else "rising edge of clk"
    with pytest.raises(ToolError, match=reason):
        compare(PackedSum(lanes=2), family, seconds=600, spoil=spoil)
