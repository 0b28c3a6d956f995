"""What lies in a board's flash memory behind the bitstream, or on its SD card."""

import struct
import zlib
from collections.abc import Sequence
from dataclasses import dataclass

from kiwicha.contract import cfu
from kiwicha.contract.configs import Config
from kiwicha.contract.flash import (
    FLASH_BYTES,
    FLASH_IMAGE_OFFSET,
    FLASH_MAGIC,
    FLASH_MOST_RECORDS,
    FLASH_NO_START,
    FLASH_VERSION,
    FlashHeader,
    FlashRecord,
)
from kiwicha.contract.sdcard import SDCARD_BLOCK_BYTES, SDCARD_IMAGE_BYTES
from kiwicha.errors import CapacityError
from kiwicha.firmware.build import Image
from kiwicha.program.image import Program
from kiwicha.sim.soc.run_memory import run_memory

__all__ = [
    "FLASH_PLACE",
    "SDCARD_PLACE",
    "Place",
    "application_image",
    "flash_image",
    "program_image",
]

_WORD_BYTES = 4
_CRC_BYTES = 4


@dataclass(frozen=True)
class Place:
    """Where an image can be.

    Parameters
    ----------
    title : str
        In messages.
    space_bytes : int
        How large an image can be.
    unit_bytes : int
        It is filled up to a multiple of these.
    """

    title: str
    space_bytes: int
    unit_bytes: int


FLASH_PLACE = Place(
    "flash memory behind the bitstream", FLASH_BYTES - FLASH_IMAGE_OFFSET, _WORD_BYTES
)
SDCARD_PLACE = Place("an SD card", SDCARD_IMAGE_BYTES, SDCARD_BLOCK_BYTES)


def flash_image(
    config: Config,
    loads: Sequence[tuple[int, bytes]],
    *,
    start: int | None = None,
    place: Place = FLASH_PLACE,
) -> bytes:
    """Return what the loader copies to memory at power-up.

    Parameters
    ----------
    config : Config
        Of the bitstream before it.
    loads : sequence of (int, bytes)
        Addresses and contents of memory; those without contents are left out.
    start : int or None
        Where the CPU then begins; else the loader waits for a host.
    place : Place
        Where it will be.

    Raises
    ------
    CapacityError
        If there are too many pieces or too many bytes.
    """
    pieces = [(address, raw) for address, raw in loads if raw]
    if not 1 <= len(pieces) <= FLASH_MOST_RECORDS:
        raise CapacityError(
            f"pieces of memory must be 1 to {FLASH_MOST_RECORDS}, not {len(pieces)} ({place.title})"
        )
    offset = FlashHeader.size_bytes() + len(pieces) * FlashRecord.size_bytes()
    records, contents = bytearray(), bytearray()
    for address, raw in pieces:
        at = offset + len(contents)
        records += FlashRecord(at, address, len(raw), zlib.crc32(raw)).pack()
        contents += raw + bytes(-len(raw) % _WORD_BYTES)
    total = offset + len(contents)
    if total > place.space_bytes:
        raise CapacityError(
            f"what {place.title} holds must have at most {place.space_bytes} bytes, not {total};"
            " leave the weights to the serial line"
        )
    contents += bytes(-total % place.unit_bytes)
    begin = FLASH_NO_START if start is None else start
    fields = FlashHeader(FLASH_MAGIC, FLASH_VERSION, config.hash, begin, len(pieces), 0).pack()
    covered = fields[:-_CRC_BYTES] + bytes(records)
    return fields[:-_CRC_BYTES] + struct.pack("<I", zlib.crc32(covered)) + records + contents


def program_image(
    program: Program, firmware: Image, *, dram_bytes: int, place: Place = FLASH_PLACE
) -> bytes:
    """Return a Program and its firmware, for a host that then sends inputs alone.

    Parameters
    ----------
    program : Program
        A model that was compiled for the board.
    firmware : Image
        What runs it.
    dram_bytes : int
        What Programs may use of the board's memory.
    place : Place
        Where it will be.

    Raises
    ------
    CapacityError
        If the place or DRAM is too small.
    """
    inputs = [bytes(item.ref.bytes) for item in program.inputs]
    memory = run_memory(program, inputs, inferences=1, dram_bytes=dram_bytes)
    # Boot block and inputs are the host's, and other ones for each run.
    stored = [(address, raw) for address, raw in memory.loads if raw == program.to_bytes()]
    firmware_at = cfu.DRAM_BASE + dram_bytes - cfu.ONCHIP_BYTES
    return flash_image(program.config, [*stored, (firmware_at, firmware.raw)], place=place)


def application_image(config: Config, application: bytes, *, place: Place = FLASH_PLACE) -> bytes:
    """Return an application of the SDK, which starts at power-up.

    Parameters
    ----------
    config : Config
        What it is built for.
    application : bytes
        Its ``application.bin``.
    place : Place
        Where it will be.

    Raises
    ------
    CapacityError
        If the place is too small.
    """
    load = cfu.IMAGE_ADDRESS, application
    return flash_image(config, [load], start=cfu.IMAGE_ADDRESS, place=place)
