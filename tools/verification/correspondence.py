"""Which registers of a netlist for a board are those of its source, where names do not tell.

None of this is believed: whether the registers are the same is what the proof is of.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from tools.verification.nets import Bit, Nets, Place
from tools.verification.twins import twins

__all__ = ["Correspondence", "correspond"]

_SHIFT_REGISTERS = {"SRL16E": ("A0", "A1", "A2", "A3"), "SRLC32E": ("A",)}
"""Cells of the vendor that are registers in a row, with the number of the one that comes out."""


@dataclass
class Correspondence:
    """What was found.

    Parameters
    ----------
    held : list of tuple
        Bits of registers of the source that never have another value than their first one, where
        the netlist has a constant or nothing.
    absent : list of tuple
        Bits of registers of the source that the netlist does not have at all: they are not
        compared, and what they lead to must be equal without them.
    shifted : dict
        Bits of registers that are within a vendor's shift register: the word of the netlist that
        is this register, and the number of the bit.
    merged : dict
        Bits of registers that are one with others in the netlist: where those are in it.
    """

    held: list[Place] = field(default_factory=list)
    absent: list[Place] = field(default_factory=list)
    shifted: dict[Place, Place] = field(default_factory=dict)
    merged: dict[Place, Place] = field(default_factory=dict)


def correspond(gold: dict[str, Any], mapped: dict[str, Any]) -> Correspondence:
    """Find registers of a source in its netlist.

    Parameters
    ----------
    gold : dict
        Module of the source, as Yosys writes it in JSON, without hierarchy; registers are `$dff`.
        Bits that are held become constants in it, and bits lose the names by which they are not
        to be compared.
    mapped : dict
        Module of the netlist, of the vendor's cells.
    """
    source, netlist = Nets(gold), Nets(mapped)
    found = Correspondence(shifted=dict(_shifted(source, netlist)))
    found.held = _hold(source, netlist)
    for group in twins(source):
        places = [place for bit in group for place in source.names[bit]]
        there = [place for place in places if netlist.is_there(place)]
        inner = [found.shifted[place] for place in places if place in found.shifted]
        for bit in group:
            names = source.names[bit]
            if any(name in there or name in found.shifted for name in names):
                continue
            if there or inner:
                found.merged[names[0]] = [*there, *inner][0]
            else:
                found.absent.append(names[0])
    source.unname_first_values()
    _unname(source, netlist, found)
    return found


def _hold(source: Nets, netlist: Nets) -> list[Place]:
    """Make constants of bits that keep their first value, and that the netlist has no cell for."""
    held: dict[Bit, Bit] = {}
    is_more = True
    while is_more:
        more = {
            bit: value
            for bit, value in source.first.items()
            if bit not in held
            and (later := source.register_input(bit)) is not None
            # Held by itself, set to what it is, or to another bit that is held.
            and all(held.get(one, one) in {bit, value} for one in source.choices(later))
        }
        held |= more
        is_more = bool(more)
    held = {
        bit: value
        for bit, value in held.items()
        if not any(isinstance(netlist.bit(place), int) for place in source.names[bit])
    }
    source.replace(held)
    return [source.names[bit][0] for bit in held]


def _unname(source: Nets, netlist: Nets, found: Correspondence) -> None:
    """Leave one name to each bit of the source that is to be compared, and none to others.

    Yosys takes all that is one net of the netlist for one of the source: what is computed from a
    register, and is given the register's net, would be computed from itself. So that has no name.
    """
    given: dict[Bit, set[Bit]] = {}
    for bit, places in source.names.items():
        for place in filter(netlist.is_there, places):
            given.setdefault(netlist.bit(place), set()).add(bit)
    named: set[Bit] = set()
    for word, entry in source.module["netnames"].items():
        if word in source.module["ports"] or entry["hide_name"]:
            continue
        for index, bit in enumerate(entry["bits"]):
            place = word, index
            is_register = source.register_input(bit) is not None
            is_shared = len(given.get(netlist.bit(place), ())) > 1
            if source.is_given(bit) or bit in named or (is_shared and not is_register):
                entry["bits"][index] = source.fresh()
            elif netlist.is_there(place) or place in found.shifted or place in found.merged:
                named.add(bit)


def _shifted(source: Nets, netlist: Nets) -> Iterator[tuple[Place, Place]]:
    """Give the bits of registers within shift registers, from the last one back."""
    for name, cell, last in _shift_registers(netlist.module):
        for place in netlist.names.get(cell["connections"]["Q"][0], []):
            bit: Bit | None = source.bit(place)
            for index in range(last, -1, -1):
                if bit is None or source.register_input(bit) is None:
                    break
                yield source.names[bit][0], (f"{name}.r", index)
                bit = _taken_from(source, bit)


def _shift_registers(mapped: Mapping[str, Any]) -> Iterator[tuple[str, dict[str, Any], int]]:
    """Give the cells with the number of the bit that comes out, if that is fixed."""
    for name, cell in mapped["cells"].items():
        ports = _SHIFT_REGISTERS.get(cell["type"], ())
        bits = [bit for port in ports for bit in cell["connections"][port]]
        if bits and all(bit in {"0", "1"} for bit in bits):
            yield name, cell, int("".join(reversed(bits)), 2)


def _taken_from(source: Nets, bit: Bit) -> Bit | None:
    """Return the register that another one takes its bit from; None if there is not one."""
    later = source.register_input(bit)
    others = source.choices(later) - {bit} if later is not None else set()
    return others.pop() if len(others) == 1 else None
