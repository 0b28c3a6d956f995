"""What lies in a board's flash memory behind the bitstream."""

import struct
import zlib
from collections.abc import Sequence

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
from kiwicha.errors import CapacityError
from kiwicha.firmware.build import Image
from kiwicha.program.image import Program
from kiwicha.sim.soc.run_memory import run_memory

__all__ = ["application_image", "flash_image", "program_image"]

_WORD_BYTES = 4
_CRC_BYTES = 4


def flash_image(
    config: Config, loads: Sequence[tuple[int, bytes]], *, start: int | None = None
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

    Raises
    ------
    CapacityError
        If flash memory is too small.
    """
    pieces = [(address, raw) for address, raw in loads if raw]
    if not 1 <= len(pieces) <= FLASH_MOST_RECORDS:
        raise CapacityError(
            f"pieces of memory must be 1 to {FLASH_MOST_RECORDS}, not {len(pieces)} (flash memory)"
        )
    offset = FlashHeader.size_bytes() + len(pieces) * FlashRecord.size_bytes()
    records, contents = bytearray(), bytearray()
    for address, raw in pieces:
        at = offset + len(contents)
        records += FlashRecord(at, address, len(raw), zlib.crc32(raw)).pack()
        contents += raw + bytes(-len(raw) % _WORD_BYTES)
    total, space = offset + len(contents), FLASH_BYTES - FLASH_IMAGE_OFFSET
    if total > space:
        raise CapacityError(
            f"what flash memory holds behind the bitstream must have at most {space} bytes, not "
            f"{total}; leave the weights to the serial line"
        )
    begin = FLASH_NO_START if start is None else start
    fields = FlashHeader(FLASH_MAGIC, FLASH_VERSION, config.hash, begin, len(pieces), 0).pack()
    covered = fields[:-_CRC_BYTES] + bytes(records)
    return fields[:-_CRC_BYTES] + struct.pack("<I", zlib.crc32(covered)) + records + contents


def program_image(program: Program, firmware: Image, *, dram_bytes: int) -> bytes:
    """Return a Program and its firmware, for a host that then sends inputs alone.

    Parameters
    ----------
    program : Program
        A model that was compiled for the board.
    firmware : Image
        What runs it.
    dram_bytes : int
        What Programs may use of the board's memory.

    Raises
    ------
    CapacityError
        If flash memory or DRAM is too small.
    """
    inputs = [bytes(item.ref.bytes) for item in program.inputs]
    memory = run_memory(program, inputs, inferences=1, dram_bytes=dram_bytes)
    # Boot block and inputs are the host's, and other ones for each run.
    stored = [(address, raw) for address, raw in memory.loads if raw == program.to_bytes()]
    firmware_at = cfu.DRAM_BASE + dram_bytes - cfu.ONCHIP_BYTES
    return flash_image(program.config, [*stored, (firmware_at, firmware.raw)])


def application_image(config: Config, application: bytes) -> bytes:
    """Return an application of the SDK, which starts at power-up.

    Parameters
    ----------
    config : Config
        What it is built for.
    application : bytes
        Its ``application.bin``.

    Raises
    ------
    CapacityError
        If flash memory is too small.
    """
    return flash_image(config, [(cfu.IMAGE_ADDRESS, application)], start=cfu.IMAGE_ADDRESS)
