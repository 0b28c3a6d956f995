"""Faults in a netlist: Yosys' ``mutate`` puts many into one, of which one at a time is active."""

import re
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from kiwicha import cache
from tools.yosys import run_yosys

__all__ = ["SELECTED", "Fault", "FaultyNetlist", "faulty_netlist"]

SELECTED = "KIWICHA_FAULT"
"""Environment variable of simulators: the number of the active fault; none without it."""
_SELECT = "fault_select"
_BITS = 16
_NUMBER = rf"(getenv(\"{SELECTED}\") ? atoi(getenv(\"{SELECTED}\")) : 0)"
"""In C++."""
_MODULE = re.compile(r"^module \\(\S+)", re.MULTILINE)
_FIELDS = re.compile(r"-(\w+) (\S+)")
_DECLARED = re.compile(rf"^  (?:input|wire) \[{_BITS - 1}:0\] {_SELECT};\n", re.MULTILINE)
_CLOCK = re.compile(r" -port \w*CLK | -port clk | -wire clk ")
_INSTANCE = re.compile(r"\$\d+")


@dataclass(frozen=True)
class Fault:
    """A bit of a cell's port that is another than it should be.

    Parameters
    ----------
    number : int
        From 1 on, with gaps; 0 is no fault.
    module : str
        Path of its component, without numbers that Yosys adds.
    change : str
        What is done to the bit: it is inverted, is constant, or is so when another bit is.
    signal : str
        Name of the bit in the sources, as near as Yosys knows one.
    cell_module : str
        Name of the module in the netlist.
    command : str
        Of Yosys, which puts it into the netlist for good.
    """

    number: int
    module: str
    change: str
    signal: str
    cell_module: str
    command: str


@dataclass(frozen=True)
class FaultyNetlist:
    """A netlist with faults.

    Parameters
    ----------
    verilog : str
        All of them, for Verilator, selected by `SELECTED`.
    faults : tuple of Fault
        In the order of their numbers.
    good : Path
        The netlist that faults are put into, for Yosys.
    low : tuple of str
        Inputs that are never high where it is used, for proofs.
    """

    verilog: str
    faults: tuple[Fault, ...]
    good: Path
    low: tuple[str, ...] = ()


def faulty_netlist(
    text: str, top: str, group_of: Callable[[str], str | None], *, count: int, seed: int
) -> FaultyNetlist:
    """Put faults into a netlist, as many in each of its groups of modules.

    Parameters
    ----------
    text : str
        From `component_rtlil`.
    top : str
        Name of its uppermost module.
    group_of : callable
        Gives the group of a module, by its path; None if it has no faults.
    count : int
        Faults of each group, spread over its cells by Yosys.
    seed : int
        Of what is drawn.
    """
    groups = defaultdict(list)
    for module in _MODULE.findall(text):
        group = group_of(_path(module, top))
        if group is not None:
            groups[group].append(module)
    key = cache.digest([text, str(dict(groups)), str(count), str(seed), Path(__file__)])

    def make(folder: Path) -> None:
        _make(folder, text, top, groups, count=count, seed=seed)

    folder = cache.build("faults", key, make)
    lines = (folder / "faults.txt").read_text(encoding="utf-8").splitlines()
    # A clock is not a fault of logic: what Yosys proves takes it for granted.
    faults = tuple(
        _fault(number, line, top) for number, line in enumerate(lines, 1) if not _CLOCK.search(line)
    )
    verilog = (folder / "faulty.v").read_text(encoding="utf-8")
    return FaultyNetlist(verilog, faults, folder / "ready.il")


def _path(module: str, top: str) -> str:
    return _INSTANCE.sub("", module).removeprefix(top).removeprefix(".")


def _make(
    folder: Path,
    text: str,
    top: str,
    groups: Mapping[str, Sequence[str]],
    *,
    count: int,
    seed: int,
) -> None:
    (folder / "good.il").write_text(text, encoding="utf-8")
    prepare = ["read_rtlil good.il", f"hierarchy -top {top}", "proc", "opt_clean", "memory_collect"]
    lists = [
        f"mutate -list {count} -seed {seed + 1} -o list{number}.txt {' '.join(modules)}"
        for number, modules in enumerate(groups.values())
    ]
    run_yosys(["-p", "; ".join([*prepare, "write_rtlil ready.il", *lists])], folder)
    commands = []
    for number in range(len(groups)):
        commands += (folder / f"list{number}.txt").read_text(encoding="utf-8").splitlines()
    if len(commands) >= 1 << _BITS:
        raise ValueError(f"there may be {(1 << _BITS) - 1} faults, not {len(commands)}")
    (folder / "faults.txt").write_text("\n".join(commands), encoding="utf-8")
    selected = [
        command.replace("mutate ", f"mutate -ctrl {_SELECT} {_BITS} {number} ", 1)
        for number, command in enumerate(commands, 1)
    ]
    # A word of which a bit depends on another one is a loop to Verilator. The engine takes a fifth
    # less time where words are split into the parts that have other drivers.
    ends = ["splitnets -driver", "write_verilog -noattr mutated.v"]
    script = "\n".join(["read_rtlil ready.il", *selected, *ends])
    (folder / "all.ys").write_text(script, encoding="utf-8")
    run_yosys(["all.ys"], folder)
    mutated = (folder / "mutated.v").read_text(encoding="utf-8")
    (folder / "faulty.v").write_text(_selected(mutated, top), encoding="utf-8")
    for name in ("good.il", "mutated.v", "all.ys"):
        (folder / name).unlink()


def _selected(verilog: str, top: str) -> str:
    """Return Verilog whose uppermost module selects the fault itself instead of by a port."""
    start = re.search(rf"^module {top}\(([^;]*)\);\n", verilog, re.MULTILINE)
    assert start is not None
    end = verilog.index("endmodule", start.end())
    ports = [port for port in start[1].split(", ") if port.strip() != _SELECT]
    body = _DECLARED.sub("", verilog[start.end() : end])
    own = (
        f"module {top}({', '.join(ports)});\n"
        f"  reg [{_BITS - 1}:0] {_SELECT};\n"
        f'  initial {_SELECT} = $c("{_NUMBER}");\n'
    )
    return verilog[: start.start()] + own + body + verilog[end:]


def _fault(number: int, command: str, top: str) -> Fault:
    fields = dict(_FIELDS.findall(command))
    bit = f"[{fields['wirebit']}]" if "wirebit" in fields else ""
    port = f"{fields['cell'].split('$')[-2] if '$' in fields['cell'] else fields['cell']}"
    signal = f"{fields['wire']}{bit}" if "wire" in fields else f"{port}.{fields['port']}"
    module = fields["module"]
    return Fault(number, _path(module, top), fields["mode"], signal, module, command)
