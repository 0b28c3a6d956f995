"""Netlists of AND gates and registers in binary AIGER, as Yosys writes and ABC reads them."""

from dataclasses import dataclass
from pathlib import Path

from kiwicha.errors import ToolError

__all__ = ["Gates", "Pin", "read_aiger", "write_aiger"]

_MORE = 0x80
"""Set in each byte of a number but its last."""
_BITS = 7

Pin = tuple[str, int]
"""Name of a port, and which of its bits."""


@dataclass(frozen=True)
class Gates:
    """A netlist. A literal is twice the number of a variable, and one more if it is inverted.

    Variable 0 is the constant 0. Those of inputs come next, then registers, which all start with
    0, then gates, each behind those that it reads.

    Parameters
    ----------
    inputs : tuple of Pin
    registers : tuple of int
        Literals of their next values.
    gates : tuple of tuple of int
        Two literals each.
    outputs : tuple of tuple of Pin and int
        With their literals.
    """

    inputs: tuple[Pin, ...]
    registers: tuple[int, ...]
    gates: tuple[tuple[int, int], ...]
    outputs: tuple[tuple[Pin, int], ...]


def read_aiger(path: Path, names: Path) -> Gates:
    """Read a netlist.

    Parameters
    ----------
    path : Path
        From Yosys' ``write_aiger -zinit``.
    names : Path
        From its option ``-map``.

    Returns
    -------
    Gates
        Without outputs that are constants.

    Raises
    ------
    ToolError
        If a register has no first value.
    """
    pins: dict[str, dict[int, Pin]] = {"input": {}, "output": {}}
    for line in names.read_text(encoding="utf-8").splitlines():
        kind, *fields = line.split(" ", 3)
        if kind in pins:
            pins[kind][int(fields[0])] = (fields[2], int(fields[1]))
    data = path.read_bytes()
    header, place = _line(data, 0)
    _, inputs, registers, outputs, gates = map(int, header.split(" ")[1:6])
    if inputs != len(pins["input"]):
        raise ToolError(f"registers must have first values ({path.name})")
    following, shown = [], []
    for _ in range(registers):
        text, place = _line(data, place)
        following.append(int(text))
    for number in range(outputs):
        text, place = _line(data, place)
        # Constants have no names.
        if int(text) > 1 or number in pins["output"]:
            shown.append((pins["output"][number], int(text)))
    pairs = []
    for number in range(inputs + registers + 1, inputs + registers + gates + 1):
        first, place = _number(data, place)
        second, place = _number(data, place)
        pairs.append((2 * number - first, 2 * number - first - second))
    return Gates(
        tuple(pins["input"][number] for number in range(inputs)),
        tuple(following),
        tuple(pairs),
        tuple(shown),
    )


def write_aiger(path: Path, netlist: Gates) -> None:
    """Write a netlist, without names."""
    inputs, registers = len(netlist.inputs), len(netlist.registers)
    first = inputs + registers + 1
    numbers = (inputs, registers, len(netlist.outputs), len(netlist.gates))
    lines = [
        f"aig {' '.join(map(str, (first - 1 + len(netlist.gates), *numbers)))}",
        *map(str, netlist.registers),
        *(str(literal) for _, literal in netlist.outputs),
    ]
    data = bytearray("".join(f"{line}\n" for line in lines).encode())
    for number, pair in enumerate(netlist.gates, first):
        low, high = sorted(pair)
        _append(data, 2 * number - high)
        _append(data, high - low)
    path.write_bytes(data)


def _line(data: bytes, place: int) -> tuple[str, int]:
    end = data.index(b"\n", place)
    return data[place:end].decode(), end + 1


def _number(data: bytes, place: int) -> tuple[int, int]:
    number = shift = 0
    while True:
        byte = data[place]
        place += 1
        number |= (byte & ~_MORE) << shift
        shift += _BITS
        if not byte & _MORE:
            return number, place


def _append(data: bytearray, number: int) -> None:
    while number >= _MORE:
        data.append(number & (_MORE - 1) | _MORE)
        number >>= _BITS
    data.append(number)
