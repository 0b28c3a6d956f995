"""Small netlists, written by hand."""

from typing import Any

from kiwicha.boards.timing.netlist import Netlist, read_netlist

__all__ = ["Design"]

_OUTPUTS = {"O", "Q", "CO", "P", "PCOUT", "DOADO", "DOBDO", "DOA", "DOB", "Q31"}
_TOP = "top"


class Design:
    """A netlist to which cells are added; its clock is net `clock`."""

    def __init__(self) -> None:
        self._nets = 1
        self._cells: dict[str, Any] = {}
        self._ports: dict[str, Any] = {}
        self._names: dict[str, Any] = {}
        self.clock = self.input("clk")

    def net(self) -> int:
        """Return a new net."""
        self._nets += 1
        return self._nets

    def input(self, name: str) -> int:
        """Add a port and return its net."""
        net = self.net()
        self._port(name, "input", [net])
        return net

    def output(self, name: str, net: int) -> None:
        """Add a port that shows a net."""
        self._port(name, "output", [net])

    def _port(self, name: str, direction: str, nets: list[int]) -> None:
        self._ports[name] = {"direction": direction, "bits": nets}
        self._names[name] = {"bits": nets, "attributes": {}}

    def signal(self, path: str, *nets: int) -> None:
        """Give nets the name of a signal, from bit 0 on."""
        attributes = {"hdlname": path.replace(".", " ")}
        self._names[path] = {"bits": list(nets), "attributes": attributes}

    def cell(
        self,
        kind: str,
        connections: dict[str, int | list[int]],
        *,
        name: str = "",
        **parameters: str | int,
    ) -> None:
        """Add a cell; nets below 2 are constants."""
        bits = {
            port: [
                str(net) if net < 2 else net for net in (nets if isinstance(nets, list) else [nets])
            ]
            for port, nets in connections.items()
        }
        self._cells[name or f"{kind}_{len(self._cells)}"] = {
            "type": kind,
            "parameters": {
                key: f"{value:b}" if isinstance(value, int) else value
                for key, value in parameters.items()
            },
            "port_directions": {port: "output" if port in _OUTPUTS else "input" for port in bits},
            "connections": bits,
        }

    def lut(self, *inputs: int) -> int:
        """Add a LUT and return its output."""
        output = self.net()
        ports: dict[str, int | list[int]] = {f"I{n}": net for n, net in enumerate(inputs)}
        self.cell(f"LUT{len(inputs)}", {**ports, "O": output})
        return output

    def flip_flop(self, d: int = 0, *, name: str = "", ce: int = 1, r: int = 0) -> int:
        """Add a flip-flop and return its output."""
        q = self.net()
        self.cell("FDRE", {"C": self.clock, "D": d, "CE": ce, "R": r, "Q": q}, name=name)
        return q

    def to_json(self) -> dict[str, Any]:
        """Return what Yosys would write."""
        module = {"cells": self._cells, "ports": self._ports, "netnames": self._names}
        return {"modules": {_TOP: module}}

    def netlist(self) -> Netlist:
        """Return it as it is read."""
        return read_netlist(self.to_json(), _TOP)
