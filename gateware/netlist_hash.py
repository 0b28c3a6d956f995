"""A hash of what a design is, whatever its modules, signals and files are called."""

import hashlib
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from amaranth import Elaboratable, Signal
from amaranth._toolchain.yosys import find_yosys
from amaranth.back import rtlil

__all__ = ["design_hash", "netlist_hash"]

_SCRIPT = ("proc", "flatten", "memory_collect", "opt_clean", "write_json")
_OLDEST_YOSYS = (0, 40)
_NAMES = {"MEMID", "hdlname", "module_src", "scopename", "src"}
"""Parameters and attributes of cells that are names."""
_NOTES = {"$scopeinfo"}
"""Cells that are no hardware."""
_STATE = ("$dff", "$adff", "$sdff", "$aldff", "$mem")
_COLOUR_BYTES = 8

_Bit = int | str


@dataclass(frozen=True)
class _Cell:
    """A cell of the flat netlist.

    Parameters
    ----------
    kind : bytes
        Hash of its type and parameters.
    is_gate : bool
        Its outputs follow its inputs in the same cycle.
    inputs, outputs : mapping
        The bits of each port.
    """

    kind: bytes
    is_gate: bool
    inputs: Mapping[str, list[_Bit]]
    outputs: Mapping[str, list[_Bit]]


def design_hash(design: Elaboratable, ports: Iterable[Signal]) -> str:
    """Return the `netlist_hash` of a design in Amaranth.

    Parameters
    ----------
    design : Elaboratable
        What is elaborated.
    ports : iterable of Signal
        Its ports, whose names count.
    """
    text: str = rtlil.convert(design, name="top", ports=list(ports), emit_src=False)
    return netlist_hash(text)


def netlist_hash(text: str) -> str:
    """Return a hash of a design: of its cells and how they are connected, without hierarchy.

    Two designs with equal hashes have the same cells in the same places between the same ports.
    Names of ports, parameters, initial values and attributes count; names of signals, instances
    and modules, the hierarchy, and the order of cells do not.

    Parameters
    ----------
    text : str
        RTLIL, with one top module.

    Returns
    -------
    str
        20 hexadecimal digits.

    Notes
    -----
    Every bit has a colour, which is a hash of all that it is computed from: of the colours of the
    inputs of the cell that drives it. A register's colour is refined round by round, until no
    round tells more registers apart.
    """
    yosys = find_yosys(lambda version: version >= _OLDEST_YOSYS)
    script = "\n".join([f"read_rtlil <<rtlil\n{text}\nrtlil", *_SCRIPT])
    written = yosys.run(["-q", "-"], script, ignore_warnings=True)
    (module,) = json.loads(written[written.index("{") :])["modules"].values()
    cells = _cells(module)
    colours: dict[_Bit, bytes] = {bit: _hash(bit.encode()) for bit in "01xz"}
    for name, port in module["ports"].items():
        if port["direction"] == "input":
            for index, bit in enumerate(port["bits"]):
                colours[bit] = _hash(b"input", name.encode(), str(index).encode())
    registers, gates = _in_order(cells)
    own = [_hash(cell.kind) for cell in registers]
    told_apart = 0
    while True:
        _paint(zip(registers, own, strict=True), colours)
        painted = []
        for cell in gates:
            painted.append(_hash(cell.kind, *_seen(cell, colours)))
            _paint([(cell, painted[-1])], colours)
        own = [
            _hash(colour, *_seen(cell, colours))
            for cell, colour in zip(registers, own, strict=True)
        ]
        if len(set(own)) <= told_apart:
            break
        told_apart = len(set(own))
    results = [
        _hash(name.encode(), *(colours.get(bit, b"") for bit in port["bits"]))
        for name, port in sorted(module["ports"].items())
        if port["direction"] != "input"
    ]
    return hashlib.sha256(b"".join([*sorted([*own, *painted]), *results])).hexdigest()[:20]


def _cells(module: Mapping[str, Any]) -> list[_Cell]:
    """Return the cells; the initial values of what they drive are part of their kind."""
    starts: dict[_Bit, str] = {}
    for net in module["netnames"].values():
        # The first character is the highest bit.
        values = reversed(net["attributes"].get("init", ""))
        for bit, value in zip(net["bits"], values, strict=False):
            if value in "01":
                starts[bit] = value
    wanted = [cell for cell in module["cells"].values() if cell["type"] not in _NOTES]
    driven = {
        bit
        for port in module["ports"].values()
        if port["direction"] == "input"
        for bit in port["bits"]
    }
    for cell in wanted:
        for name, way in cell.get("port_directions", {}).items():
            driven.update(cell["connections"][name] if way == "output" else ())
    return [_cell(cell, starts, driven) for cell in wanted]


def _cell(cell: Mapping[str, Any], starts: Mapping[_Bit, str], driven: set[_Bit]) -> _Cell:
    ways = cell.get("port_directions", {})
    ports: dict[str, dict[str, list[_Bit]]] = {"input": {}, "output": {}}
    for name, bits in sorted(cell["connections"].items()):
        # The ports of a vendor's cell have no direction: they drive what nothing else does.
        is_driver = not any(isinstance(bit, str) or bit in driven for bit in bits)
        ports[ways.get(name, "output" if is_driver else "input")][name] = bits
    facts = [
        (key, str(value))
        for group in ("parameters", "attributes")
        for key, value in sorted(cell[group].items())
        if key not in _NAMES
    ]
    first = ["".join(starts.get(bit, "-") for bit in bits) for bits in ports["output"].values()]
    return _Cell(
        kind=_hash(repr((cell["type"], facts, first)).encode()),
        is_gate=cell["type"].startswith("$") and not cell["type"].startswith(_STATE),
        inputs=ports["input"],
        outputs=ports["output"],
    )


def _in_order(cells: Iterable[_Cell]) -> tuple[list[_Cell], list[_Cell]]:
    """Return the registers, and the gates in an order in which each follows what it reads.

    Gates of a loop, and cells of the vendor, are among the registers.
    """
    gates = [cell for cell in cells if cell.is_gate]
    drivers = {
        bit: number
        for number, gate in enumerate(gates)
        for bits in gate.outputs.values()
        for bit in bits
    }
    readers: list[list[int]] = [[] for _ in gates]
    missing = []
    for number, gate in enumerate(gates):
        bits = (bit for bits in gate.inputs.values() for bit in bits)
        before = {drivers[bit] for bit in bits if bit in drivers}
        missing.append(len(before))
        for driver in before:
            readers[driver].append(number)
    order = [number for number, count in enumerate(missing) if not count]
    # The list grows while it is read.
    for number in order:
        for reader in readers[number]:
            missing[reader] -= 1
            if not missing[reader]:
                order.append(reader)
    looped = [gate for gate, count in zip(gates, missing, strict=True) if count]
    registers = [cell for cell in cells if not cell.is_gate]
    return [*registers, *looped], [gates[number] for number in order]


def _paint(cells: Iterable[tuple[_Cell, bytes]], colours: dict[_Bit, bytes]) -> None:
    """Give what cells drive its colour; a bit that several drive has one of them all."""
    painted: dict[_Bit, int] = {}
    for cell, colour in cells:
        for name, bits in cell.outputs.items():
            start = int.from_bytes(_hash(colour, name.encode()), "little")
            for index, bit in enumerate(bits):
                painted[bit] = painted.get(bit, 0) ^ (start + index) % 2 ** (8 * _COLOUR_BYTES)
    for bit, value in painted.items():
        colours[bit] = value.to_bytes(_COLOUR_BYTES, "little")


def _seen(cell: _Cell, colours: Mapping[_Bit, bytes]) -> Iterable[bytes]:
    """Yield what a cell reads: names of its ports and colours of their bits."""
    for name, bits in cell.inputs.items():
        yield name.encode()
        # What nothing drives has no colour.
        yield b"".join(colours.get(bit, b"") for bit in bits)


def _hash(*parts: bytes) -> bytes:
    state = hashlib.blake2b(digest_size=_COLOUR_BYTES)
    for part in parts:
        state.update(len(part).to_bytes(4, "little"))
        state.update(part)
    return state.digest()
