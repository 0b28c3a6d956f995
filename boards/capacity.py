"""What the FPGAs of the boards have, and what the system leaves of it to the CFU."""

from collections.abc import Mapping

from kiwicha.boards.family import Family
from kiwicha.isa import Config
from kiwicha.isa_engine import PACKED_MACS

__all__ = ["CAPACITY", "XC7_SYSTEM", "refusal"]

_ECP5_85F = {"LUT": 83_640, "FF": 83_640, "BRAM": 208, "DSP": 156}

CAPACITY: Mapping[str, Mapping[str, float]] = {
    "arty_a7_35": {"LUT": 20_800, "FF": 41_600, "BRAM36": 50, "DSP48E1": 90},
    "arty_a7_100": {"LUT": 63_400, "FF": 126_800, "BRAM36": 135, "DSP48E1": 240},
    "ecpix5_85f": _ECP5_85F,
    "ulx3s_85f": _ECP5_85F,
}
"""By board and by the names of the resource reports; vendors' data sheets."""

XC7_SYSTEM: Mapping[str, float] = {"LUT": 6_443, "BRAM36": 13, "DSP48E1": 4}
"""Of the system on Arty without its CFU, as counted there beside an engine of ``64``."""


def refusal(family: Family, config: Config) -> str:
    """Return why there is no gateware of a configuration for a family; empty if there is.

    The multipliers of ``128`` do two products each: a DSP48E1 multiplies 25 by 18 bits, a
    MULT18X18D 18 by 18.
    """
    if family is Family.ECP5 and config.engine_macs == PACKED_MACS:
        return f"an ECP5 multiplier does one int8 product, where {config.name} wants two"
    return ""
