"""What the FPGAs of the boards have, and what the system leaves of it to the CFU."""

from collections.abc import Mapping

from kiwicha.boards.family import Family
from kiwicha.contract.configs import Config
from kiwicha.contract.engine import has_packed

__all__ = ["BRAM_KBIT", "CAPACITY", "COUNTED", "SYSTEM", "family_of", "refusal"]

_ECP5_85F = {"LUT": 83_640, "FF": 83_640, "BRAM": 208, "DSP": 156}

CAPACITY: Mapping[str, Mapping[str, float]] = {
    "arty_a7_35": {"LUT": 20_800, "FF": 41_600, "BRAM36": 50, "DSP48E1": 90},
    "arty_a7_100": {"LUT": 63_400, "FF": 126_800, "BRAM36": 135, "DSP48E1": 240},
    "ecpix5_85f": _ECP5_85F,
    "ulx3s_85f": _ECP5_85F,
}
"""By board and by the names of the resource reports; vendors' data sheets."""

COUNTED: Mapping[Family, tuple[str, str, str]] = {
    Family.XC7: ("LUT", "DSP48E1", "BRAM36"),
    Family.ECP5: ("LUT", "DSP", "BRAM"),
}
"""Names of LUTs, multipliers and block RAMs in the resource reports of a family."""

BRAM_KBIT: Mapping[Family, int] = {Family.XC7: 36, Family.ECP5: 18}
"""Size of the block RAM that is counted."""

SYSTEM: Mapping[Family, Mapping[str, float]] = {
    Family.XC7: {"LUT": 6_470, "DSP48E1": 4, "BRAM36": 16},
    # That of ULX3S has some 1,700 LUTs less: its DRAM controller is smaller.
    Family.ECP5: {"LUT": 8_606, "DSP": 4, "BRAM": 32},
}
"""Without its CFU, of the system that ``kiwicha build --config 64`` counts on `arty_a7_35` or
`ecpix5_85f`."""


def family_of(board: str) -> Family:
    """Return the family of a board's FPGA, which the names of its resources tell."""
    return next(family for family, names in COUNTED.items() if set(names) <= set(CAPACITY[board]))


def refusal(family: Family, config: Config) -> str:
    """Return why there is no gateware of a configuration for a family; empty if there is.

    The multipliers of ``128`` and ``256`` do two products each: a DSP48E1 multiplies 25 by 18 bits,
    a MULT18X18D 18 by 18.
    """
    if family is Family.ECP5 and has_packed(config.engine_macs):
        return f"an ECP5 multiplier does one int8 product, but {config.name} needs two"
    return ""
