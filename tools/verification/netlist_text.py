"""Names of bits in a netlist as Yosys writes it, in RTLIL."""

import re
from collections.abc import Iterator, Mapping

from tools.verification.nets import Place

__all__ = ["renamed"]

_CONNECT = re.compile(r"  connect (\{[^}]*\}|\S+(?: \[[\d:]+\])?) (.*)")
_X = re.compile(r"'[01z]*x")
_PART = re.compile(r"(\d+)'([01xz]+)|([\\$]\S+)(?: \[(\d+)(?::(\d+))?\])?")
_WIRE = re.compile(r"  wire (?:width (\d+) )?(.*?)(\S+)")
_OUTPUT = re.compile(r"output \d+")
_BUFFER = """  cell $pos {name}.buffer
    parameter \\A_SIGNED 0
    parameter \\A_WIDTH {width}
    parameter \\Y_WIDTH {width}
    connect \\A {name}.net
    connect \\Y {name}
  end"""


def renamed(text: str, *, widths: Mapping[str, int], more: Mapping[Place, Place]) -> str:
    """Return a netlist with the names by which it is compared with its source.

    Only words of one width are compared, ``x`` would be compared, too, and an output that is a
    register as well would be taken for this register.

    Parameters
    ----------
    text : str
        With the module ``top``.
    widths : mapping
        Of the words that have names in the source, in bits. The netlist's have as many then.
    more : mapping
        Bits of the source's words that the netlist does not have, and where it has them.
    """
    before, top, rest = text.partition("module \\top\n")
    body, end, after = rest.partition("\nend\n")
    wires = {
        match[3]: match
        for line in body.split("\n")
        if line.startswith("  wire ") and (match := _WIRE.fullmatch(line))
    }
    aside, again = {}, []
    for name, match in wires.items():
        width, wide = int(match[1] or 1), widths.get(name[1:], 0)
        output = _OUTPUT.search(match[2])
        if output:
            aside[name] = f"  wire width {width} {name}.net"
            again += [f"  wire width {width} {output[0]} {name}"]
            again += [_BUFFER.format(name=name, width=width)]
        elif width < wide and name.startswith("\\"):
            aside[name] = f"  wire width {width} {name}.net"
            again += [f"  wire width {wide} {name}"]
            again += [f"  connect {name} [{at}] {name}.net [{at}]" for at in range(width)]
    sizes = {name: int(match[1] or 1) for name, match in wires.items()}
    sizes |= {f"{name}.net": sizes[name] for name in aside}
    lines = _set_aside(body, aside, wires).split("\n")
    found = [new for line in lines for new in _without_x(line, sizes)]
    found += again
    for name in sorted({name for name, _ in more}):
        if f"\\{name}" not in wires:
            found.append(f"  wire width {widths[name]} \\{name}")
    for (name, index), (word, number) in sorted(more.items()):
        there = word if word.startswith("$") else f"\\{word}"
        there = f"{there}.net" if there in aside else there
        found.append(f"  connect \\{name} [{index}] {there} [{number}]")
    return before + top + "\n".join(found) + end + after


def _set_aside(body: str, aside: Mapping[str, str], wires: Mapping[str, re.Match[str]]) -> str:
    """Return a module where some words have other names, with the wires that they are then."""
    if not aside:
        return body
    names = "|".join(map(re.escape, sorted(aside, key=len, reverse=True)))
    body = re.sub(rf"(?<= )(?:{names})(?=[ \n]|$)", lambda match: f"{match[0]}.net", body)
    for name, wire in aside.items():
        body = body.replace(f"{wires[name][0]}.net\n", f"{wire}\n", 1)
    return body


def _without_x(line: str, wires: Mapping[str, int]) -> Iterator[str]:
    """Give a line, or of one that connects what has no value, the bits that have, one by one."""
    match = _CONNECT.fullmatch(line) if line.startswith("  connect ") else None
    if match is None or not _X.search(line):
        yield line
        return
    for target, value in zip(_bits(match[1], wires), _bits(match[2], wires), strict=True):
        if value != "1'x":
            yield f"  connect {target} {value}"


def _bits(text: str, wires: Mapping[str, int]) -> Iterator[str]:
    """Give the bits of a signal of RTLIL, the highest one first."""
    for width, value, name, high, low in _PART.findall(text):
        if width:
            filled = value.rjust(int(width), value[0] if value[0] in "xz" else "0")
            yield from (f"1'{digit}" for digit in filled)
        elif high:
            last = int(low or high)
            yield from (f"{name} [{index}]" for index in range(int(high), last - 1, -1))
        else:
            yield from (f"{name} [{index}]" for index in reversed(range(wires[name])))
