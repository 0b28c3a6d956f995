"""Bits of a module as Yosys writes it in JSON: their names, what drives them, first values."""

from collections.abc import Iterator, Mapping
from typing import Any

__all__ = ["Bit", "Nets", "Place"]

Bit = int | str
"""Number of a net, or the value of a constant."""
Place = tuple[str, int]
"""Name and number of a bit."""
Origin = tuple[dict[str, Any] | None, str, int]
"""Cell that a bit comes out of, None if there is none, its port, and the number of the bit."""
_NOTHING: Origin = (None, "", 0)


class Nets:
    """A module without hierarchy.

    Parameters
    ----------
    module : dict
        Methods change it where they say so.

    Attributes
    ----------
    names : dict
        Where each bit is in words that have names of the source's.
    first : dict
        Values in which bits start.
    """

    def __init__(self, module: dict[str, Any]) -> None:
        self.module = module
        self._origins: dict[Bit, Origin] = {}
        self._last = 0
        for cell in module["cells"].values():
            for port, bits in cell["connections"].items():
                if cell["port_directions"][port] == "output":
                    self._origins |= {bit: (cell, port, at) for at, bit in enumerate(bits)}
        self._given = {
            bit
            for port in module["ports"].values()
            if port["direction"] == "input"
            for bit in port["bits"]
        }
        self.names: dict[Bit, list[Place]] = {}
        self.first: dict[Bit, str] = {}
        for name, entry in module["netnames"].items():
            values = entry["attributes"].get("init", "")[::-1]
            for index, bit in enumerate(entry["bits"]):
                if not entry["hide_name"]:
                    self.names.setdefault(bit, []).append((name, index))
                if values[index : index + 1] in {"0", "1"}:
                    self.first[bit] = values[index]
                if isinstance(bit, int):
                    self._last = max(self._last, bit)

    def bit(self, place: Place) -> Bit:
        """Return the bit of a name; ``x`` if there is no such name."""
        name, index = place
        entry = self.module["netnames"].get(name)
        bits: list[Bit] = entry["bits"] if entry else []
        return bits[index] if index < len(bits) else "x"

    def is_there(self, place: Place) -> bool:
        """Return whether something gives a bit its value."""
        bit = self.bit(place)
        return bit in {"0", "1"} or bit in self._origins or bit in self._given

    def origin(self, bit: Bit) -> Origin:
        """Return where a bit comes from."""
        return self._origins.get(bit, _NOTHING)

    def registers(self) -> Iterator[Bit]:
        """Give the bits of registers that have a name."""
        yield from (bit for bit in self.names if self.register_input(bit) is not None)

    def register_input(self, bit: Bit) -> Bit | None:
        """Return what a bit of a `$dff` becomes; None if it is of none."""
        cell, _, index = self.origin(bit)
        if cell is None or cell["type"] != "$dff":
            return None
        later: Bit = cell["connections"]["D"][index]
        return later

    def is_given(self, bit: Bit) -> bool:
        """Return whether a bit is an input or a constant."""
        return isinstance(bit, str) or bit in self._given

    def choices(self, bit: Bit) -> set[Bit]:
        """Return the bits that multiplexers choose from, to give this one."""
        found: set[Bit] = set()
        seen: set[Bit] = set()
        waiting = [bit]
        while waiting:
            one = waiting.pop()
            if one in seen:
                continue
            seen.add(one)
            cell, _, index = self.origin(one)
            if cell is not None and cell["type"] in {"$mux", "$pmux"}:
                wires = cell["connections"]
                waiting += [wires["A"][index], *wires["B"][index :: len(wires["Y"])]]
            else:
                found.add(one)
        return found

    def replace(self, values: Mapping[Bit, Bit]) -> None:
        """Let bits have other values, whatever drives them."""
        for cell in self.module["cells"].values():
            for port, bits in cell["connections"].items():
                if cell["port_directions"][port] == "output":
                    bits[:] = [self.fresh() if bit in values else bit for bit in bits]
                else:
                    bits[:] = [values.get(bit, bit) for bit in bits]
        for group in ("netnames", "ports"):
            for entry in self.module[group].values():
                entry["bits"] = [values.get(bit, bit) for bit in entry["bits"]]
        self.first = {bit: value for bit, value in self.first.items() if bit not in values}
        self._origins = {bit: cell for bit, cell in self._origins.items() if bit not in values}

    def unname_first_values(self) -> None:
        """Let registers have their first values from a word without a name."""
        names = self.module["netnames"]
        for entry in names.values():
            entry["attributes"].pop("init", None)
        bits = [bit for bit in self.first if self.register_input(bit) is not None]
        values = "".join(self.first[bit] for bit in reversed(bits))
        if bits:
            names["$first"] = {"hide_name": 1, "bits": bits, "attributes": {"init": values}}

    def fresh(self) -> int:
        """Return the number of a net that is not there yet."""
        self._last += 1
        return self._last
