"""Numbers and layouts that the array's parts share, with each other and with the weight buffer."""

import enum

from amaranth import signed
from amaranth.lib import data

from kiwicha.contract.engine import PACKED_MACS

__all__ = [
    "ARRAY_SIZES",
    "LANES",
    "OPERAND_BITS",
    "PACKED_WEIGHT_BITS",
    "ArrayMode",
    "operation_layout",
    "sums_layout",
]

OPERAND_BITS = 9
"""Bits of an input less its zero point, and of a weight less its own."""
PACKED_WEIGHT_BITS = 8
"""Bits of a packed weight: the second one of a multiplier."""
LANES = 8
"""Cells of a chain pair; the first half of them is its lower chain."""
ARRAY_SIZES = (32, 64, *PACKED_MACS)
"""Products per cycle of the arrays that there are."""


class ArrayMode(enum.Enum):
    """What the chains compute."""

    CONV = 0
    """Every chain pair sums the products of the same 8 inputs with 8 weights: one output each."""
    DEPTHWISE_4 = 1
    """Lower chain of pair o: channel o, upper chain: channel o + outputs; up to 4 taps wide."""
    DEPTHWISE_8 = 2
    """Chain pair o: channel o; up to 8 taps wide."""
    TABLE = 3
    """No products: sums of what the weight memories hold."""
    PACKED = 4
    """As CONV, with two outputs for each chain pair."""
    MAX = 5
    """No products: the largest inputs."""
    PRODUCT = 6
    """Chain pair o: channel o; inputs by inputs."""


def operation_layout(tag_bits: int) -> data.StructLayout:
    """Return the layout of the array's operations; the fields are explained at `MacArray`."""
    return data.StructLayout({"first": 1, "shift": 1, "last": 1, "tag": tag_bits})


def sums_layout(*, outputs: int, lanes: int, tag_bits: int) -> data.StructLayout:
    """Return the layout of a beat of a result.

    Parameters
    ----------
    outputs : int
        Chain pairs of the array.
    lanes : int
        Sums of a beat.
    tag_bits : int
        Width of ``tag``.

    Returns
    -------
    StructLayout
        ``sums[o]`` of chain pair ``o + beat * lanes``; from pair ``outputs`` on of the upper chains
        of DEPTHWISE_4 and of the packed weights; and the ``tag`` of the operation.
    """
    return data.StructLayout({
        "sums": data.ArrayLayout(signed(32), lanes),
        "beat": range(2 * outputs // lanes),
        "tag": tag_bits,
    })
