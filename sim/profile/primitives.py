"""What drives each net of the CFU's Verilog: the primitives of the netlist that Amaranth gives."""

import enum
import re
from collections.abc import Iterator
from dataclasses import dataclass, field

__all__ = ["Access", "Module", "Primitive", "modules_of"]

_NAME = r"\\\S+(?= )|[A-Za-z_][\w$]*"
_MODULE = re.compile(rf"^module ({_NAME})")
_INSTANCE = re.compile(rf"^  ({_NAME}) +({_NAME}) ?\($")
_MEMORY = re.compile(rf"^  reg (?:\[(\d+):0\] )?({_NAME}) ?\[\d+:0\];")
_CONDITION = re.compile(r"^ +if \((.*)\)$")
_CLOCKED = re.compile(rf"^ +({_NAME}) ?(\[.*\])? <= (.*);$")
_COMBINATIONAL = re.compile(rf"^ +(assign )?({_NAME}) ?(\[[\d:]+\])? ?= (.*);$")
_PART = re.compile(r"\]\[(\d+)(?::(\d+))?\]$")
_NET = re.compile(rf"^({_NAME}) ?(\[\d+\])?$")
_OPERATOR = re.compile(r"[-+*/%&|^~!<>=?]")
_WORDS = re.compile(rf"{_NAME}|\$\w+")
_PRODUCT = re.compile(r" \* ")
_CONSTANT_FACTOR = re.compile(r"\d+'s?[bdh][0-9a-fx]+ \*|\* \d+'s?[bdh][0-9a-fx]+$")


class Primitive(enum.StrEnum):
    """A kind of primitive."""

    FLIP_FLOP = "flip-flops"
    MULTIPLIER = "multipliers"
    """Of two numbers that are no constants."""
    MEMORY = "memories"
    """Those that are read at an edge of the clock: block RAM."""
    LOGIC = "logic"
    """All else: operators, multiplexers, memories that are read in between."""


@dataclass(frozen=True)
class Access:
    """A port of a memory that is read or written at an edge of the clock.

    Parameters
    ----------
    enable : str
        The net without which nothing happens; empty if there is none.
    bits : int
        Read or written.
    """

    enable: str
    bits: int


@dataclass
class Module:
    """A module.

    Parameters
    ----------
    drivers : dict
        What drives a net, for those that a primitive of this module drives: other names of the
        same net are not among them.
    accesses : list of Access
        Of memories.
    instances : dict
        Names of modules by names of instances.
    """

    drivers: dict[str, Primitive] = field(default_factory=dict)
    accesses: list[Access] = field(default_factory=list)
    instances: dict[str, str] = field(default_factory=dict)


def modules_of(verilog: str) -> dict[str, Module]:
    """Return the modules by their names.

    Parameters
    ----------
    verilog : str
        As Amaranth writes it: a statement in each line.
    """
    return dict(_modules(verilog.splitlines()))


def _modules(lines: list[str]) -> Iterator[tuple[str, Module]]:
    starts = [index for index, line in enumerate(lines) if line.startswith("module ")]
    for start, end in zip(starts, [*starts[1:], len(lines)], strict=True):
        name = _MODULE.match(lines[start])
        assert name is not None, lines[start]
        yield _plain(name[1]), _module(lines[start:end])


def _module(lines: list[str]) -> Module:
    module = Module()
    memories = {
        _plain(found[2]): int(found[1] or 0) + 1 for found in map(_MEMORY.match, lines) if found
    }
    clocked = [found for found in map(_CLOCKED.match, lines) if found]
    # Without such a read it is made of LUTs.
    blocks = {_read(found[3], memories) for found in clocked}
    condition = ""
    for line in lines:
        if found := _CLOCKED.match(line):
            target, source = _plain(found[1]), _read(found[3], memories)
            if target in memories:
                if target in blocks:
                    module.accesses.append(
                        Access(_enable(condition), _bits(found[2], memories[target]))
                    )
            elif source is None:
                module.drivers[target] = Primitive.FLIP_FLOP
            else:
                module.drivers[target] = Primitive.MEMORY
                module.accesses.append(Access(_enable(condition), memories[source]))
        elif found := _COMBINATIONAL.match(line):
            _add_combinational(module, memories, found)
        elif found := _INSTANCE.match(line):
            module.instances[_plain(found[2])] = _plain(found[1])
        found = _CONDITION.match(line)
        condition = found[1] if found else ""
    return module


def _read(value: str, memories: dict[str, int]) -> str | None:
    """Return the memory that a value is read from."""
    found = re.match(_NAME, value)
    name = "" if found is None else _plain(found[0])
    return name if name in memories else None


def _bits(index: str | None, width: int) -> int:
    """Return how many bits a write to ``memory[address]`` or ``memory[address][8:0]`` changes."""
    parts = _PART.search(index or "")
    return width if parts is None else int(parts[1]) - int(parts[2] or parts[1]) + 1


def _enable(condition: str) -> str:
    """Return the net of a condition; one that is computed in place counts as always true."""
    found = _NET.match(condition)
    return "" if found is None else _plain(found[1]) + (found[2] or "")


def _add_combinational(module: Module, memories: dict[str, int], found: re.Match[str]) -> None:
    target, value = _plain(found[2]), found[4]
    if target in memories:
        return
    is_read = _read(value, memories) is not None
    if found[1] and not is_read and not _OPERATOR.search(_WORDS.sub("", value)):
        # Another name of a net, or of parts of some.
        return
    is_product = _PRODUCT.search(value) and not _CONSTANT_FACTOR.search(value)
    module.drivers[target] = Primitive.MULTIPLIER if is_product else Primitive.LOGIC


def _plain(name: str) -> str:
    return name.removeprefix("\\").strip()
