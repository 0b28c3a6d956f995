"""The FPGA families that designs are made for."""

import enum

__all__ = ["Family"]


class Family(enum.Enum):
    """FPGA family; the value is that of the resource reports."""

    ECP5 = "ecp5"
    XC7 = "xc7"
