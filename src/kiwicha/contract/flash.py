"""The contract of flash memory: what lies behind the bitstream, for the loader to copy.

The loader reads a `FlashHeader` and its `FlashRecord` at power-up. Each record is a piece of memory
with its CRC-32 (that of zlib). When all are in memory, and no byte has come over the serial line,
the program among them starts, if there is one.
"""

from dataclasses import dataclass

from kiwicha.contract.layout import Struct, u32

__all__ = [
    "FLASH_BYTES",
    "FLASH_IMAGE_OFFSET",
    "FLASH_MAGIC",
    "FLASH_MOST_RECORDS",
    "FLASH_NO_START",
    "FLASH_SPI_HZ",
    "FLASH_VERSION",
    "FlashHeader",
    "FlashRecord",
]

FLASH_MAGIC = int.from_bytes(b"KIWF", "little")
FLASH_VERSION = 1
FLASH_BYTES = 16 << 20
"""What three bytes of address reach."""
FLASH_IMAGE_OFFSET = 4 << 20
"""Where the header lies. Bitstreams of every board are shorter."""
FLASH_MOST_RECORDS = 16
FLASH_NO_START = 0xFFFF_FFFF
"""In place of an address: nothing starts."""
FLASH_SPI_HZ = 12_500_000
"""Clock of the flash memory; LiteX rounds it down to a part of the system's."""


@dataclass(frozen=True)
class FlashHeader(Struct):
    """What lies in flash memory."""

    magic: int = u32("FLASH_MAGIC")
    version: int = u32("FLASH_VERSION")
    config_hash: int = u32("configuration that it is for")
    start_address: int = u32("where the CPU begins, or FLASH_NO_START")
    records: int = u32("how many, 1 to FLASH_MOST_RECORDS")
    crc: int = u32("of the fields before and of all records")


@dataclass(frozen=True)
class FlashRecord(Struct):
    """A piece of memory."""

    offset: int = u32("of its bytes, from the header on; multiple of 4")
    address: int = u32("where it goes")
    bytes: int = u32("how many")
    crc: int = u32("of these")
