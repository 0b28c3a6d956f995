"""What the parts of the unit for frames of sound pass to each other."""

from amaranth import signed
from amaranth.lib import data

from kiwicha.contract.signal import MOST_HALF_BITS

__all__ = [
    "CIRCLE_BITS",
    "FACTOR",
    "FACTORS",
    "NUMBER",
    "PLACE_BITS",
    "PRODUCTS",
]

PLACE_BITS = MOST_HALF_BITS
"""Of the place of a number in the memory."""
CIRCLE_BITS = MOST_HALF_BITS + 1
"""Of the place of a root of one: the largest transform of real numbers has as many."""
NUMBER = data.StructLayout({"re": signed(16), "im": signed(16)})
"""A complex number."""
FACTOR = signed(17)
"""An int16 or a uint16."""
FACTORS = data.ArrayLayout(FACTOR, 4)
PRODUCTS = data.ArrayLayout(signed(34), 4)
