"""Contents of memories when power comes on, as Verilog tells them."""

import re

__all__ = ["without_zeros"]

_ZERO_WORD = re.compile(r"^ +\S+\[\d+\] = \d+'h0+;\n", re.M)


def without_zeros(verilog: str) -> str:
    """Return Verilog whose memories are not told to start with words of zero.

    A simulator with ``--x-initial 0`` starts them so anyway. Amaranth tells it of every word, and
    Verilator makes code of each: for scratchpads that is most of what there is to compile.

    Parameters
    ----------
    verilog : str
        As Amaranth writes it.
    """
    return _ZERO_WORD.sub("", verilog)
