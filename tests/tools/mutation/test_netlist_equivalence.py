"""Proofs that faults in netlists of small components change nothing, and faults that do."""

import dataclasses
from collections.abc import Callable
from typing import Any

import pytest
from amaranth import Cat, Module, Signal
from amaranth.lib import wiring
from amaranth.lib.memory import Memory
from amaranth.lib.wiring import In, Out

from kiwicha.errors import ToolError
from tools.abc import Answer
from tools.mutation import netlist_equivalence
from tools.mutation.cut_netlist import CutNetlist
from tools.mutation.netlist_equivalence import answers, is_equivalent
from tools.mutation.netlist_faults import Fault, FaultyNetlist, faulty_netlist
from tools.yosys import component_rtlil

TOP = "top"


def at_night(*values: Any) -> Any:
    """Return a case that is not tried by day."""
    return pytest.param(*values, marks=pytest.mark.nightly)


class _Part(wiring.Component):
    """A component of a few lines."""

    def __init__(
        self, ports: dict[str, Any], build: Callable[[Module, Any], None], inner: Any = None
    ) -> None:
        super().__init__(ports)
        self._build = build
        self.inner = inner

    def elaborate(self, platform: object) -> Module:
        m = Module()
        if self.inner is not None:
            m.submodules.inner = self.inner
        self._build(m, self)
        return m


def _netlist(part: _Part) -> FaultyNetlist:
    return faulty_netlist(component_rtlil(part, TOP), TOP, lambda path: path, count=1, seed=0)


def _fault(netlist: FaultyNetlist, mode: str, cell: str, port: str, module: str = TOP) -> Fault:
    """Return a fault at the only cell of a kind, or at the one of a name."""
    start, lines = f"module \\{module}\n", netlist.good.read_text(encoding="utf-8")
    inside = lines[lines.index(start) :].split("\nend\n")[0]
    cells = [line.split(" ")[-2:] for line in inside.splitlines() if line.startswith("  cell ")]
    (name,) = (name for kind, name in cells if cell in (kind, name.lstrip("\\")))
    place, bit = port.split(" ")
    command = f"mutate -mode {mode} -module {module} -cell {name} -port {place} -portbit {bit}"
    return Fault(1, "", mode, "", module, command)


def _shown(netlist: FaultyNetlist, fault: Fault) -> list[tuple[str, Answer]]:
    return [(module, answer) for _, module, answer in answers(netlist, [fault], seconds=5)]


def _counter(last: int, shown: int) -> _Part:
    """Return what counts to a number, and shows when it is at one."""

    def build(m: Module, part: Any) -> None:
        count = Signal(8)
        m.d.sync += count.eq(count + 1)
        with m.If(count >= last):
            m.d.sync += count.eq(0)
        m.d.comb += part.is_there.eq(count == shown)

    return _Part({"is_there": Out(1)}, build)


@pytest.mark.parametrize(
    ("last", "shown", "is_same"),
    [(200, 201, True), (200, 200, False), at_night(100, 7, False), at_night(100, 255, True)],
)
def test_states_that_are_never_reached(last: int, shown: int, is_same: bool) -> None:
    """A fault that shows after two hundred cycles shows."""
    netlist = _netlist(_counter(last, shown))
    fault = _fault(netlist, "const0", "$eq", "Y 0")
    assert is_equivalent(netlist, fault) == is_same


@pytest.mark.parametrize(("differs", "answer"), [(True, Answer.NEVER), (False, Answer.ONCE)])
def test_surroundings_say_what_happens(differs: bool, answer: Answer) -> None:
    """What surrounds a component may never give it both of what it waits for."""

    def both(m: Module, part: Any) -> None:
        m.d.comb += part.both.eq(part.a & part.b)

    inner = _Part({"a": In(1), "b": In(1), "both": Out(1)}, both)

    def turns(m: Module, part: Any) -> None:
        is_first = Signal(init=1)
        m.d.sync += is_first.eq(~is_first)
        m.d.comb += [inner.a.eq(is_first), inner.b.eq(~is_first if differs else part.bit)]
        m.d.comb += part.both.eq(inner.both)

    netlist = _netlist(_Part({"bit": In(1), "both": Out(1)}, turns, inner))
    fault = _fault(netlist, "const0", "$and", "Y 0", "top.inner")
    assert _shown(netlist, fault) == [("top.inner", Answer.ONCE), (TOP, answer)]


@pytest.mark.parametrize("low", [("rst",), ()])
def test_a_reset_that_never_comes(low: tuple[str, ...]) -> None:
    """What it would reset to makes no difference then."""

    def kept(m: Module, part: Any) -> None:
        m.d.sync += part.kept.eq(part.kept + part.bit)

    netlist = _netlist(_Part({"bit": In(1), "kept": Out(1)}, kept))
    fault = _fault(netlist, "inv", "$mux", "B 0")
    assert is_equivalent(dataclasses.replace(netlist, low=low), fault) == bool(low)


@pytest.mark.parametrize(
    ("mode", "port", "is_same"),
    [
        ("const1", "Q 0", True),
        ("const0", "Q 0", False),
        at_night("const0", "Q 1", True),
        at_night("const1", "Q 1", False),
    ],
)
def test_first_values_of_registers(mode: str, port: str, is_same: bool) -> None:
    """One that keeps its value may as well be a constant, if it starts with it."""

    def build(m: Module, part: Any) -> None:
        kept = Signal(2, init=0b01, reset_less=True)
        m.d.sync += kept.eq(kept & 0b01)
        m.d.comb += part.shown.eq(kept)

    netlist = _netlist(_Part({"shown": Out(2)}, build))
    assert is_equivalent(netlist, _fault(netlist, mode, "$dff", port)) == is_same


@pytest.mark.parametrize(("port", "is_same"), [("Y 0", True), ("Y 1", False)])
def test_a_difference_may_be_stored_and_show_never(port: str, is_same: bool) -> None:
    """Registers differ; another one, behind them, may not."""

    def build(m: Module, part: Any) -> None:
        state = Signal(2)
        # The lower bit does not count, which no rule for a few gates tells.
        is_high = (state[1] & ~state[0]) | (state[1] & state[0])
        m.d.sync += [state.eq(part.bits + 1), part.shown.eq(is_high)]

    netlist = _netlist(_Part({"bits": In(2), "shown": Out(1)}, build))
    assert is_equivalent(netlist, _fault(netlist, "inv", "$add", port)) == is_same


def _kept() -> _Part:
    """Return a memory of a few words, of which half of what is read is shown."""

    def build(m: Module, part: Any) -> None:
        m.submodules.memory = memory = Memory(shape=4, depth=4, init=[])
        read, unread, write = memory.read_port(), memory.read_port(), memory.write_port()
        m.d.comb += [
            *(read.addr.eq(part.address), write.addr.eq(part.address), read.en.eq(1)),
            *(unread.addr.eq(~part.address), unread.en.eq(1)),
            *(write.data.eq(part.a), write.en.eq(part.write)),
            # What is not shown is computed: Yosys takes away only what is not.
            part.half.eq((read.data ^ Cat(part.a[:2], unread.data[:2]))[:2]),
        ]

    return _Part({"address": In(2), "write": In(1), "a": In(4), "half": Out(2)}, build)


@pytest.mark.parametrize(
    ("cell", "port", "is_same"),
    [
        at_night("memory", "RD_ADDR 0", False),
        at_night("memory", "RD_ADDR 2", True),
        at_night("memory", "RD_EN 0", False),
        at_night("memory", "RD_EN 1", True),
        at_night("memory", "WR_ADDR 1", False),
        ("memory", "WR_DATA 1", False),
        ("memory", "WR_DATA 2", True),
        at_night("memory", "WR_EN 0", False),
        at_night("memory", "WR_EN 3", True),
        at_night("memory", "RD_DATA 0", False),
        at_night("memory", "RD_DATA 3", True),
        at_night("$xor", "A 0", False),
        at_night("$xor", "A 2", True),
    ],
)
def test_faults_beside_memories(cell: str, port: str, is_same: bool) -> None:
    """Only what no bit that is read depends on may differ."""
    netlist = _netlist(_kept())
    assert is_equivalent(netlist, _fault(netlist, "inv", cell, port)) == is_same


@pytest.mark.parametrize(
    ("port", "is_same"),
    [
        ("A 3", False),
        ("A 4", True),
        at_night("B 0", False),
        at_night("Y 4", True),
        at_night("Y 3", False),
    ],
)
def test_faults_beside_multipliers(port: str, is_same: bool) -> None:
    """Lower bits of a product are those of lower bits of the operands."""

    def build(m: Module, part: Any) -> None:
        m.d.comb += part.low.eq((part.a * part.b)[:4])

    netlist = _netlist(_Part({"a": In(6), "b": In(6), "low": Out(4)}, build))
    assert is_equivalent(netlist, _fault(netlist, "inv", "$mul", port)) == is_same


@pytest.mark.nightly
def test_faults_in_one_netlist_do_not_mix(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each has its own answer, also where they can only be prepared one by one."""
    netlist = _netlist(_counter(200, 201))
    kinds = (("const0", "$eq", "Y 0"), ("const1", "$eq", "Y 0"), ("inv", "$eq", "B 0"))
    faults = [
        Fault(number, "", "", "", TOP, _fault(netlist, *kind).command)
        for number, kind in enumerate(kinds, 1)
    ]
    expected = [(1, Answer.NEVER), (2, Answer.ONCE), (3, Answer.ONCE)]

    def found() -> list[tuple[int, Answer]]:
        return [(fault.number, answer) for fault, _, answer in answers(netlist, faults)]

    assert found() == expected

    class Single(CutNetlist):
        def __init__(self, good: Any, module: str, faults: Any, folder: Any) -> None:
            if len(faults) > 1:
                raise ToolError("there may be one")
            super().__init__(good, module, faults, folder)

    monkeypatch.setattr(netlist_equivalence, "CutNetlist", Single)
    assert found() == expected


@pytest.mark.parametrize("is_single", [True, False])
def test_there_is_one_clock(is_single: bool) -> None:
    """Of registers of two clocks nothing is known: taken for those of one they are the same."""

    def build(m: Module, part: Any) -> None:
        a, b = Signal(reset_less=True), Signal(reset_less=True)
        m.d.sync += a.eq(part.bit)
        m.d["sync" if is_single else "other"] += b.eq(part.bit)
        m.d.comb += part.differs.eq(a ^ b)

    netlist = _netlist(_Part({"bit": In(1), "differs": Out(1)}, build))
    assert is_equivalent(netlist, _fault(netlist, "const0", "$xor", "Y 0")) == is_single
