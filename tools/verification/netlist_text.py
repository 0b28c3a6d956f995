"""Names of bits in a netlist as Yosys writes it, in RTLIL."""

import re
from collections.abc import Iterator, Mapping

from tools.verification.nets import Place

__all__ = ["renamed"]

_CONNECT = re.compile(r"  connect (\{[^}]*\}|\S+(?: \[[\d:]+\])?) (.*)")
_X = re.compile(r"'[01z]*x")
_PART = re.compile(r"(\d+)'([01xz]+)|([\\$]\S+)(?: \[(\d+)(?::(\d+))?\])?")
_WIRE = re.compile(r"  wire (?:width (\d+) )?.*?(\S+)")
_OUTPUT = re.compile(r"  wire (?:width (\d+) )?.*?(output \d+) .*?(\S+)")
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
    body, ports = _without_outputs(body)
    lines = body.split("\n")
    wires = {
        match[2]: int(match[1] or 1)
        for line in lines
        if line.startswith("  wire ") and (match := _WIRE.fullmatch(line))
    }
    found = [new for line in lines for new in _line(line, wires, widths)]
    for name in sorted({name for name, _ in more}):
        if f"\\{name}" not in wires:
            found.append(f"  wire width {widths[name]} \\{name}")
    for (name, index), (word, number) in sorted(more.items()):
        there = word if word.startswith("$") else f"\\{word}"
        there = f"{there}.net" if there in ports else there
        found.append(f"  connect \\{name} [{index}] {there} [{number}]")
    return before + top + "\n".join([*found, *ports.values()]) + end + after


def _without_outputs(body: str) -> tuple[str, dict[str, str]]:
    """Return a module whose outputs have other names, and what gives them theirs."""
    outputs = {match[3]: match for line in body.split("\n") if (match := _OUTPUT.fullmatch(line))}
    if not outputs:
        return body, {}
    names = "|".join(map(re.escape, sorted(outputs, key=len, reverse=True)))
    body = re.sub(rf"(?<= )(?:{names})(?=[ \n]|$)", lambda match: f"{match[0]}.net", body)
    ports = {}
    for name, match in outputs.items():
        width = int(match[1] or 1)
        body = body.replace(
            match[0].replace(name, f"{name}.net"), f"  wire width {width} {name}.net"
        )
        ports[name] = f"  wire width {width} {match[2]} {name}\n" + _BUFFER.format(
            name=name, width=width
        )
    return body, ports


def _line(line: str, wires: Mapping[str, int], widths: Mapping[str, int]) -> Iterator[str]:
    """Give a line, or what is in its place."""
    if line.startswith("  wire "):
        match = _WIRE.fullmatch(line)
        width = widths.get(match[2][1:], 0) if match and match[2].startswith("\\") else 0
        is_narrow = match is not None and int(match[1] or 1) < width
        yield f"  wire width {width} {match[2]}" if match and is_narrow else line
    elif line.startswith("  connect ") and _X.search(line):
        yield from _without_x(line, wires)
    else:
        yield line


def _without_x(line: str, wires: Mapping[str, int]) -> Iterator[str]:
    """Give connections of the bits that have a value, one by one."""
    match = _CONNECT.fullmatch(line)
    assert match is not None
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
