"""Puts a fault into each component of a class that tests build: a plugin of pytest.

The fault is a place in another netlist of that component, such as that of the whole engine. What a
test builds gets it where a cell computes the same; what has no such cell stays as it is. Tests of
Amaranth's simulator, of cocotb and proofs see it alike.
"""

import contextlib
import dataclasses
import functools
import importlib
import json
import os
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from kiwicha import cache
from tests.support.gateware import proof
from tools.mutation.first_values import keep_first_values
from tools.mutation.netlist_import import body_of_netlist
from tools.mutation.same_place import register_behind, same_cell, same_module, same_port
from tools.yosys import component_rtlil, run_yosys

__all__ = ["CHOICE", "Choice", "modules_of"]

CHOICE = "KIWICHA_FAULTY_COMPONENT"
"""Environment variable: a JSON file with a `Choice`."""
_TOP = "top"
_PREPARE = "proc; opt_clean; memory_collect"
_FIELD = re.compile(r"-(\w+) (\S+)")


@dataclasses.dataclass(frozen=True)
class Choice:
    """A fault, and the class that gets it.

    Parameters
    ----------
    module, component : str
        Module of Python, and the class in it.
    netlist : str
        Netlist with the place of the fault, which Yosys reads.
    instance : str
        Name of the component's module in it.
    command : str
        Of Yosys, that puts the fault into that netlist; empty for none.
    placed : str
        A file to which a line is added for each design that has got the fault.
    """

    module: str
    component: str
    netlist: str
    instance: str
    command: str
    placed: str


def modules_of(text: str, prepare: str = _PREPARE) -> dict[str, Any]:
    """Return the modules of a netlist for Yosys, as JSON; made at most once."""

    def make(folder: Path) -> None:
        (folder / "in.il").write_text(text, encoding="utf-8")
        run_yosys(["-p", f"read_rtlil in.il; {prepare}; write_json out.json"], folder)
        (folder / "in.il").unlink()

    folder = cache.build("fault_modules", cache.digest([text, prepare]), make)
    netlist: dict[str, Any] = json.loads((folder / "out.json").read_text(encoding="utf-8"))
    return netlist


def _flat(text: str, change: str) -> dict[str, Any]:
    steps = (_PREPARE, change, f"hierarchy -top {_TOP}", "flatten", "opt_clean")
    return modules_of(text, "; ".join(filter(None, steps)))


@functools.cache
def _reference(path: str) -> dict[str, Any]:
    modules: dict[str, Any] = modules_of(Path(path).read_text(encoding="utf-8"), "")["modules"]
    return modules


def _placed(choice: Choice, text: str, instance: str | None) -> str | None:
    """Return the command that puts the fault into another netlist; None if it has no such place."""
    fields = dict(_FIELD.findall(choice.command))
    there = _reference(choice.netlist)[fields["module"]]
    modules = modules_of(text)["modules"]
    inner = fields["module"][len(choice.instance) :]
    name = same_module(there, modules, None if instance is None else instance + inner)
    if name is None:
        return None
    cell, port = same_cell(there, fields["cell"], modules[name]), fields["port"]
    if cell is None and port in {"A", "Y"}:
        register = register_behind(there, fields["cell"])
        cell, port = register and same_cell(there, register, modules[name]), "D"
    if cell is None:
        return None
    port = same_port(port, modules[name]["cells"][cell]["connections"])
    if port is None:
        return None
    changed = {"module": name, "cell": cell, "port": port}
    kept = [
        key for key in ("mode", "module", "cell", "port", "portbit", "ctrlbit") if key in fields
    ]
    return " ".join(["mutate", *(f"-{key} {changed.get(key, fields[key])}" for key in kept)])


def _note(choice: Choice, command: str) -> None:
    with Path(choice.placed).open("a", encoding="utf-8") as file:
        file.write(f"{command}\n")


def _patch(choice: Choice) -> None:
    kind = getattr(importlib.import_module(choice.module), choice.component)
    elaborate = kind.elaborate
    is_proof = False

    def faulty(component: Any, platform: object) -> Any:
        if is_proof:
            return elaborate(component, platform)
        kind.elaborate = elaborate
        try:
            text = component_rtlil(component, _TOP)
        finally:
            kind.elaborate = faulty
        command = _placed(choice, text, _TOP) if choice.command else ""
        if command is None:
            return elaborate(component, platform)
        _note(choice, command)
        good, netlist = (_flat(text, change) for change in ("", command))
        keep_first_values(netlist["modules"][_TOP], good["modules"][_TOP])
        return body_of_netlist(component, netlist)

    def faulty_text(text: str) -> str:
        command = _placed(choice, text, None) if choice.command else ""
        if command is None:
            return text
        _note(choice, command)

        def make(folder: Path) -> None:
            (folder / "in.il").write_text(text, encoding="utf-8")
            steps = ["read_rtlil in.il", _PREPARE, command, "write_rtlil out.il"]
            run_yosys(["-p", "; ".join(filter(None, steps))], folder)

        folder = cache.build("faulty_proofs", cache.digest([text, command]), make)
        return (folder / "out.il").read_text(encoding="utf-8")

    @contextlib.contextmanager
    def proving() -> Iterator[None]:
        nonlocal is_proof
        before, is_proof = is_proof, True
        try:
            yield
        finally:
            is_proof = before

    def while_proving(function: Callable[..., Any]) -> Callable[..., Any]:
        """Return a function in which components have the bodies that rules know."""

        @functools.wraps(function)
        def call(*arguments: Any, **named: Any) -> Any:
            with proving():
                return function(*arguments, **named)

        return call

    kind.elaborate = faulty
    proof.prove = while_proving(proof.prove)
    proof.body_of = while_proving(proof.body_of)
    proof.design_text = faulty_text


if os.environ.get(CHOICE):
    _patch(Choice(**json.loads(Path(os.environ[CHOICE]).read_text(encoding="utf-8"))))
