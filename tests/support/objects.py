"""What compiled objects say of themselves: what they refer to, and how much stack they take."""

import struct
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

__all__ = ["Objects", "read_objects"]

_CONTENTS, _SYMBOLS, _RELOCATIONS = 1, 2, 4
_WRITABLE = 1
_DATA = 1
"""Type of a symbol."""
_STACK_SIZES = ".stack_sizes"
_CONSTANTS, _CODE = ".rodata.", ".text."
_NO_CODE = (_STACK_SIZES, ".debug", ".eh")


@dataclass
class Objects:
    """Functions and data of objects; what is a single file's is called after its section.

    Parameters
    ----------
    frames : dict of str to int
        Bytes of stack that a function takes itself, with ``-fstack-size-section``.
    edges : dict of str to set of str
        What functions and data refer to: what they call, or others may call through them.
    writable : set of str
        Data that are no constants.
    undefined : set of str
        What no object has.
    """

    frames: dict[str, int] = field(default_factory=dict)
    edges: dict[str, set[str]] = field(default_factory=dict)
    writable: set[str] = field(default_factory=set)
    undefined: set[str] = field(default_factory=set)

    def depth(self, function: str, above: tuple[str, ...] = ()) -> int:
        """Return the bytes of stack that a call takes at most.

        Parameters
        ----------
        function : str
            What is called; what no object has takes nothing.
        above : tuple of str
            The functions that call it.
        """
        if above and _is_jump_table(above[-1], function):
            return 0
        assert function not in above, f"recursion: {' > '.join((*above, function))}"
        others = self.edges.get(function, ())
        below = max((self.depth(other, (*above, function)) for other in others), default=0)
        return self.frames.get(function, 0) + below


def _is_jump_table(data: str, function: str) -> bool:
    """Whether data are a function's own constants: places where it goes on."""
    return _CONSTANTS in data and data.rpartition(_CONSTANTS)[2] == function.rpartition(_CODE)[2]


def read_objects(objects: Iterable[tuple[str, bytes]]) -> Objects:
    """Return what objects of a 32-bit machine say.

    Parameters
    ----------
    objects : iterable of (str, bytes)
        Names and contents. Each function must have a section of its own.
    """
    found = Objects()
    defined: set[str] = set()
    for name, raw in objects:
        item = _Object(name, raw)
        item.add_to(found)
        defined |= item.defined
    found.undefined -= defined
    return found


class _Object:
    """One object, in ELF.

    Notes
    -----
    Ref: System V Application Binary Interface, edition 4.1, chapter 4.
    """

    def __init__(self, name: str, raw: bytes) -> None:
        self._raw = raw
        (sections_at,) = struct.unpack_from("<I", raw, 32)
        size, count, names = struct.unpack_from("<3H", raw, 46)
        self._sections = [
            struct.unpack_from("<10I", raw, sections_at + k * size) for k in range(count)
        ]
        self._names = [self._text(names, item[0]) for item in self._sections]
        (table,) = (item for item in self._sections if item[1] == _SYMBOLS)
        self._symbols = [
            (self._text(table[6], at_name), section, info >> 4 != 0, info & 15)
            for at_name, _, _, info, _, section in struct.iter_unpack(
                "<IIIBBH", self._contents(table)
            )
        ]
        self.defined = {text for text, section, is_global, _ in self._symbols if section}
        # Of a section: its global function, or by its own name.
        self._places = {k: f"{name}:{self._names[k]}" for k in range(1, count)}
        for text, section, is_global, _ in self._symbols:
            if is_global and section in self._places:
                self._places[section] = text

    def _text(self, section: int, at: int) -> str:
        begin = self._sections[section][4] + at
        return self._raw[begin : self._raw.index(b"\0", begin)].decode()

    def _contents(self, section: tuple[int, ...]) -> bytes:
        return self._raw[section[4] : section[4] + section[5]]

    def add_to(self, found: Objects) -> None:
        """Add what the object says."""
        for text, section, is_global, kind in self._symbols:
            if not section and is_global:
                found.undefined.add(text)
            elif 0 < section < len(self._sections) and kind == _DATA:
                if self._sections[section][2] & _WRITABLE:
                    found.writable.add(text)
        for number, section in enumerate(self._sections):
            applies_to = section[7]
            if self._names[number] == _STACK_SIZES:
                sizes = _stack_sizes(self._contents(section))
                found.frames[self._places[section[6]]] = max(sizes)
            elif section[1] == _RELOCATIONS and not self._names[applies_to].startswith(_NO_CODE):
                edges = found.edges.setdefault(self._places[applies_to], set())
                edges |= self._targets(section) - {self._places[applies_to]}

    def _targets(self, section: tuple[int, ...]) -> set[str]:
        targets = set()
        for _, info, _ in struct.iter_unpack("<IIi", self._contents(section)):
            text, place, _, _ = self._symbols[info >> 8]
            # Relaxation has relocations without a symbol.
            if info >> 8:
                targets.add(self._places.get(place, text))
        return targets


def _stack_sizes(raw: bytes) -> Iterator[int]:
    """Give the numbers of a section: each behind an address, seven bits in a byte."""
    at = 0
    while at < len(raw):
        at, size, bits = at + 4, 0, 0
        while True:
            size |= (raw[at] & 127) << bits
            at, bits = at + 1, bits + 7
            if not raw[at - 1] & 128:
                break
        yield size
