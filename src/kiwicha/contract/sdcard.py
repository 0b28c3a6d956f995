"""The contract of SD cards: the loader reads one as it reads flash memory.

The image of `kiwicha.contract.flash` begins with the card's first block; there is no file system.

Notes
-----
Ref: SD Specifications Part 1, Physical Layer Simplified Specification, version 4.10, sections 6.4.1
(no more than 400 kHz until the card is ready) and 5.3.2 (25 MHz afterwards, in the default mode).
"""

__all__ = ["SDCARD_BLOCK_BYTES", "SDCARD_IMAGE_BYTES", "SDCARD_SPI_HZ", "SDCARD_START_HZ"]

SDCARD_BLOCK_BYTES = 512
SDCARD_IMAGE_BYTES = 256 << 20
"""What an image may have: more than DRAM takes, and less than every card in use holds."""
SDCARD_START_HZ = 400_000
"""Most that its clock may have until it is ready."""
SDCARD_SPI_HZ = 12_500_000
"""Its clock afterwards: half of what cards take, for the answer must come back within half a
period."""
