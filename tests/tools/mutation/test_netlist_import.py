"""A component whose body comes from its netlist: it does what the component does."""

import dataclasses
import json
import os
import random
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from amaranth import Cat, Elaboratable, Module, Mux, ResetInserter, Signal
from amaranth.lib import wiring
from amaranth.lib.memory import Memory
from amaranth.lib.wiring import In, Out
from amaranth.sim import Simulator, SimulatorContext

from kiwicha.gateware.engine.control.command_unit import CommandUnit
from tools.mutation.component_faults import CHOICE, Choice, modules_of
from tools.mutation.first_values import keep_first_values
from tools.mutation.netlist_faults import faulty_netlist
from tools.mutation.netlist_import import body_of_netlist
from tools.mutation.same_place import same_cell, same_module
from tools.yosys import component_rtlil

PREPARE = "proc; opt_clean; memory_collect; flatten; opt_clean"
CYCLES = 400
NEVER_RESET_BITS = 5
REPOSITORY = Path(__file__).parents[3]


class Everything(wiring.Component):
    """Cells of all kinds: arithmetic, shifts, choices, registers, a memory read in two ways."""

    def __init__(self) -> None:
        super().__init__({
            "a": In(9),
            "b": In(4),
            "clear": In(1),
            "y": Out(64),
            "kept": Out(9),
            "never_reset": Out(NEVER_RESET_BITS),
            "read": Out(18),
        })

    def elaborate(self, platform: object) -> Module:
        """Build them."""
        m = Module()
        m.submodules.memory = memory = Memory(shape=9, depth=16, init=[5, 7, 11])
        write = memory.write_port(granularity=3)
        late, now = memory.read_port(transparent_for=[write]), memory.read_port(domain="comb")
        a, b = self.a.as_signed(), self.b
        never_reset = Signal(NEVER_RESET_BITS, init=19, reset_less=True)
        m.d.comb += [
            write.addr.eq(b),
            write.data.eq(self.a),
            write.en.eq(b[:3]),
            late.addr.eq(b ^ self.a[0]),
            late.en.eq(b[3]),
            now.addr.eq(self.a[:4]),
            self.read.eq(Cat(late.data, now.data)),
            self.never_reset.eq(never_reset),
        ]
        parts = [(a + b)[:10], (a - b)[:10], (self.a * b)[:8], a >> b[:2], (self.a << b[:3])[:9]]
        parts += [a < b.as_signed(), a <= 3, a > b, a >= 7, a == b, a != b, a.any(), b.all()]
        parts += [self.a % 5, self.a // 3, ~a & b, a ^ b, -b, self.a.bit_select(b, 2)]
        with m.Switch(b):
            with m.Case(1, 4):
                m.d.sync += self.kept.eq(self.a)
            with m.Case(2):
                m.d.sync += self.kept.eq(self.kept + 1)
            with m.Case("1--1"):
                m.d.sync += never_reset.eq(never_reset - 1)
        m.d.comb += self.y.eq(Cat(Mux(b[0], part, part[::-1]) for part in parts))
        return m


def flat(component: Any, change: str = "") -> dict[str, Any]:
    """Return a component's netlist, of one module."""
    steps = f"{PREPARE}; {change}" if change else PREPARE
    return modules_of(component_rtlil(component, "top"), steps)


def imported(component: Any, change: str = "") -> Elaboratable:
    """Return a component's body by way of its netlist."""
    good, netlist = (flat(type(component)(), item) for item in ("", change))
    keep_first_values(netlist["modules"]["top"], good["modules"]["top"])
    component.elaborate = lambda platform: body_of_netlist(component, netlist)
    return component


def outputs(component: Any, *, clears: bool) -> list[tuple[int, ...]]:
    """Return what a component shows in each cycle."""
    shown = []
    rng = random.Random(3)

    async def bench(ctx: SimulatorContext) -> None:
        for _ in range(CYCLES):
            ctx.set(component.a, rng.getrandbits(9))
            ctx.set(component.b, rng.getrandbits(4))
            ctx.set(component.clear, rng.random() < 0.1)
            ports = (component.y, component.kept, component.never_reset, component.read)
            shown.append(tuple(ctx.get(port) for port in ports))
            await ctx.tick()

    simulator = Simulator(ResetInserter(component.clear)(component) if clears else component)
    simulator.add_clock(1e-6)
    simulator.add_testbench(bench)
    simulator.run()
    return shown


@pytest.mark.parametrize("clears", [False, True])
def test_does_what_the_component_does(clears: bool) -> None:
    assert outputs(imported(Everything()), clears=clears) == outputs(Everything(), clears=clears)


def test_shows_a_fault() -> None:
    change = "chtype -set $sub t:$add"
    assert outputs(imported(Everything(), change), clears=False) != outputs(
        Everything(), clears=False
    )


def test_registers_keep_their_first_values() -> None:
    """A fault takes them away, where Yosys knows them; two that cancel out change nothing."""
    cells = flat(Everything())["modules"]["top"]["cells"].items()
    (register,) = (
        name
        for name, cell in cells
        if cell["type"] == "$dff" and len(cell["connections"]["Q"]) == NEVER_RESET_BITS
    )
    change = f"mutate -mode inv -module top -cell {register} -port Q -portbit 1"
    twice = imported(Everything(), f"{change}; {change}")
    assert outputs(twice, clears=False) == outputs(Everything(), clears=False)


class Surrounded(wiring.Component):
    """A `CommandUnit` beside others, reset by more than the usual reset."""

    def __init__(self) -> None:
        super().__init__({"clear": In(1), "shown": Out(32)})

    def elaborate(self, platform: object) -> Module:
        """Build them."""
        m = Module()
        m.submodules.first = CommandUnit()
        m.submodules.unit = unit = ResetInserter(self.clear)(CommandUnit())
        m.d.comb += self.shown.eq(unit.sequencer.watchdog_cycles)
        return m


def register_name(module: dict[str, Any], cell: str) -> set[str]:
    """Return the names that a register has in the source."""
    (bit, *_) = module["cells"][cell]["connections"]["Q"]
    names = module["netnames"].items()
    return {name for name, word in names if bit in word["bits"] and not word["hide_name"]}


def test_a_cell_is_found_in_the_component_alone() -> None:
    """Registers have other numbers, and another reset."""
    there = modules_of(component_rtlil(Surrounded(), "whole"))["modules"]
    alone = modules_of(component_rtlil(CommandUnit(), "top"))["modules"]
    theirs, own = there["whole.unit"], alone["top"]
    registers = [name for name, cell in theirs["cells"].items() if cell["type"] == "$dff"]
    found = {name: same_cell(theirs, name, own) for name in registers}
    assert len(set(found.values())) == len(registers) > 3
    for name, same in found.items():
        assert same is not None
        assert register_name(theirs, name) <= register_name(own, same)
    assert same_module(theirs, alone, "top$7") == "top"
    assert same_module(theirs, alone, "other") is None


@pytest.mark.parametrize(("mode", "is_seen"), [("inv", True), ("", False)])
def test_tests_of_a_component_get_the_fault(tmp_path: Path, mode: str, is_seen: bool) -> None:
    text = component_rtlil(CommandUnit(), "top")
    netlist = faulty_netlist(text, "top", lambda path: path, count=4, seed=0)
    modules = modules_of(text)["modules"]["top"]
    register = next(name for name, cell in modules["cells"].items() if cell["type"] == "$dff")
    command = f"mutate -mode {mode} -module top -cell {register} -port D -portbit 0" if mode else ""
    placed, path = tmp_path / "placed", tmp_path / "choice.json"
    choice = Choice(
        CommandUnit.__module__, "CommandUnit", str(netlist.good), "top", command, str(placed)
    )
    path.write_text(json.dumps(dataclasses.asdict(choice)), encoding="utf-8")
    options = ["-x", "-q", "-p", "tools.mutation.component_faults", "-p", "no:cacheprovider"]
    paths = os.pathsep.join([str(REPOSITORY), os.environ.get("PYTHONPATH", "")])
    done = subprocess.run(
        [
            sys.executable,
            "-m",
            "pytest",
            *options,
            "tests/gateware/engine/control/test_command_unit.py",
        ],
        cwd=REPOSITORY,
        env={**os.environ, "PYTHONPATH": paths, CHOICE: str(path)},
        capture_output=True,
        check=False,
    )
    assert bool(done.returncode) == is_seen
    assert placed.read_text(encoding="utf-8").strip() == command.strip() or mode
