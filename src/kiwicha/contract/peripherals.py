"""What a system can have beside CPU, memory and CFU, if it is asked for."""

import enum

__all__ = ["Peripheral"]


class Peripheral(enum.StrEnum):
    """A part of a system; the value is its name in options and folders."""

    FLASH = "flash"
    """The board's SPI flash memory, from which the loader copies what lies behind the bitstream."""
    SDCARD = "sdcard"
    """The board's slot for SD cards, from which the loader copies likewise."""
    CAMERA = "camera"
    """A camera with a digital video port, whose frames go to DRAM."""
    MICROPHONE = "microphone"
    """A microphone with an I2S port, whose samples go to DRAM."""
