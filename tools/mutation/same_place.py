"""The cell of a component alone that is a given cell of the same component in a larger design.

Names of cells are numbers that differ. So cells are told by what they compute from ports, registers
and memories, which have the names of the source.
"""

import re
from collections.abc import Iterable, Mapping
from typing import Any

__all__ = ["Cells", "register_behind", "same_cell", "same_module", "same_port"]

Bit = int | str
Key = tuple[Any, ...]
_NUMBER = re.compile(r"\$\d+")
_LEAST_SHARE = 0.5
"""Of a module's cells that another one has, to be of the same source."""


def _known(name: str) -> str:
    """Return a name without the numbers that tell it from others."""
    return _NUMBER.sub("", name)


class Cells:
    """What each cell of a module computes.

    Parameters
    ----------
    module : dict
        As Yosys writes it in JSON; cells may be modules.
    others : dict
        Other names of its inputs, without numbers.
    """

    def __init__(self, module: Mapping[str, Any], others: Mapping[str, str] | None = None) -> None:
        self._module = module
        others = others or {}
        self._drivers: dict[Bit, tuple[str, str, int]] = {}
        self._names: dict[Bit, Key] = {}
        self._keys: dict[Bit, Any] = {}
        for name, cell in module["cells"].items():
            for port, bits in cell["connections"].items():
                if cell["port_directions"][port] == "output":
                    for index, bit in enumerate(bits):
                        self._drivers[bit] = name, port, index
        # Amaranth makes up names of ports, with numbers; the source's are behind them.
        words = module["netnames"].items()
        for word, entry in sorted(words, key=lambda item: ("$" in item[0], item[0])):
            if not entry["hide_name"]:
                for index, bit in enumerate(entry["bits"]):
                    name = _known(word)
                    self._names.setdefault(bit, (others.get(name, name), index))
        self.by_key: dict[Key, list[str]] = {}
        for name in module["cells"]:
            self.by_key.setdefault(self.key(name), []).append(name)

    def key(self, name: str) -> Key:
        """Return what a cell computes."""
        cell = self._module["cells"][name]
        if not cell["type"].startswith("$"):
            return "module", _known(name)
        if cell["type"] == "$mem_v2":
            return "memory", _known(name)
        if cell["type"] == "$dff":
            return "register", tuple(self._of(bit) for bit in cell["connections"]["Q"])
        parameters = tuple(sorted(cell["parameters"].items()))
        wires = cell["connections"]
        inputs = (port for port in wires if cell["port_directions"][port] == "input")
        words = tuple((port, *map(self._of, wires[port])) for port in sorted(inputs))
        return cell["type"], parameters, words

    def _of(self, bit: Bit) -> Any:
        """Return a number of what a bit is computed from."""
        if isinstance(bit, str):
            return bit
        if bit not in self._keys:
            # A loop, which only words have, is seen as such.
            self._keys[bit] = "loop"
            self._keys[bit] = hash(self._made_of(bit))
        return self._keys[bit]

    def _made_of(self, bit: Bit) -> Any:
        if bit not in self._drivers:
            return self._names.get(bit)
        name, port, index = self._drivers[bit]
        if self._module["cells"][name]["type"] == "$dff":
            return self._names.get(bit, ("register", index))
        return (*self.key(name), _known(port), index)


def _inputs(there: Mapping[str, Any], here: Mapping[str, Any]) -> dict[str, str]:
    """Return what inputs are called here that have another name there.

    Amaranth may name an input as the output that drives it is named. The last part is the same.
    """
    theirs, own = (
        {
            _known(name): (_known(name).split("__")[-1], len(port["bits"]))
            for name, port in module["ports"].items()
            if port["direction"] == "input"
        }
        for module in (there, here)
    )
    only_own = [name for name in own if name not in theirs]
    others = {}
    for name in theirs.keys() - own.keys():
        alike = [other for other in only_own if own[other] == theirs[name]]
        if len(alike) == 1:
            others[name] = alike[0]
    return others


def same_cell(there: Mapping[str, Any], name: str, here: Mapping[str, Any]) -> str | None:
    """Return the cell of a module that computes what a cell of another one does.

    Parameters
    ----------
    there, here : dict
        Modules as Yosys writes them in JSON, of the same source.
    name : str
        A cell of ``there``.

    Returns
    -------
    str or None
        Name of a cell of ``here``; None if none does, or if they are not as many.
    """
    theirs, own = Cells(there, _inputs(there, here)), Cells(here)
    key = theirs.key(name)
    same, found = theirs.by_key[key], own.by_key.get(key, [])
    return found[same.index(name)] if len(found) == len(same) else None


def same_port(name: str, ports: Iterable[str]) -> str | None:
    """Return the port of a name, or the only one that has it but for numbers."""
    known = [port for port in ports if _known(port) == _known(name)]
    return name if name in known else known[0] if len(known) == 1 else None


def register_behind(module: Mapping[str, Any], name: str) -> str | None:
    """Return the register that takes what a cell computes, through no more than its resets.

    A cell that resets a register may have no counterpart, where less is reset.

    Parameters
    ----------
    module : dict
        As Yosys writes it in JSON.
    name : str
        A cell that chooses between a constant and something else.
    """
    cells = module["cells"]
    while _resets(cells[name]):
        bits = cells[name]["connections"]["Y"]
        takers = [
            (other, port)
            for other, cell in cells.items()
            for port, wires in cell["connections"].items()
            if cell["port_directions"][port] == "input" and set(wires) & set(bits)
        ]
        if len(takers) != 1:
            return None
        ((name, port),) = takers
        if cells[name]["type"] == "$dff" and port == "D":
            return name if cells[name]["connections"]["D"] == bits else None
        if port != "A":
            return None
    return None


def _resets(cell: Mapping[str, Any]) -> bool:
    return cell["type"] == "$mux" and all(isinstance(bit, str) for bit in cell["connections"]["B"])


def same_module(
    there: Mapping[str, Any], modules: Mapping[str, Mapping[str, Any]], name: str | None
) -> str | None:
    """Return the name of the module that is of the same source as one of another netlist.

    Parameters
    ----------
    there : dict
        That one.
    modules : dict
        Those of this netlist.
    name : str or None
        What it is called, but for numbers; None if that is not known. Then it is the module that
        has the most of its cells.
    """
    if name is not None:
        named = [module for module in modules if _known(module) == _known(name)]
        return named[0] if len(named) == 1 else None
    count = len(there["cells"])
    shares = {}
    for module, entry in modules.items():
        theirs, own = Cells(there, _inputs(there, entry)).by_key, Cells(entry).by_key
        both = sum(min(len(names), len(own.get(key, []))) for key, names in theirs.items())
        shares[module] = both / max(count, len(entry["cells"]), 1)
    best = max(shares, key=lambda module: shares[module])
    return best if shares[best] >= _LEAST_SHARE else None
