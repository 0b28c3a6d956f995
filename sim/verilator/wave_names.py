"""Names of signals as viewers of waveforms take them."""

import re

__all__ = ["without_dots", "without_steps"]

_DECLARED = re.compile(r"^ +(?:(?:input|output) )?(?:wire|reg) (?:\[\d+:0\] )?\\(\S*\.\S*) ", re.M)
_ESCAPED = re.compile(r"\\(\S+) ")
_STEP = re.compile(r"\\(\$\d+) ")


def without_dots(verilog: str) -> str:
    """Return Verilog in which no signal has a dot in its name: ``__`` takes its place.

    Amaranth calls the field of a structure ``payload.kind``. To viewers a dot is the end of a
    scope: Surfer finds no signal of such a name.

    Parameters
    ----------
    verilog : str
        As Amaranth writes it; names of modules keep their dots.
    """
    fields = set(_DECLARED.findall(verilog))

    def renamed(found: re.Match[str]) -> str:
        return found[0].replace(".", "__") if found[1] in fields else found[0]

    return _ESCAPED.sub(renamed, verilog)


def without_steps(verilog: str) -> str:
    """Return Verilog whose waveforms leave out the steps within expressions: a third of all nets.

    Amaranth calls them ``$1``, ``$2``; Verilator traces no name that begins with an underscore.

    Parameters
    ----------
    verilog : str
        As Amaranth writes it.
    """
    return _STEP.sub(r"\\_\1 ", verilog)
