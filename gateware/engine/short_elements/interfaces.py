"""What passes between the parts that compute with int16 number by number."""

from amaranth import signed, unsigned
from amaranth.lib import data

from kiwicha.contract.short_elements import ELEMENT_LANES
from kiwicha.gateware.engine.descriptors import ADDRESS_BITS

__all__ = ["NUMBERS", "SCALE", "SHORT_BITS", "SHORT_READ", "WORDS"]

SHORT_BITS = 16
NUMBERS = data.ArrayLayout(signed(SHORT_BITS), ELEMENT_LANES)
"""A beat of int16."""
WORDS = data.ArrayLayout(signed(32), ELEMENT_LANES)
"""What the requantizer's passes take and give of it."""
SCALE = data.StructLayout({"multiplier": unsigned(31), "left": 5, "right": 5})
"""As the fields of that name in `kiwicha.gateware.engine.requantize.interfaces.PARAMETERS`."""
SHORT_READ = data.StructLayout({
    "completes": 1,
    "begins": 1,
    "ends": 1,
    "is_last": 1,
    "place": ADDRESS_BITS,
})
"""A read: it completes numbers, the first ones that a beat has, or the last ones; the beat is the
job's last one, and its results go to ``place``."""
