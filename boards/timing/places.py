"""Where the source says what a design is made of: file and line of every signal and memory."""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from amaranth import Elaboratable, Signal
from amaranth.back import rtlil

__all__ = ["Place", "source_places"]

_ROOT = Path(__file__).parents[2]
_SOURCE = re.compile(r'attribute \\src "(.*):(\d+)"$')
_MODULE = re.compile(r"module \\(\S+)$")
_DECLARATION = re.compile(r"(?:wire|memory) (?:.* )?\\(\S+)$")
_REGISTER = re.compile(r"connect \\Q \\(\S+)")


@dataclass(frozen=True)
class Place:
    """Where something is declared.

    Parameters
    ----------
    source : str
        File below the project's folder, and line; for what a library declares, those of the
        component that it is in. Empty if that is in a library, too.
    is_register : bool
        It is a signal that a flip-flop drives.
    """

    source: str
    is_register: bool = False


def source_places(design: Elaboratable, ports: Iterable[Signal], top: str) -> dict[str, Place]:
    """Return the place of each component, signal and memory of a design.

    Parameters
    ----------
    design : Elaboratable
        What is elaborated.
    ports : iterable of Signal
        Its ports.
    top : str
        Name of its top module.

    Returns
    -------
    dict
        By path: the names of modules below the top, and of the signal, with dots between them. A
        component is declared where its ``elaborate`` begins.
    """
    text: str = rtlil.convert(design, name=top, ports=list(ports), emit_src=True)
    prefix, source, component = "", "", ""
    places: dict[str, Place] = {}
    for line in map(str.strip, text.splitlines()):
        if match := _SOURCE.match(line):
            source = _below_root(match[1], match[2])
        elif match := _MODULE.match(line):
            component = source
            path = match[1].removeprefix(top).removeprefix(".")
            places[path] = Place(component)
            prefix = f"{path}." if path else ""
        elif match := _DECLARATION.match(line):
            places[prefix + match[1]] = Place(source or component)
        elif match := _REGISTER.match(line):
            # The source of the flip-flop is that of the signal; the wire's may be that of a port.
            places[prefix + match[1]] = Place(source or component, is_register=True)
    return places


def _below_root(file: str, line: str) -> str:
    path = Path(file)
    if not path.is_relative_to(_ROOT):
        return ""
    # A virtual environment, with the libraries, can lie in the project's folder.
    below = path.relative_to(_ROOT)
    return "" if "site-packages" in below.parts else f"{below.as_posix()}:{line}"
