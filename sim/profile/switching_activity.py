"""Files in the Switching Activity Interchange Format (SAIF), as Verilator writes them.

Notes
-----
Ref: IEEE 1801-2018, annex I: an ``INSTANCE`` has nets and instances, a net its times at 0 and at 1
(``T0``, ``T1``) and its toggles (``TC``).
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass, field

__all__ = ["Instance", "Net", "read_activity"]

_INSTANCE = re.compile(r"^ *\(INSTANCE (\S+)$")
_NET = re.compile(r"^ *\((\S+?)(?:\\\[(\d+)\\\])? \(T0 \d+\) \(T1 (\d+)\).*\(TC (\d+)\)\)$")


@dataclass
class Net:
    """A net: for each of its bits, how long it was 1 and how often it changed."""

    high: list[int] = field(default_factory=list)
    toggles: list[int] = field(default_factory=list)


@dataclass
class Instance:
    """An instance of a module: its nets and the instances in it, by name."""

    nets: dict[str, Net] = field(default_factory=dict)
    instances: dict[str, "Instance"] = field(default_factory=dict)


def read_activity(lines: Iterable[str]) -> Instance:
    """Return the outermost instance of a file, which has no name.

    Parameters
    ----------
    lines : iterable of str
        The file, a bit of a net in each line, lowest bits first.
    """
    whole = Instance()
    # A parenthesis that closes alone ends an instance, or its list of nets.
    around: list[Instance | None] = []
    current = whole
    for line in lines:
        stripped = line.strip()
        if found := _NET.match(line):
            net = current.nets.setdefault(found[1].replace("\\", ""), Net())
            net.high.append(int(found[3]))
            net.toggles.append(int(found[4]))
        elif found := _INSTANCE.match(line):
            around.append(current)
            current = current.instances.setdefault(found[1], Instance())
        elif stripped == "(NET":
            around.append(None)
        elif stripped == ")" and around:
            outer = around.pop()
            current = outer or current
    return whole
