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

    def after(self, bit: Bit) -> int:
        """Return the number of what a register becomes."""
        later = self._nets.register_input(bit)
        assert later is not None
        return self._of(later)

    def _of(self, bit: Bit) -> int:
        """Return the number of a bit; first of what it is made of, and so on."""
        waiting, begun = [bit], set[Bit]()
        while waiting:
            one = waiting[-1]
            needed = [] if one in begun else self._needed(one)
            begun.add(one)
            more = [other for other in needed if other not in self._known]
            waiting += more
            if not more:
                waiting.pop()
                if one not in self._known:
                    self._known[one] = self._number(self._made_of(one))
        return self._known[bit]

    def _needed(self, bit: Bit) -> list[Bit]:
        """Return the bits that a bit is computed from."""
        cell, _, index = self._nets.origin(bit)
        if bit in self._groups or cell is None or cell["type"] == "$dff":
            return []
        wires = cell["connections"]
        if _is_bitwise(cell, index):
            chosen = wires["S"] if "S" in wires else []
            return [*(wires[name][index] for name in _BITWISE[cell["type"]]), *chosen]
        inputs = (name for name in wires if cell["port_directions"][name] == "input")
        return [bit for name in sorted(inputs) for bit in wires[name]]

    def _made_of(self, bit: Bit) -> Any:
        if bit in self._groups:
            return "register", self._groups[bit]
        cell, port, index = self._nets.origin(bit)
        if cell is None or cell["type"] == "$dff":
            return "bit", bit
        # Of a loop nothing is known but that it is one.
        inputs = tuple(self._known.get(one, ("loop", one)) for one in self._needed(bit))
        if _is_bitwise(cell, index):
            return cell["type"], inputs
        shape = tuple(sorted((name, len(bits)) for name, bits in cell["connections"].items()))
        parameters = tuple(sorted(cell["parameters"].items()))
        return cell["type"], parameters, shape, self._number(inputs), port, index

    def _number(self, key: Any) -> int:
        return self._numbers.setdefault(key, len(self._numbers))


def _is_bitwise(cell: dict[str, Any], index: int) -> bool:
    """Return whether a bit of a cell depends on those of its number only."""
    names = _BITWISE.get(cell["type"], "")
    return bool(names) and all(index < len(cell["connections"][name]) for name in names)
