"""Registers of a module that always have the same value, seen from what they are made of."""

from typing import Any

from tools.verification.nets import Bit, Nets

__all__ = ["twins"]

_BITWISE = {"$mux": "AB", "$and": "AB", "$or": "AB", "$xor": "AB", "$not": "A"}
"""Cells where a bit depends on those of the same number only, and their words."""


def twins(nets: Nets) -> list[list[Bit]]:
    """Return registers in groups: those of a group start alike, and become the same.

    Parameters
    ----------
    nets : Nets
        Its registers are `$dff` of one clock, and have names.
    """
    groups: dict[Bit, Any] = {bit: nets.first.get(bit) for bit in nets.registers()}
    count = 0
    # Registers of a group are taken to be the same; where what they become tells them apart they
    # are not, and others may not be either.
    while len(set(groups.values())) > count:
        count = len(set(groups.values()))
        values = _Values(nets, groups)
        groups = {bit: (group, values.after(bit)) for bit, group in groups.items()}
        numbers: dict[Any, int] = {}
        groups = {bit: numbers.setdefault(key, len(numbers)) for bit, key in groups.items()}
    found: dict[int, list[Bit]] = {}
    for bit, group in groups.items():
        found.setdefault(group, []).append(bit)
    return list(found.values())


class _Values:
    """Numbers of what bits are made of, if registers of a group are the same."""

    def __init__(self, nets: Nets, groups: dict[Bit, Any]) -> None:
        self._nets = nets
        self._groups = groups
        self._numbers: dict[Any, int] = {}
        self._known: dict[Bit, int] = {}
        self._cells: dict[int, int] = {}

    def after(self, bit: Bit) -> int:
        """Return the number of what a register becomes."""
        later = self._nets.register_input(bit)
        assert later is not None
        return self._of(later)

    def _of(self, bit: Bit) -> int:
        if bit not in self._known:
            self._known[bit] = self._number(self._made_of(bit))
        return self._known[bit]

    def _made_of(self, bit: Bit) -> Any:
        if bit in self._groups:
            return "register", self._groups[bit]
        cell, port, index = self._nets.origin(bit)
        if cell is None or cell["type"] == "$dff":
            return "bit", bit
        if cell["type"] in _BITWISE and all(
            index < len(cell["connections"][name]) for name in _BITWISE[cell["type"]]
        ):
            wires = cell["connections"]
            operands = tuple(self._of(wires[name][index]) for name in _BITWISE[cell["type"]])
            chosen = self._of(wires["S"][0]) if "S" in wires else None
            return cell["type"], operands, chosen
        if id(cell) not in self._cells:
            # Of a loop nothing is known but that it is one.
            self._cells[id(cell)] = self._number(("loop", id(cell)))
            inputs = tuple(
                (name, tuple(map(self._of, bits)))
                for name, bits in sorted(cell["connections"].items())
                if cell["port_directions"][name] == "input"
            )
            parameters = tuple(sorted(cell["parameters"].items()))
            self._cells[id(cell)] = self._number((cell["type"], parameters, inputs))
        return self._cells[id(cell)], port, index

    def _number(self, key: Any) -> int:
        return self._numbers.setdefault(key, len(self._numbers))
