"""What the model of an SD card is told."""

import enum

__all__ = ["SDCARD_SETTINGS", "CardFault", "CardKind", "card_settings"]

SDCARD_SETTINGS = "sdcard_settings"
"""Name of a memory of the simulated system, which holds `card_settings` alone."""


class CardKind(enum.IntEnum):
    """What is in the slot."""

    NONE = 0
    STANDARD_1 = 1
    """Of standard capacity, and too old for CMD8."""
    STANDARD = 2
    """Of standard capacity: it counts bytes, and a block has as many as CMD16 says."""
    HIGH = 3
    """Of high capacity: it counts blocks."""
    OTHER = 4
    """Not an SD memory card."""


class CardFault(enum.IntEnum):
    """What goes wrong: those up to `ERROR` when a certain block is read."""

    NONE = 0
    CRC_ONCE = 1
    CRC = 2
    SILENT = 3
    """It never sends the block."""
    ERROR = 4
    """It sends an error token."""
    HALF_READ = 5
    """The system was reset while the card was sending a block."""
    VOLTAGE = 6
    """It does not work with that of the board."""
    NEVER_READY = 7


def card_settings(kind: CardKind, fault: CardFault, block: int = 0) -> int:
    """Return the word of `SDCARD_SETTINGS`.

    Parameters
    ----------
    kind : CardKind
        What is there.
    fault : CardFault
        What goes wrong.
    block : int
        Which block a fault of reading is about.
    """
    return int(kind) | int(fault) << 8 | block << 16
