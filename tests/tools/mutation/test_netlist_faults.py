"""Faults in the netlist of a small component."""

from pathlib import Path

import pytest
from amaranth import Module, Signal
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from tests.support.gateware import bench
from tests.tools.mutation import bench_sums
from tools.mutation.engine import in_turn
from tools.mutation.fault_rows import read_rows
from tools.mutation.netlist_equivalence import is_equivalent
from tools.mutation.netlist_faults import SELECTED, Fault, FaultyNetlist, faulty_netlist
from tools.mutation.netlist_rows import Mode, prove_faults, try_faults
from tools.mutation.trial import Result
from tools.yosys import component_rtlil

TOP = "sums"


class _Half(wiring.Component):
    """Adds a number to another one, and once more what is 0."""

    def __init__(self) -> None:
        super().__init__({"a": In(4), "b": In(4), "sum": Out(5)})

    def elaborate(self, platform: object) -> Module:
        m = Module()
        zero = Signal(4)
        m.d.comb += [zero.eq(self.a ^ self.a), self.sum.eq(self.a + self.b + (zero & self.b))]
        return m


class _Sums(wiring.Component):
    """Adds in a component inside, and keeps the sum."""

    def __init__(self) -> None:
        super().__init__({"a": In(4), "b": In(4), "sum": Out(5)})

    def elaborate(self, platform: object) -> Module:
        m = Module()
        m.submodules.half = half = _Half()
        m.d.comb += [half.a.eq(self.a), half.b.eq(self.b)]
        m.d.sync += self.sum.eq(half.sum)
        return m


class _LowerSums(wiring.Component):
    """Does not read the uppermost bit of the component inside."""

    def __init__(self) -> None:
        super().__init__({"a": In(4), "b": In(4), "sum": Out(4)})

    def elaborate(self, platform: object) -> Module:
        m = Module()
        m.submodules.half = half = _Half()
        m.d.comb += [half.a.eq(self.a), half.b.eq(self.b), self.sum.eq(half.sum)]
        return m


@pytest.fixture(scope="module")
def netlist() -> FaultyNetlist:
    return faulty_netlist(component_rtlil(_Sums(), TOP), TOP, lambda path: path, count=12, seed=0)


def test_each_group_has_its_faults(netlist: FaultyNetlist) -> None:
    assert len(netlist.faults) > 20
    assert not [fault for fault in netlist.faults if fault.signal == "clk[0]"]
    assert {fault.module for fault in netlist.faults} == {"", "half"}
    assert len({fault.command for fault in netlist.faults}) == len(netlist.faults)
    text = component_rtlil(_Sums(), TOP)
    inside = faulty_netlist(text, TOP, lambda path: path or None, count=5, seed=0)
    assert {fault.module for fault in inside.faults} == {"half"}
    assert in_turn(netlist.faults)[1].module == "half"


@pytest.mark.nightly
def test_proofs_say_in_what_they_hold(tmp_path: Path) -> None:
    """A bit that nothing reads shows in its component, and in nothing around it."""
    text = component_rtlil(_LowerSums(), TOP)
    netlist = faulty_netlist(text, TOP, lambda path: path, count=30, seed=0)
    of_half = {fault.signal: fault for fault in netlist.faults if fault.module == "half"}
    upper, lower = (of_half[f"sum[{bit}]"] for bit in (4, 1))
    path, faults = tmp_path / "rows.jsonl", (upper, lower)

    def survive(_: Fault) -> tuple[Result, str]:
        return Result.SURVIVED, ""

    try_faults(path, faults, survive, mode=Mode.NEW, is_over=lambda: False)
    prove_faults(path, netlist, faults, is_over=lambda: False)
    rows = read_rows(path)
    assert (rows[upper.number]["result"], rows[upper.number]["found_by"]) == (
        Result.EQUIVALENT,
        f"proof in {TOP}",
    )
    assert rows[lower.number]["result"] == Result.SURVIVED


def test_what_was_tried_is_not_tried_again(netlist: FaultyNetlist, tmp_path: Path) -> None:
    path, tried = tmp_path / "rows.jsonl", []
    faults = netlist.faults[:4]
    numbers = [fault.number for fault in faults]

    def found_by(fault: Fault) -> tuple[Result, str]:
        tried.append(fault.number)
        return (Result.SURVIVED, "") if fault is faults[1] else (Result.KILLED, "lists")

    def run(mode: Mode, most: int) -> list[int]:
        tried.clear()
        try_faults(
            path,
            faults,
            found_by,
            mode=mode,
            is_over=lambda: len(tried) >= most,
        )
        return [*tried]

    assert run(Mode.NEW, 3) == numbers[:3]
    assert run(Mode.NEW, 3) == numbers[3:]
    assert run(Mode.RECHECK, 3) == numbers[1:2]
    rows = read_rows(path)
    assert [rows[number]["result"] == Result.KILLED for number in numbers] == [1, 0, 1, 1]


@pytest.mark.nightly
@pytest.mark.verilator
def test_one_fault_at_a_time_is_simulated(
    netlist: FaultyNetlist, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    simulator = bench.build(netlist.verilog, TOP)
    wrong = set()
    numbers = {fault.number for fault in netlist.faults}
    for number in {0} | numbers:
        monkeypatch.setenv(SELECTED, str(number))
        name = f"{bench_sums.__name__}.all_sums"
        try:
            bench.run(simulator, TOP, name, {}, tmp_path)
        except bench.SimulationError:
            wrong.add(number)
    same = {fault.number for fault in netlist.faults if is_equivalent(netlist, fault)}
    assert same
    assert wrong == numbers - same
